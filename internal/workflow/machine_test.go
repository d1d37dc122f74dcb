package workflow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestGraphGolden(t *testing.T) {
	golden.Check(t, "testdata/graph.mmd", workflow.Graph())
}

// TestStateEventMatrix fires every event in every state; each cell of the golden
// file says where it leads, or "-" for refused.
func TestStateEventMatrix(t *testing.T) {
	w := workflowtest.Six()
	var b strings.Builder
	for _, state := range workflow.States() {
		for _, event := range workflow.Events() {
			stage := workflow.Review
			if event == workflow.EventFinished {
				stage = workflow.QA
			}
			s := sessionAt(w, stage, state)
			before := s.Place()
			err := w.Fire(context.Background(), s, workflow.Transition{Event: event, Action: workflow.ActionSubmit, At: at}, workflow.PO)
			cell := "-"
			switch {
			case err == nil:
				cell = s.Place()
				last := s.History[len(s.History)-1]
				if last.From != before || last.To != s.Place() || last.Event != event {
					t.Errorf("%s %s: history says %+v", state, event, last)
				}
			case !fault.Is(err, fault.NotAllowed):
				t.Errorf("%s %s: %v", state, event, err)
			case s.Place() != before || len(s.History) != 1:
				t.Errorf("%s %s: refused, yet changed to %s", state, event, s.Place())
			}
			fmt.Fprintf(&b, "%-22s %-18s %s\n", state, event, cell)
		}
	}
	golden.Check(t, "testdata/matrix.txt", b.String())
}

func sessionAt(w *workflow.Definition, stage workflow.StageID, state workflow.State) *workflow.Session {
	s := w.NewSession("id", "objective", "/p", "test", at)
	for _, st := range w.Stages {
		if st.ID == stage {
			break
		}
		s.Record(st.ID).Status = workflow.Done
	}
	s.CurrentStage, s.CurrentState = stage, state
	s.Current().Status = workflow.InProgress
	return s
}

func TestFireRefusesCancelledContextAndStaysUsable(t *testing.T) {
	w := workflow.Default()
	s := w.NewSession("id", "o", "/p", "test", at)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Fire(ctx, s, workflow.Transition{Event: workflow.EventScoredReady, At: at}, ""); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if s.CurrentState != workflow.Generating || len(s.History) != 1 {
		t.Fatalf("a cancelled fire changed the run: %s", s.Place())
	}
	if err := w.Fire(context.Background(), s, workflow.Transition{Event: workflow.EventScoredReady, At: at}, ""); err != nil {
		t.Fatal(err)
	}
}

func TestSentBackRewindsReviewAndCountsRework(t *testing.T) {
	w := workflow.Default()
	s := sessionAt(w, workflow.QA, workflow.AwaitingApproval)
	s.SetArtifact(w, workflow.Review, workflow.Artifact{Path: "r.md"})
	s.SetArtifact(w, workflow.PO, workflow.Artifact{Path: "p.md"})
	if !slices.Equal(s.Artifacts, []string{"p.md", "r.md"}) {
		t.Errorf("artifacts %v", s.Artifacts)
	}
	if err := w.Fire(context.Background(), s, workflow.Transition{Event: workflow.EventSentBack, At: at}, ""); err != nil {
		t.Fatal(err)
	}
	if s.Place() != "dev/refining" || s.ReworkCount != 1 {
		t.Errorf("at %s with %d reworks", s.Place(), s.ReworkCount)
	}
	if s.Record(workflow.Review).Status != workflow.Pending || !s.Record(workflow.Review).Artifact.Stale {
		t.Errorf("review is %+v", s.Record(workflow.Review))
	}
	if s.Record(workflow.PO).Status != workflow.Done || s.Record(workflow.PO).Artifact.Stale {
		t.Error("po was touched")
	}
}

func ptr(f float64) *float64 { return &f }

