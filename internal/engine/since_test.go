package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// approvedOnce has a document approved that names files, and the stage reopened.
func approvedOnce(b *bench) {
	b.t.Helper()
	for name, text := range map[string]string{"store/a.go": "package store\n", "b.txt": "b\n", "a name\nof two lines": "c\n", "\u202ed.txt": "d\n", ".git/e": "e\n", "big.bin": strings.Repeat("x", 2<<20)} {
		put(b.t, filepath.Join(b.dir, filepath.FromSlash(name)), text)
	}
	b.do(start("build a thing"))
	b.at("po/awaiting_confirmation", requirements("## 1. Goal\n\nShip it soon.\n\n## 2. Store\n\nSee `store/a.go:12`, b.txt, new.go, big.bin, ../out and /etc/passwd, `a name\nof two lines`, \u202ed.txt or .git/e.\n"))
	b.do(confirm(true))
	b.at("po/refining", request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "shorter"}})
}

func requirements(text string) request.Request {
	data, _ := json.Marshal(map[string]any{"prd_draft": text, "quality_score": 95})
	return submit(workflow.PO, string(data))
}

func sinceJSON(t *testing.T, r *reply.Reply) string {
	t.Helper()
	for i := range r.Since {
		r.Since[i].At = r.Since[i].At.Truncate(0)
	}
	data, err := json.Marshal(r.Since)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSinceApproval checks the gate of a document that was approved before: it names the sections that differ from the
// approved text, also after further rounds, and the named files that have changed.
func TestSinceApproval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	approvedOnce(b)
	named := b.stored().History[len(b.stored().History)-2].Named
	if len(named) != 2 || named["store/a.go"] == "" || named["b.txt"] == "" {
		t.Errorf("the yes has the named files %v, want store/a.go and b.txt", named)
	}
	first := b.do(requirements("## 1. Goal\n\nShip it today.\n\n## 2. Store\n\nSee `store/a.go`.\n"))
	says(t, first, "**2 sections changed since your approval at round 1: 1. Goal, 2. Store. 1 word added, 22 removed.**")
	if strings.Contains(first.UserMessage, "Changed since round 1") || strings.Contains(first.UserMessage, "The code moved on") {
		t.Errorf("the message says too much:\n%s", first.UserMessage)
	}
	b.do(confirm(false))
	put(t, filepath.Join(b.dir, "store", "a.go"), "package other\n")
	if err := os.Remove(filepath.Join(b.dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	second := b.do(requirements("## 1. Goal\n\nShip it soon.\n\n## 2. Files\n\nSee `store/a.go:12`, b.txt, new.go, big.bin, ../out and /etc/passwd, `a name\nof two lines`, \u202ed.txt or .git/e.\n\n## 3. Costs\n\nNone.\n"))
	says(t, second, "**2 sections changed since your approval at round 1: 2. Files (was 2. Store), 3. Costs (new).", "Changed since round 2: ",
		"The code moved on since round 1 of the product requirements was approved: b.txt is gone (named in 2. Files), store/a.go (named in 2. Files).")
	for _, want := range []string{`"stage":"po","round":1,`, `{"change":"changed","title":"2. Files","was":"2. Store","words_added":1,"words_removed":1}`, `{"change":"added","title":"3. Costs"`,
		`"files":[{"path":"b.txt","gone":true,"sections":["2. Files"]},{"path":"store/a.go","sections":["2. Files"]}]`} {
		if got := sinceJSON(t, second); !strings.Contains(got, want) {
			t.Errorf("the reply lacks %s:\n%s", want, got)
		}
	}
	status := b.do(request.Request{Action: workflow.ActionStatus})
	says(t, status, "2 sections changed since your approval at round 1", "The code moved on")
	if n := strings.Count(status.UserMessage, "since your approval"); n != 1 {
		t.Errorf("the status says it %d times:\n%s", n, status.UserMessage)
	}
}

// TestSinceUnknown checks that a lost or changed approved text is named as such, and blocks nothing.
func TestSinceUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	approvedOnce(b)
	var path string
	for _, e := range b.stored().History {
		if e.Event == workflow.EventConfirmed {
			path = e.Path
		}
	}
	put(t, filepath.Join(b.dir, filepath.FromSlash(path)), "other\n")
	says(t, b.do(requirements("## 1. Goal\n\nNow.\n")), "**What changed since your approval at round 1 is unknown: the text of that time was changed, or is gone.**")
	b.at("architect/generating", confirm(true))
}

// TestSinceEdited checks that a saved document edited by people is compared in the status, with the code that it names,
// until the work begins that changes the code.
func TestSinceEdited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	put(t, filepath.Join(b.dir, "a.go"), "package a\n")
	b.do(start("build a thing"))
	b.do(requirements("## 1. Goal\n\nShip a.go soon.\n\n## 2. More\n\nSee data.go, too.\n"))
	b.at("architect/generating", confirm(true))
	saved := b.stored().Record(workflow.PO).Artifact.Path
	text, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(saved)))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(b.dir, filepath.FromSlash(saved)), strings.Replace(string(text), "soon", "never", 1))
	put(t, filepath.Join(b.dir, "a.go"), "package b\n")
	status := b.do(request.Request{Action: workflow.ActionStatus})
	says(t, status, "product requirements: 1 section changed since your approval at round 1: 1. Goal. 1 word added, 1 removed.",
		"The code moved on since round 1 of the product requirements was approved: a.go (named in 1. Goal).")
	b.onTo(workflow.Dev, workflow.Generating)
	if status := b.do(request.Request{Action: workflow.ActionStatus}); strings.Contains(status.UserMessage, "The code moved on") {
		t.Errorf("while code is written:\n%s", status.UserMessage)
	}
}

func says(t *testing.T, r *reply.Reply, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(r.UserMessage, part) {
			t.Errorf("the message lacks %q:\n%s", part, r.UserMessage)
		}
	}
}
