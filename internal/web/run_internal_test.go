package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestStateOf: a run has one state, and never two that contradict each other.
func TestStateOf(t *testing.T) {
	t.Parallel()
	works, rests := &hostless{Live: liveFacts{Working: true}}, &hostless{}
	for _, tt := range []struct {
		state workflow.State
		work  *hostless
		want  tag
	}{
		{workflow.Completed, nil, tag{"good", "completed"}}, {workflow.Completed, rests, tag{"good", "completed"}}, {workflow.Completed, works, tag{"good", "completed"}},
		{workflow.Cancelled, rests, tag{"", "cancelled"}},
		{workflow.AwaitingApproval, rests, tag{"warn", "PO: it waits for your decision"}}, {workflow.AwaitingConfirmation, works, tag{"warn", "PO: it waits for your decision"}},
		{workflow.Clarifying, rests, tag{"ask", "PO: it waits for your answers"}},
		{workflow.Generating, nil, tag{"mine", "PO: the assistant works on it"}}, {workflow.Generating, works, tag{"mine", "PO: at work"}}, {workflow.Refining, rests, tag{"warn", "PO: stopped"}},
	} {
		s := &workflow.Session{CurrentStage: workflow.PO, CurrentState: tt.state}
		if got := stateOf(lang.English, s, tt.work); got != tt.want {
			t.Errorf("%s, %+v: %+v, want %+v", tt.state, tt.work, got, tt.want)
		}
	}
}

// TestResultsOf: the worst of a stage stands out, a critical finding above all.
func TestResultsOf(t *testing.T) {
	t.Parallel()
	score := func(f float64) *float64 { return &f }
	submit := func(scores ...float64) (out []workflow.Transition) {
		for _, f := range scores {
			out = append(out, workflow.Transition{From: "po/generating", To: "po/refining", Action: workflow.ActionSubmit, Score: &f})
		}
		return out
	}
	critical := &workflow.Audit{Score: 45, Findings: []workflow.AuditFinding{{Severity: "critical"}, {Severity: "minor"}}}
	for name, tt := range map[string]struct {
		record         workflow.Record
		history        []workflow.Transition
		results, worst string
	}{
		"nothing":            {},
		"a critical finding": {record: workflow.Record{Audit: critical}, worst: "form 45, critical: 1"},
		"a good form":        {record: workflow.Record{Audit: &workflow.Audit{Score: 96}}, results: "form 96"},
		"scores":             {history: submit(62, 81, 96), results: "score 62 → 81 → 96"},
		"many scores":        {history: submit(1, 2, 3, 91, 92), results: "score 3 → 91 → 92"},
		"below the gate":     {history: submit(62, 81), worst: "score 62 → 81"},
		"an estimate":        {record: workflow.Record{EstimatedScore: score(70)}, results: "70 estimated"},
		"failed work":        {record: workflow.Record{Verdict: workflow.Fail}, worst: "fail"},
		"passed work":        {record: workflow.Record{Verdict: workflow.Pass}, results: "pass"},
		"a failed command":   {record: workflow.Record{Evidence: &workflow.Evidence{ExitCode: 2}}, worst: "verify failed, exit code 2"},
		"a command":          {record: workflow.Record{Evidence: &workflow.Evidence{}}, results: "verify passed"},
		"a command too slow": {record: workflow.Record{Evidence: &workflow.Evidence{TimedOut: true}}, worst: "verify timed out"},
		"a command not run":  {record: workflow.Record{Evidence: &workflow.Evidence{NotRun: "x"}}, results: "verify was not run"},
	} {
		results, worst := resultsOf(lang.English, &workflow.Session{History: tt.history}, workflow.Stage{ID: workflow.PO, GateScore: 90}, &tt.record)
		if got, bad := strings.Join(results, ", "), strings.Join(worst, ", "); got != tt.results || bad != tt.worst {
			t.Errorf("%s: %q, bad %q; want %q, bad %q", name, got, bad, tt.results, tt.worst)
		}
	}
}

// TestTimeOfStages: each stage has the time between its entries, and a clock that was set back takes none away.
func TestTimeOfStages(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	entry := func(to string, minute int) workflow.Transition {
		return workflow.Transition{To: to, At: at.Add(time.Duration(minute) * time.Minute)}
	}
	history := []workflow.Transition{entry("po/generating", 0), entry("po/refining", 10), entry("architect/generating", 21), entry("po/generating", 30), entry("architect/generating", 25)}
	for state, want := range map[workflow.State]string{
		workflow.Generating: "map[architect:44m0s po:21m0s]", workflow.Completed: "map[architect:9m0s po:21m0s]",
	} {
		got := timeOfStages(&workflow.Session{CurrentState: state, History: history}, at.Add(time.Hour))
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", state, got, want)
		}
	}
	if got := timeOfStages(&workflow.Session{}, at); len(got) != 0 {
		t.Errorf("without a history: %v", got)
	}
}

