package learn

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

func TestDecided(t *testing.T) {
	for i, c := range []struct{ document, want string }{
		{"# A\n\n## Decisions\n- one\n- two\n  goes on\n- three\n  - and why\n", "[one two goes on three - and why]"},
		{"# A\n\n**Decisions**\n1. one\n2. two\n", "[one two]"},
		{"# A\n\n## 4. Key decisions (ADRs)\n\n### ADR-1: Use SQLite\n\nIt is enough.\n\n#### Decision\nOne file.\n\n## 5. Risks\n- no\n", "[ADR-1: Use SQLite It is enough. One file.]"},
		{"# 架构\n\n## 关键决策\n- 使用 PostgreSQL\n- 时间用 UTC\n", "[使用 PostgreSQL 时间用 UTC]"},
		{"# A\n## Decisions\n```\n- code\n```\n| What | Why |\n|---|---|\n| a | b |\n", "[a — b]"},
		{"# Decisions\n- the title is not a section\n", "[]"},
		{"# A\n## Decisions\n", "[]"},
		{"", "[]"},
	} {
		if got := fmt.Sprint(readDecisions(c.document)); got != c.want {
			t.Errorf("%d: got %s, want %s", i, got, c.want)
		}
	}
}

// session returns a run of the built-in workflow at a stage.
func session(stage workflow.StageID) *standing.Standing {
	w := workflowtest.Six()
	s := w.NewSession("id", "Build a relay", "/p", "test", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	s.CurrentStage = stage
	st, _ := w.Stage(stage)
	return &standing.Standing{Session: s, Workflow: w, Settings: w, Stage: st}
}

func TestCategory(t *testing.T) {
	failed := &workflow.Evidence{ExitCode: 1}
	missing := &workflow.Audit{Findings: []workflow.AuditFinding{{ID: "NO-DATA", Severity: "critical"}}}
	for _, c := range []struct {
		name     string
		stage    workflow.StageID
		record   workflow.Record
		dev      *workflow.Evidence
		finding  workflow.Finding
		feedback string
		want     string
	}{
		{name: "evidence of the stage", stage: workflow.QA, record: workflow.Record{Evidence: failed, Objections: []string{"x"}}, want: lesson.CCFail},
		{name: "evidence of the work", stage: workflow.Review, dev: failed, finding: workflow.Finding{ID: "F1"}, want: lesson.CCFail},
		{name: "evidence that did not run", stage: workflow.Review, dev: &workflow.Evidence{ExitCode: 1, NotRun: "not allowed"}, want: lesson.WrongAssumption},
		{name: "a contradicted pass", stage: workflow.Review, record: workflow.Record{Verdict: workflow.Pass, Objections: []string{"the evidence failed"}}, want: lesson.Hallucination},
		{name: "the architect's round", stage: workflow.Architect, record: workflow.Record{Audit: missing}, want: lesson.ArchMistake},
		{name: "a finding against the architecture", stage: workflow.Review, finding: workflow.Finding{ID: "F1", File: ".claude/specs/relay/02-system-architecture.md:4"}, want: lesson.ArchMistake},
		{name: "missing sections", stage: workflow.PO, record: workflow.Record{Audit: missing}, want: lesson.ProcessSkip},
		{name: "a finding in a report that lacks sections", stage: workflow.Review, record: workflow.Record{Audit: missing}, finding: workflow.Finding{ID: "F1"}, want: lesson.WrongAssumption},
		{name: "an answer said again", stage: workflow.SM, feedback: "As I said: only the billing team sends them!", want: lesson.ContextLoss},
		{name: "a short answer said again", stage: workflow.SM, feedback: "yes, all", want: lesson.WrongAssumption},
		{name: "other words", stage: workflow.SM, feedback: "split sprint 2", want: lesson.WrongAssumption},
	} {
		s := session(c.stage)
		rec := s.Session.Record(c.stage)
		*rec = c.record
		s.Session.Record(workflow.Dev).Evidence = c.dev
		s.Session.Record(workflow.PO).Answers = map[string]string{"q1": "Only the billing  team sends them.", "q2": "all"}
		if got := categoryTag(s, s.Stage, rec, c.finding, workflow.Transition{Feedback: c.feedback}); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAsk(t *testing.T) {
	s := session(workflow.Dev)
	s.Session.Sprints = []workflow.Sprint{{Number: 1, Title: "Signatures", Status: workflow.SprintImplemented}, {Number: 2, Title: "Retries", Status: workflow.SprintPending}}
	if q := Ask(s); q.Text != "Build a relay\nRetries" || fmt.Sprint(q.Types) != "[agent-learnings failures decisions]" {
		t.Errorf("a build asks %+v", q)
	}
	s.Session.Current().Iteration, s.Session.Current().Feedback = 1, "hurry"
	s.Session.Record(workflow.QA).Findings = []workflow.Finding{{ID: "1", Problem: "it is slow"}, {ID: "2", Problem: "old", Status: "fixed"}}
	if q := Ask(s); q.Text != "Build a relay\nit is slow\nhurry" {
		t.Errorf("a rework asks %q", q.Text)
	}
	for stage, types := range map[workflow.StageID]string{
		workflow.PO: "[shared-context stories decisions]", workflow.Architect: "[decisions failures]", workflow.SM: "[stories failures]", workflow.Review: "[failures agent-learnings]",
	} {
		if q := Ask(session(stage)); q.Text != "Build a relay" || fmt.Sprint(q.Types) != types {
			t.Errorf("%s asks %+v", stage, q)
		}
	}
}

// TestManyFindings: one round leaves a few notes, and long texts are cut.
func TestManyFindings(t *testing.T) {
	s := session(workflow.Review)
	for i := range 9 {
		s.Session.Current().Findings = append(s.Session.Current().Findings, workflow.Finding{ID: fmt.Sprint(i), Problem: strings.Repeat("é", 900)})
	}
	entry := workflow.Transition{Event: workflow.EventFailed, Action: workflow.ActionSubmit, From: "review/generating"}
	lessons := Of(s, []workflow.Transition{entry, {Event: workflow.EventPolicyChanged}, {Event: workflow.EventFailed, From: "gone/refining"}}, nil)
	if len(lessons) != maxFindings {
		t.Fatalf("%d lessons", len(lessons))
	}
	if text := lessons[0].Text; len(text) > maxLesson || !utf8.ValidString(text) || !strings.HasSuffix(text, "é…") {
		t.Errorf("%d bytes: …%q", len(text), text[len(text)-9:])
	}
}