func TestOutcome(t *testing.T) {
	w := workflow.Default()
	tests := []struct {
		name  string
		stage workflow.StageID
		first bool
		in    workflow.Reading
		want  workflow.Event
	}{
		{"first with questions, low", workflow.PO, true, workflow.Reading{Claimed: ptr(70), Questions: true}, workflow.EventQuestioned},
		{"first with questions, high", workflow.PO, true, workflow.Reading{Claimed: ptr(95), Questions: true}, workflow.EventQuestioned},
		{"later with questions, high", workflow.PO, false, workflow.Reading{Claimed: ptr(95), Questions: true}, workflow.EventScoredReady},
		{"later with questions, low", workflow.Architect, false, workflow.Reading{Claimed: ptr(89.9), Questions: true}, workflow.EventQuestioned},
		{"gate exactly", workflow.Architect, true, workflow.Reading{Claimed: ptr(90)}, workflow.EventScoredReady},
		{"just below", workflow.PO, false, workflow.Reading{Claimed: ptr(89.99)}, workflow.EventScoredBelow},
		{"no claim", workflow.PO, false, workflow.Reading{}, workflow.EventScoredBelow},
		{"sm", workflow.SM, true, workflow.Reading{Claimed: ptr(10)}, workflow.EventPlanned},
		{"dev", workflow.Dev, true, workflow.Reading{}, workflow.EventDelivered},
		{"review pass", workflow.Review, true, workflow.Reading{Verdict: workflow.Pass}, workflow.EventDelivered},
		{"review risk", workflow.Review, true, workflow.Reading{Verdict: workflow.PassWithRisk}, workflow.EventDelivered},
		{"review fail", workflow.Review, true, workflow.Reading{Verdict: workflow.Fail}, workflow.EventFailed},
		{"review silent", workflow.Review, true, workflow.Reading{}, workflow.EventFailed},
		{"qa pass", workflow.QA, true, workflow.Reading{Verdict: workflow.Pass}, workflow.EventFinished},
		{"qa fail", workflow.QA, true, workflow.Reading{Verdict: workflow.Fail}, workflow.EventFailed},
	}
	for _, tt := range tests {
		st, _ := w.Stage(tt.stage)
		if got := w.Outcome(st, tt.first, tt.in); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestDecision(t *testing.T) {
	w := workflow.Default()
	tests := []struct {
		stage workflow.StageID
		state workflow.State
		yes   bool
		want  workflow.Event
	}{
		{workflow.PO, workflow.AwaitingConfirmation, true, workflow.EventConfirmed},
		{workflow.PO, workflow.AwaitingConfirmation, false, workflow.EventChangesRequested},
		{workflow.SM, workflow.AwaitingApproval, true, workflow.EventApproved},
		{workflow.SM, workflow.AwaitingApproval, false, workflow.EventChangesRequested},
		{workflow.Review, workflow.AwaitingApproval, true, workflow.EventApproved},
		{workflow.Review, workflow.AwaitingApproval, false, workflow.EventSentBack},
		{workflow.QA, workflow.AwaitingApproval, true, workflow.EventFinished},
		{workflow.QA, workflow.AwaitingApproval, false, workflow.EventSentBack},
	}
	for _, tt := range tests {
		s := sessionAt(w, tt.stage, tt.state)
		if s.Current().Verdict = workflow.Fail; tt.stage == workflow.PO || tt.stage == workflow.SM {
			s.Current().Verdict = ""
		}
		if got := w.Decision(s, tt.yes); got != tt.want {
			t.Errorf("%s %s %v: got %s, want %s", tt.stage, tt.state, tt.yes, got, tt.want)
		}
	}
}

// TestNoAsksForTheReportAgain checks that only work that something speaks against goes back to the
// builder.
func TestNoAsksForTheReportAgain(t *testing.T) {
	w := workflow.Default()
	for name, tt := range map[string]struct {
		record workflow.Record
		dev    *workflow.Evidence
		want   workflow.Event
	}{
		"a doubted pass":   {workflow.Record{Verdict: workflow.Pass, Objections: []string{"x"}}, nil, workflow.EventChangesRequested},
		"no verdict":       {workflow.Record{Returned: []string{"x"}}, nil, workflow.EventChangesRequested},
		"a fail":           {workflow.Record{Verdict: workflow.Fail}, nil, workflow.EventSentBack},
		"a failed check":   {workflow.Record{Verdict: workflow.Pass, Checks: []workflow.Check{{ID: "C1", Exit: 2}}}, nil, workflow.EventSentBack},
		"an open finding":  {workflow.Record{Verdict: workflow.PassWithRisk, Findings: []workflow.Finding{{ID: "R1", Severity: "minor"}}}, nil, workflow.EventSentBack},
		"a fixed finding":  {workflow.Record{Verdict: workflow.Pass, Findings: []workflow.Finding{{ID: "R1", Status: "fixed"}}}, nil, workflow.EventChangesRequested},
		"the server's run": {workflow.Record{Verdict: workflow.Pass}, &workflow.Evidence{ExitCode: 1}, workflow.EventSentBack},
	} {
		s := sessionAt(w, workflow.Review, workflow.AwaitingApproval)
		*s.Current() = tt.record
		s.Record(workflow.Dev).Evidence = tt.dev
		if got := w.Decision(s, false); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

// TestBlockedStageIsGoneThroughAgain: the person's answer concerns that stage, not the developer.
func TestBlockedStageIsGoneThroughAgain(t *testing.T) {
	w := workflow.Default()
	st, _ := w.Stage(workflow.QA)
	if got := w.Outcome(st, false, workflow.Reading{Verdict: workflow.Blocked}); got != workflow.EventBlocked {
		t.Errorf("outcome %s", got)
	}
	for _, yes := range []bool{true, false} {
		s := sessionAt(w, workflow.QA, workflow.AwaitingApproval)
		s.Current().Verdict = workflow.Blocked
		if got := w.Decision(s, yes); got != workflow.EventChangesRequested {
			t.Errorf("%v: %s", yes, got)
		}
	}
}

func TestOutcomeOfAScore(t *testing.T) {
	w := workflow.Default()
	st, _ := w.Stage(workflow.PO)
	n := func(f float64) *float64 { return &f }
	for _, tt := range []struct {
		name    string
		scoring workflow.ScoringMode
		r       workflow.Reading
		want    workflow.Event
	}{
		{"claimed alone", workflow.ScoringClaimed, workflow.Reading{Claimed: n(95)}, workflow.EventScoredReady},
		{"audited too", workflow.ScoringAudited, workflow.Reading{Claimed: n(95), Audited: n(90)}, workflow.EventScoredReady},
		{"an audit that does not count", workflow.ScoringClaimed, workflow.Reading{Claimed: n(95), Audited: n(10)}, workflow.EventScoredReady},
		{"inflated", workflow.ScoringAudited, workflow.Reading{Claimed: n(95), Audited: n(89.9)}, workflow.EventScoredBelow},
		{"no audit", workflow.ScoringAudited, workflow.Reading{Claimed: n(95)}, workflow.EventScoredBelow},
		{"audited, nothing claimed", workflow.ScoringAudited, workflow.Reading{Audited: n(100)}, workflow.EventScoredBelow},
		{"exhausted", workflow.ScoringClaimed, workflow.Reading{Claimed: n(80), Exhausted: true}, workflow.EventExhausted},
		{"exhausted, but there", workflow.ScoringClaimed, workflow.Reading{Claimed: n(90), Exhausted: true}, workflow.EventScoredReady},
		{"exhausted, but asks", workflow.ScoringClaimed, workflow.Reading{Claimed: n(80), Exhausted: true, Questions: true}, workflow.EventQuestioned},
	} {
		st.Rules.Scoring = tt.scoring
		if got := w.Outcome(st, false, tt.r); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestEnginesFor(t *testing.T) {
	w := workflow.Default()
	for objective, want := range map[string]int{"build x": 1, "使用codex构建": 2, "Use Codex for x": 2} {
		for _, id := range []workflow.StageID{workflow.PO, workflow.Architect} {
			st, _ := w.Stage(id)
			if got := st.EnginesFor(objective); !slices.Equal(got, []workflow.Engine{workflow.Claude, workflow.Codex}[:want]) {
				t.Errorf("%s for %q: %v", id, objective, got)
			}
		}
	}
	for id, want := range map[workflow.StageID]workflow.Engine{
		workflow.SM: workflow.Claude, workflow.Dev: workflow.Codex, workflow.Review: workflow.Codex, workflow.QA: workflow.Codex,
	} {
		st, _ := w.Stage(id)
		if got := st.EnginesFor("codex"); !slices.Equal(got, []workflow.Engine{want}) {
			t.Errorf("%s: got %v, want %s", id, got, want)
		}
	}
}

func TestUnknownKeysSurviveAtEveryLevel(t *testing.T) {
	in := `{"session_id":"a","current_stage":"po","current_state":"generating","x_top":{"b":1,"a":[1.50,"<&>"]},
	 "stages":{"po":{"status":"in_progress","draft":"inline","questions":[{"id":"q1","question":"?","weight":3}],
	 "artifact":{"path":"p","note":"mine"},"final_result_ref":{"file_path":"f","lang":"zh"}}},
	 "sprints":[{"number":1,"title":"t","owner":"me"}],
	 "history":[{"event":"started","licence":{"k":true}}]}`
	var s workflow.Session
	if err := workflow.Unmarshal([]byte(in), &s); err != nil {
		t.Fatal(err)
	}
	out, err := workflow.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"x_top":{"b":1,"a":[1.50,"<&>"]}`, `"draft":"inline"`, `"weight":3`, `"note":"mine"`,
		`"lang":"zh"`, `"owner":"me"`, `"licence":{"k":true}`,
	} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s is lost from\n%s", want, out)
		}
	}
	var again workflow.Session
	if err := workflow.Unmarshal(out, &again); err != nil {
		t.Fatal(err)
	}
	out2, _ := workflow.Marshal(again)
	if !bytes.Equal(out, out2) {
		t.Error("a second round changes the bytes")
	}
}

func TestSetSprintsKeepsStatusOfUnchangedOnes(t *testing.T) {
	s := &workflow.Session{}
	s.SetSprints(nil, []workflow.Sprint{{Number: 1, Title: "a"}, {Number: 2, Title: "b"}})
	s.MarkSprints([]int{1, 2}, workflow.SprintDone)
	s.SetSprints(s.Sprints, []workflow.Sprint{{Number: 1, Title: "a"}, {Number: 2, Title: "other"}, {Number: 3, Title: "c"}})
	if !slices.Equal(s.OpenSprints(workflow.SprintPending), []int{2, 3}) || !slices.Equal(s.OpenSprints(workflow.SprintDone), []int{1}) {
		t.Errorf("%+v", s.Sprints)
	}
}

func TestSummarizeCountsCharacters(t *testing.T) {
	if got := workflow.Summarize(strings.Repeat("界", 400)); len([]rune(got)) != workflow.SummaryLimit {
		t.Errorf("%d characters", len([]rune(got)))
	}
	if got := workflow.Summarize("short"); got != "short" {
		t.Errorf("%q", got)
	}
}

// TestFiringWhatCannotBeIsABug: only this program's own code can do it.
func TestFiringWhatCannotBeIsABug(t *testing.T) {
	w := workflow.Default()
	for name, c := range map[string]struct {
		at    workflow.StageID
		event workflow.Event
	}{
		"an unknown event":           {workflow.PO, "exploded"},
		"a stage after the last":     {workflow.QA, workflow.EventConfirmed},
		"the end before the last":    {workflow.PO, workflow.EventFinished},
		"a jump to an unknown stage": {workflow.PO, workflow.EventReopened},
	} {
		s := w.NewSession("id", "o", "/p", "t", time.Unix(0, 0))
		s.CurrentStage = c.at
		before := s.Place()
		err := w.Fire(t.Context(), s, workflow.Transition{Event: c.event}, "nowhere")
		if !fault.Is(err, fault.Internal) || s.Place() != before || len(s.History) > 1 {
			t.Errorf("%s: %v, at %s", name, err, s.Place())
		}
	}
}