// TestLiftMeans: the way in which several decisions came is said once.
func TestLiftMeans(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, out, means string }{
		{"", "", ""}, {"a", "a", ""}, {"a,b", "a,b", ""}, {"a,,a", ",,", "a"}, {"a,b,a,b,b", "a,,a,,", "b"}, {"a,b,a", ",b,", "a"},
	} {
		var steps []step
		for text := range strings.SplitSeq(tt.in, ",") {
			steps = append(steps, step{Decided: text})
		}
		means := liftMeans(steps)
		var left []string
		for _, s := range steps {
			left = append(left, s.Decided)
		}
		if got := strings.Join(left, ","); means != tt.means || got != tt.out {
			t.Errorf("%q: %q is said once, and %q is left", tt.in, means, got)
		}
	}
}

// TestGroupSteps: a stage that a run comes back to, and another day, are groups of their own.
func TestGroupSteps(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 1, 0, 0, 0, time.UTC)
	entry := func(stage string, hours int) (out step) {
		out.Stage, out.At = stage, at.Add(-time.Duration(hours)*time.Hour)
		return out
	}
	var got []string
	for _, v := range groupSteps(mergeSteps([]step{entry("Dev", 0), entry("PO", 3), entry("Dev", 4)}, []step{entry("Dev", 0), entry("Dev", 2)})) {
		got = append(got, fmt.Sprint(v.Stage, v.Day.Day(), len(v.Steps)))
	}
	if want := "Dev2 2,Dev1 1,PO1 1,Dev1 1"; strings.ReplaceAll(strings.Join(got, ","), " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestShowsEvent: the timeline repeats nothing that the history of the session or the state has.
func TestShowsEvent(t *testing.T) {
	t.Parallel()
	for density, want := range map[string]string{
		"decisions": "",
		"lines":     "retry rework notice stopped",
		"full":      "run_started stage_started engine_event cost retry rework notice stopped",
	} {
		var got []string
		for _, kind := range []headless.Type{
			headless.RunStarted, headless.StageStarted, headless.EngineEvent, headless.Submitted, headless.GateReached, headless.Questioned, headless.Cost,
			headless.Retry, headless.Rework, headless.Noticed, headless.Stopped, headless.Completed,
		} {
			if showsEvent(headless.Event{Type: kind}, density) {
				got = append(got, string(kind))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", density, got, want)
		}
	}
	if showsEvent(headless.Event{Type: headless.Stopped, Reason: headless.Person}, "lines") {
		t.Error("why a run waits is said twice")
	}
}

// TestDescribePlace: a comment that went with a decision names its lines, and the file of lines of code.
func TestDescribePlace(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]workflow.Comment{
		"":               {},
		"line 40":        {From: 40, To: 40},
		"lines 40-44":    {From: 40, To: 44},
		"a/b.go:33":      {File: "a/b.go", From: 33, To: 33},
		"a/b.go:33-35":   {File: "a/b.go", From: 33, To: 35},
		"only/a/file.go": {File: "only/a/file.go"},
	} {
		if got := describePlace(lang.English, c); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

// TestDescribeFacts: a document below its gate by the form has both scores, which explain the sentence beside them.
func TestDescribeFacts(t *testing.T) {
	t.Parallel()
	score, form := 93.0, 80.0
	s := step{Step: workflow.Step{Transition: workflow.Transition{Iteration: 1, Score: &score, AuditScore: &form}}}
	if got, want := describeFacts(lang.English, s), "round 1 · score 93 · form 80"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSprintTitle names sprints; the author of a plan hides nothing in them.
func TestSprintTitle(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]workflow.Sprint{
		"In":                          {Number: 1, Title: "In"},
		"Sprint A":                    {Number: 1, Label: "A", Title: "Sprint A"},
		"Sprint A: In":                {Number: 1, Label: "A", Title: "In"},
		`In\u202eruo`:                 {Number: 1, Title: "In\u202eruo"},
		`Sprint A\u202e: In\u202eruo`: {Number: 1, Label: "A\u202e", Title: "In\u202eruo"},
	} {
		if got := sprintTitle(lang.English, s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
