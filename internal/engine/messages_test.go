package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bmad-mcp/internal/engine"
	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/workflow"
)

func TestPromptOfTheNextStageIsCheckedBeforeTheGateOpens(t *testing.T) {
	for name, text := range map[string]string{"it is empty": " ", "it is not valid UTF-8": "\xff\xfe"} {
		b := newBench(t)
		b.to(workflow.PO, workflow.AwaitingConfirmation)
		folder := filepath.Join(b.dir, ".claude", "bmad-prompts")
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "architect.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before := b.snapshot()
		if _, err := b.try(confirm(true)); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), name) || b.snapshot() != before {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJSONWithoutADocumentIsNoSubmission(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	for _, text := range []string{"{}", "[]", "null", "42", `{"foo":1}`, "```json\n{\"foo\": 1}\n```", `"text"`} {
		if _, err := b.try(submit(workflow.PO, text)); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "has no document in it") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestPlaceholderIsNoAnswer(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.Clarifying)
	if _, err := b.try(engine.Request{Action: workflow.ActionAnswer, Answers: map[string]string{"q1": "…"}}); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("got %v", err)
	}
}

func TestRoundWithoutFeedbackAsksForIt(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	r := b.at("po/refining", confirm(false))
	if !r.RequiresUserConfirmation || r.PendingUserActions[0] != "say_what_to_change" || !strings.Contains(r.UserMessage, "nothing was said yet") {
		t.Errorf("%+v\n%s", r.PendingUserActions, r.UserMessage)
	}
}

func TestManyRoundsBelowTheGateAreSaid(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	for n := 1; n <= 6; n++ {
		r := b.at("po/refining", submit(workflow.PO, "# D\nQuality Score: 50"))
		if said := strings.Contains(r.UserMessage, "rounds have not reached the gate"); said != (n >= 5) {
			t.Errorf("round %d: %v\n%s", n, said, r.UserMessage)
		}
	}
}

func TestRowsBesideTheReportAreInTheArtifact(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.Generating)
	b.do(submit(workflow.Review, `{"review":"# R","verdict":"pass_with_risk","findings":[{"id":"R7","severity":"major","file":"a.go:1","problem":"slow | late"}]}`))
	if doc := b.artifact("build-a-thing", "04-dev-reviewed.md"); !strings.Contains(doc, `| R7 | major | a.go:1 | slow \| late |  | open |`) {
		t.Errorf("review:\n%s", doc)
	}
	b.do(submit(workflow.QA, `{"qa_report":"# Q\n\nAC-1 is fine","verdict":"pass","criteria":[{"id":"AC-1","result":"pass"}]}`))
	if doc := b.artifact("build-a-thing", "05-qa-report.md"); strings.Contains(doc, "## Criteria") {
		t.Errorf("rows that the text has are repeated:\n%s", doc)
	}
}

func TestMissingArtifactIsSaid(t *testing.T) {
	b := newBench(t)
	b.to(workflow.QA, workflow.Completed)
	if err := os.Remove(filepath.Join(b.dir, ".claude", "specs", "build-a-thing", "01-product-requirements.md")); err != nil {
		t.Fatal(err)
	}
	r := b.do(engine.Request{Action: workflow.ActionStatus})
	if !r.Stages[0].Missing || r.Stages[1].Missing || !strings.Contains(r.UserMessage, "missing on disk") {
		t.Errorf("%+v\n%s", r.Stages, r.UserMessage)
	}
}

func TestEditedArtifactIsKept(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.Generating)
	file := filepath.Join(b.dir, ".claude", "specs", "build-a-thing", "01-product-requirements.md")
	if err := os.WriteFile(file, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(engine.Request{Action: workflow.ActionReopen, Stage: "po", Feedback: "again"})
	b.do(submit(workflow.PO, `{"prd_updated":"# new","quality_score":95}`))
	r := b.do(confirm(true))
	if !strings.Contains(r.UserMessage, "Your edited version is kept as `.claude/specs/build-a-thing/01-product-requirements.edited-") {
		t.Errorf("message:\n%s", r.UserMessage)
	}
}

func TestRepeatedSprintIsPointedOut(t *testing.T) {
	b := newBench(t)
	b.to(workflow.SM, workflow.Generating)
	r := b.at("sm/awaiting_approval", submit(workflow.SM, "## Sprint 1: a\n## Sprint 1: b"))
	if len(r.Sprints) != 1 || !slices.ContainsFunc(r.Gaps, func(g string) bool { return strings.Contains(g, "two headings") }) || !strings.Contains(r.UserMessage, "two headings") {
		t.Errorf("%q\n%s", r.Gaps, r.UserMessage)
	}
}

func TestUnreadableVerdictIsNamed(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.Generating)
	if _, err := b.try(submit(workflow.Review, `{"review":"r","verdict":"maybe"}`)); err == nil || !strings.Contains(err.Error(), `the verdict "maybe" is none of`) {
		t.Errorf("got %v", err)
	}
}
