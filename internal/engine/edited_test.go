package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func byPath(stage workflow.StageID, path string) engine.Request {
	req := submit(stage, "")
	req.Results = []engine.Result{{Engine: workflow.Claude, Path: path}}
	return req
}

// TestEditedDraftIsSubmittedAgain edits a draft at its gate: it is not saved, and
// goes through by being submitted again from its path.
func TestEditedDraftIsSubmittedAgain(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	draft := b.draft(workflow.PO)
	b.write(draft, "# P as the human wants it\n\nQuality Score: 92/100\n")
	before := b.snapshot()

	_, err := b.try(confirm(true))
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.Conflict || f.NextCall["action"] != workflow.ActionSubmit || f.NextCall["claude_result_path"] != draft {
		t.Fatalf("confirm gives %v, %+v", err, f)
	}
	shown := b.do(engine.Request{Action: workflow.ActionStatus})
	if !shown.Draft.Modified || shown.NextCall["claude_result_path"] != draft || !strings.Contains(shown.UserMessage, "submit my edit") || !shown.RequiresUserConfirmation {
		t.Errorf("status gives %+v\n%s", shown.Draft, shown.UserMessage)
	}
	for name, req := range map[string]engine.Request{
		"another text": submit(workflow.PO, "# Other\nQuality Score: 99/100"),
		"another file": byPath(workflow.PO, ".bmad-task/session-"+b.session+".json"),
	} {
		if _, err := b.try(req); !fault.Is(err, fault.GatePending) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b.snapshot() != before {
		t.Error("a refused call changed the disk")
	}

	r := b.at("po/awaiting_confirmation", byPath(workflow.PO, filepath.Join(b.dir, draft)))
	if *r.Score != 92 || r.Draft.Modified {
		t.Errorf("again: %v, %+v", *r.Score, r.Draft)
	}
	h := b.stored().History
	if e := h[len(h)-2]; e.Event != workflow.EventChangesRequested || e.To != "po/refining" || h[len(h)-1].Event != workflow.EventScoredReady {
		t.Errorf("the history has %+v", h[len(h)-2:])
	}
	b.at("architect/generating", confirm(true))
	if doc := b.artifact("build-a-thing", "01-product-requirements.md"); !strings.Contains(doc, "as the human wants it") {
		t.Errorf("saved %q", doc)
	}
}

func TestEditedDraftWithoutScoreGoesIntoAnotherRound(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	draft := b.draft(workflow.PO)
	b.write(draft, "# P without a word on its worth\n")
	b.at("po/refining", byPath(workflow.PO, draft))
}

func TestEditedPlanIsSubmittedAgain(t *testing.T) {
	b := newBench(t)
	b.to(workflow.SM, workflow.AwaitingApproval)
	draft := b.draft(workflow.SM)
	b.write(draft, "# S\n## Sprint 1: only this\n")
	if _, err := b.try(approve(true, "")); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
	if r := b.at("sm/awaiting_approval", byPath(workflow.SM, draft)); len(r.Sprints) != 1 {
		t.Errorf("sprints %+v", r.Sprints)
	}
	b.at("dev/generating", approve(true, ""))
}

// TestEditedVerdictOpensNothing turns the report of failed work into a pass.
func TestEditedVerdictOpensNothing(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.AwaitingApproval)
	draft := b.draft(workflow.Review)
	b.write(draft, "# R\nStatus: pass\n")
	before := b.snapshot()
	if _, err := b.try(approve(true, "")); !fault.Is(err, fault.Conflict) {
		t.Errorf("approve gives %v", err)
	}
	if _, err := b.try(byPath(workflow.Review, draft)); !fault.Is(err, fault.GatePending) {
		t.Errorf("submit gives %v", err)
	}
	if b.snapshot() != before {
		t.Error("the disk changed")
	}
	b.at("dev/refining", approve(false, "mend it"))
}

