package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func status(view string) request.Request {
	return request.Request{Action: workflow.ActionStatus, Status: request.Status{View: view}}
}

// TestViews reads each view whole by itself, and within bounds in a reply.
func TestViews(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.Generating)
	req := request.Request{Address: project.Address{Cwd: b.dir, Session: b.session}}
	for _, c := range []struct{ view, name, mime, words string }{
		{"sessions", "sessions", "application/json", b.session},
		{"session", "session", "application/json", `"current_stage": "architect"`},
		{"history", "history", "application/json", `"waited_seconds"`},
		{"workflow", "workflow", "text/markdown", "stateDiagram-v2"},
		{"po", "01-product-requirements.md", "text/markdown", "# "},
		{"01-product-requirements.md", "01-product-requirements.md", "text/markdown", "# "},
	} {
		res, _, err := b.engine.Resource(ctx, req.Address, c.view)
		if err != nil || res.Name != c.name || res.MIMEType != c.mime || !strings.Contains(res.Text, c.words) || res.Size != int64(len(res.Text)) || res.Truncated {
			t.Errorf("%s: %+.200v, %v", c.view, res, err)
		}
		if c.mime == "application/json" && !json.Valid([]byte(res.Text)) {
			t.Errorf("%s is no JSON", c.view)
		}
		out := b.do(status(c.view))
		data, err := out.Encode()
		if err != nil || len(data) > reply.Max || out.Resource == nil || out.Resource.Name != c.name || out.Resource.Size != res.Size {
			t.Errorf("%s in a reply of %d bytes: %+.200v", c.view, len(data), out.Resource)
			continue
		}
		if !out.Resource.Truncated && out.Resource.Text != res.Text {
			t.Errorf("%s: the reply has another text", c.view)
		}
	}
	b.refused(status("qa"), fault.NotFound, `has no "qa"`)
	b.refused(status("../po"), fault.NotFound, `has no "../po"`)
	if err := os.Remove(filepath.Join(b.dir, ".claude/specs", b.do(status("")).TaskName, "01-product-requirements.md")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.engine.Resource(ctx, req.Address, "po"); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "is not there any more") {
		t.Errorf("a resource whose file is gone: %v", err)
	}
	b.refused(status("po"), fault.NotFound, "is not there any more")
}

// TestLongViewsFitAReply cuts a text at a line's end, and a history to its newest entries.
func TestLongViewsFitAReply(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.do(start("Build a clock"))
	long := "# P\n" + strings.Repeat("日本語の行です。 a line of it\n", 1500) + "\nQuality Score: 95/100\n"
	for range 14 {
		b.do(submit(workflow.PO, long))
		b.do(request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: new(bool), Feedback: strings.Repeat("longer, ", 40)}})
	}
	b.do(submit(workflow.PO, long))
	b.do(confirm(true))
	for _, view := range []string{"po", "session"} {
		res := b.do(status(view)).Resource
		if !res.Truncated || !strings.HasSuffix(res.Text, "\n") || res.Path == "" || res.Size < 10_000 {
			t.Errorf("%s: %d of %d bytes, truncated %v, path %q", view, len(res.Text), res.Size, res.Truncated, res.Path)
		}
	}
	res := b.do(status("history")).Resource
	var history struct {
		Entries []workflow.Transition
		Omitted int
	}
	if err := json.Unmarshal([]byte(res.Text), &history); err != nil {
		t.Fatal(err)
	}
	n := len(history.Entries)
	if !res.Truncated || n == 0 || n+history.Omitted != len(b.stored().History) || history.Entries[n-1].Event != workflow.EventConfirmed {
		t.Errorf("%d entries, %d left out of %d", n, history.Omitted, len(b.stored().History))
	}
}

// TestWithin confines an engine to folders, whatever leads out of them.
func TestWithin(t *testing.T) {
	b := newBench(t)
	outside := t.TempDir()
	root := filepath.Join(b.dir, "root")
	for _, dir := range []string{"a", "b"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	// Sessions that a server without bounds has started are known on this machine.
	free := b.do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "Known elsewhere"}, Address: project.Address{Cwd: outside}})
	b.session = ""
	e := engine.New(engine.Options{Names: names, Projects: project.New(project.Options{
		Backend: storetest.At,
		Known:   project.Known{Folder: b.state},
		Within:  []string{root},
	})})
	for _, cwd := range []string{outside, filepath.Join(root, "link"), filepath.Join(root, "..", "elsewhere"), filepath.Dir(root), "/"} {
		_, err := e.Do(ctx, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x"}, Address: project.Address{Cwd: cwd}})
		if !fault.Is(err, fault.NotAllowed) {
			t.Errorf("%s: %v", cwd, err)
		}
		if _, err := e.Do(ctx, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x"}, Address: project.Address{Places: []string{cwd}}}); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s as a place: %v", cwd, err)
		}
	}
	for _, ref := range []string{free.SessionID, free.TaskName} {
		if _, err := e.Do(ctx, request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: ref}}); !fault.Is(err, fault.NotFound) {
			t.Errorf("a session of elsewhere by %s: %v", ref, err)
		}
	}
	if _, _, err := e.Resource(ctx, project.Address{Session: free.SessionID}, engine.ViewSession); !fault.Is(err, fault.NotFound) {
		t.Errorf("a session of elsewhere as a resource: %v", err)
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 { // .bmad-task of the free one
		t.Errorf("outside there is %v, %v", entries, err)
	}
	for _, dir := range []string{"a", "b"} {
		reply, err := e.Do(ctx, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "Within " + dir}, Address: project.Address{Cwd: filepath.Join(root, dir)}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Do(ctx, request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: reply.TaskName}}); err != nil {
			t.Errorf("found by its name: %v", err)
		}
	}
	// Nor does a link lead prompts out of it.
	if err := os.WriteFile(filepath.Join(outside, "po.md"), []byte("---\nstage: po\ntitle: Product Owner\n---\nSECRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "a", ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "a", config.PromptFolder)); err != nil {
		t.Skip(err)
	}
	if reply, err := e.Do(ctx, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x"}, Address: project.Address{Cwd: filepath.Join(root, "a")}}); err == nil {
		t.Errorf("prompts of elsewhere: %s", reply.RolePrompt)
	}
	if got := e.Projects().List(); len(got) != 3 {
		t.Errorf("projects %v, want the root and two in it", got)
	}
}
