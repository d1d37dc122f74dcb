package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// rowsBy returns a QA report with a check that succeeded, whose two rows have an evidence.
func rowsBy(evidence string) request.Request {
	return submit(workflow.QA, fmt.Sprintf("# Q\n```json\n"+`{"checks": [{"id": "C1", "command": "go test ./...", "exit": 0}], "findings": [], "criteria": [`+
		`{"id": "AC-1", "result": "pass", "evidence": "seen, C1"}, {"id": "AC-2", "result": "pass", "evidence": %q}]}`+"\n```\n", evidence))
}

// twoSprints returns a bench at QA, whose plan has a second sprint.
func twoSprints(t *testing.T) *bench {
	b := newBench(t)
	b.to(workflow.SM, workflow.Generating)
	b.do(submit(workflow.SM, "# S\n## Sprint 1: one\n## Sprint 2: two"))
	b.at("dev/generating", approve(true, ""))
	b.toQA(1)
	return b
}

// toQA hands in the work on a sprint and its review.
func (b *bench) toQA(sprint int) {
	dev := submit(workflow.Dev, "# D")
	dev.Sprints = []int{sprint}
	b.at("review/generating", dev)
	b.at("qa/generating", submit(workflow.Review, passes("# R")))
}

// TestEvidenceCanBeLookedUp: a row is taken for a file of the project, an artifact of the run or a
// check, and for nothing else that stands in its evidence.
func TestEvidenceCanBeLookedUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.to(workflow.QA, workflow.Generating)
	b.write("cart/cart.go", "package cart\n\nfunc Add() {}")
	b.write("empty.txt", "")
	for _, evidence := range []string{"cart/cart.go:3", "./cart/cart.go", "empty.txt", b.dir + "/cart/cart.go:1", ".claude/specs/build-a-thing/01-product-requirements.md", "01-product-requirements.md", "see 02-system-architecture.md", "C1"} {
		if b.at("qa/completed", rowsBy(evidence)); b.stored().Record(workflow.QA).Criteria[1].ByWord {
			t.Errorf("%q is not found", evidence)
		}
		b.do(request.Request{Action: workflow.ActionReopen, Stage: "qa"})
	}
	for _, evidence := range []string{"FAIL", "cart/cart.go:4", "cart", "../cart/cart.go", "/etc/passwd", "cart/none.go:1", b.draft(workflow.QA)} {
		r := b.at("qa/refining", rowsBy(evidence))
		if len(r.Returned) != 1 || !strings.Contains(r.Returned[0], "AC-2: ") || strings.Contains(r.Returned[0], "AC-1") {
			t.Errorf("%q: %q", evidence, r.Returned)
		}
		b.at("qa/completed", rowsBy("C1"))
		b.do(request.Request{Action: workflow.ActionReopen, Stage: "qa"})
	}
}

// TestWordsAreAskedAboutOnce: rows by word only are returned once, then the person decides, and
// their yes holds for the rest of the run.
func TestWordsAreAskedAboutOnce(t *testing.T) {
	t.Parallel()
	b := twoSprints(t)
	r := b.at("qa/refining", rowsBy("works as expected"))
	if s := b.stored(); r.Rows != nil || s.Current().Verdict != "" {
		t.Errorf("a returned report has rows: %+v", r.Rows)
	}
	r = b.at("qa/awaiting_approval", rowsBy("I have really seen it"))
	for _, part := range []string{"by word only, with nothing that can be looked up: AC-2", "1 of them by word only"} {
		if !strings.Contains(strings.ToLower(r.UserMessage), strings.ToLower(part)) {
			t.Errorf("the gate does not say %q: %s", part, r.UserMessage)
		}
	}
	if r.Rows == nil || r.Rows.ByWord != 1 {
		t.Errorf("%+v", r.Rows)
	}
	// A no is not a yes: the next round is held as well, and told once more before.
	b.at("qa/refining", approve(false, "look again"))
	b.at("qa/refining", rowsBy("seen"))
	b.at("qa/awaiting_approval", rowsBy("seen"))
	r = b.at("qa/completed", approve(true, ""))
	if !strings.Contains(r.UserMessage, "1 of them by word only") {
		t.Errorf("the last message does not say so: %s", r.UserMessage)
	}
	if text := b.artifact(b.stored().TaskName, "05-qa-report.md"); !strings.Contains(text, "| pass | by word only | seen |") || !strings.Contains(text, "Risk accepted") {
		t.Errorf("the artifact does not say so: %s", text)
	}
	if r = b.do(request.Request{Action: workflow.ActionStatus}); !strings.Contains(r.UserMessage, "2 passed, none of them by a command that the server ran, 1 of them by word only") {
		t.Errorf("the status does not say so: %s", r.UserMessage)
	}
	// The person has said yes to words in this run.
	b.do(request.Request{Action: workflow.ActionReopen, Stage: "dev"})
	b.toQA(2)
	if r = b.at("qa/completed", rowsBy("seen again")); !strings.Contains(r.UserMessage, "1 of them by word only") {
		t.Errorf("%s", r.UserMessage)
	}
}