func TestEditedArtifactIsShownAndWorkedFrom(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.Generating)
	name := b.stored().Record(workflow.PO).Artifact.Path
	b.write(name, "# P, corrected after the gate\n")
	shown := b.do(engine.Request{Action: workflow.ActionStatus})
	if po := shown.Stages[0]; !po.Modified || po.Missing {
		t.Errorf("status shows %+v", po)
	}
	doc := b.do(engine.Request{Action: workflow.ActionResume}).Context.Documents[0]
	if doc.Path != name || !doc.Modified || doc.Size != int64(len("# P, corrected after the gate\n")) {
		t.Errorf("the architect works from %+v", doc)
	}
	if err := os.Remove(filepath.Join(b.dir, name)); err != nil {
		t.Fatal(err)
	}
	if po := b.do(engine.Request{Action: workflow.ActionStatus}).Stages[0]; po.Modified || !po.Missing {
		t.Errorf("status shows %+v", po)
	}
}

// TestStaleDocumentSatisfiesNoGate submits after a reopen what stood there before it.
func TestStaleDocumentSatisfiesNoGate(t *testing.T) {
	b := newBench(t)
	b.to(workflow.QA, workflow.Completed)
	b.at("po/refining", engine.Request{Action: workflow.ActionReopen, Stage: "po", Feedback: "scope grew"})
	b.at("po/awaiting_confirmation", submit(workflow.PO, `{"prd_updated":"# P2","quality_score":96}`))
	begun := b.at("architect/generating", confirm(true))
	if !begun.Draft.Stale || !strings.Contains(begun.UserMessage, "out of date") {
		t.Errorf("architect begins with %+v\n%s", begun.Draft, begun.UserMessage)
	}
	before := b.snapshot()
	rec := b.stored().Record(workflow.Architect)
	for _, path := range []string{rec.Artifact.Path, rec.FinalResultRef.FilePath, filepath.Join(b.dir, rec.Artifact.Path)} {
		if _, err := b.try(byPath(workflow.Architect, path)); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "before an earlier stage was reopened") || b.snapshot() != before {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := b.try(confirm(true)); err == nil {
		t.Error("the gate opened without a submission")
	}
	same := b.at("architect/awaiting_confirmation", submit(workflow.Architect, `{"architecture_draft":"# A","quality_score":95}`))
	if !strings.Contains(same.UserMessage, "word for word") {
		t.Errorf("the human is not told that nothing changed:\n%s", same.UserMessage)
	}
	b.at("architect/refining", confirm(false))
	// Worked over in place by a person, it is a new document.
	b.write(rec.Artifact.Path, "# A with the change worked in\n\nQuality Score: 94/100\n")
	if again := b.at("architect/awaiting_confirmation", byPath(workflow.Architect, rec.Artifact.Path)); strings.Contains(again.UserMessage, "word for word") {
		t.Errorf("the human is told:\n%s", again.UserMessage)
	}
	b.at("sm/generating", confirm(true))
}

// TestDraftAtTheGateIsWhatWasSubmitted also where people had edited the artifact of an
// earlier round, which that round started from.
func TestDraftAtTheGateIsWhatWasSubmitted(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.Generating)
	saved := b.stored().Record(workflow.PO).Artifact.Path
	b.write(saved, "# P, corrected after the gate\n")
	begun := b.at("po/refining", engine.Request{Action: workflow.ActionReopen, Stage: "po", Feedback: "more"})
	if text, err := os.ReadFile(filepath.Join(b.dir, begun.Draft.Path)); begun.Draft.Path != b.draft(workflow.PO) || !begun.Draft.Modified || string(text) != "# P, corrected after the gate\n" {
		t.Errorf("the round starts from %+v: %q, %v", begun.Draft, text, err)
	}
	for place, text := range map[string]string{"po/refining": "# P2\nQuality Score: 60/100", "po/awaiting_confirmation": "# P3\nQuality Score: 96/100"} {
		b := newBench(t)
		b.to(workflow.Architect, workflow.Generating)
		b.write(saved, "# P, corrected after the gate\n")
		b.do(engine.Request{Action: workflow.ActionReopen, Stage: "po"})
		r := b.at(place, submit(workflow.PO, text))
		if want := b.draft(workflow.PO); r.Draft.Path != want || r.Draft.Modified {
			t.Errorf("at %s the draft is %+v, want %s", place, r.Draft, want)
		}
	}
}
