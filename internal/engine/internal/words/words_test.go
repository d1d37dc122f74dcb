package words_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

// at returns the standing of a session of a workflow of six stages at a stage and state.
func at(stage workflow.StageID, state workflow.State) *standing.Standing {
	w := workflowtest.Six()
	s := w.NewSession("id", "Build a clock", "/p", "test", time.Time{})
	s.TaskName, s.CurrentStage, s.CurrentState = "clock", stage, state
	st, _ := w.Stage(stage)
	return &standing.Standing{
		Session: s, Workflow: w, Settings: w, Stage: st, Policy: st.Policy(), MaxRework: 2, MaxIterations: 3,
		Draft: standing.Draft{Path: "work.md"}, Tasks: "specs/clock/", SessionFile: "session.json",
		Names: standing.Names{Confirm: "the-tool", Program: "the-program"},
	}
}

func ptr(f float64) *float64 { return &f }

// TestMessage checks that a message names the state of the run, and only offers actions that
// are accepted.
func TestMessage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stage   workflow.StageID
		state   workflow.State
		change  func(*standing.Standing)
		want    []string
		without string
	}{
		"at work": {workflow.PO, workflow.Generating, nil, []string{"The Product Owner now ", "Nothing is needed from you"}, "**You can now**"},
		"stale version": {workflow.PO, workflow.Generating, func(s *standing.Standing) {
			s.Session.Current().Artifact = &workflow.Artifact{Path: "a.md", Stale: true}
		}, []string{"`a.md` is out of date"}, ""},
		"another round": {workflow.PO, workflow.Refining, func(s *standing.Standing) { s.Session.Current().Iteration, s.Session.Current().Feedback = 1, "shorter" }, []string{"Round 2: ", "Your feedback: shorter"}, ""},
		"questions": {workflow.PO, workflow.Clarifying, func(s *standing.Standing) {
			s.Session.Current().Questions = []workflow.Question{{ID: "q1", Question: "For **whom**?", Options: []string{"all", "some"}}}
		}, []string{"- **q1** “For whom?” — “all” / “some”", "answer in your own words"}, ""},
		"strict questions": {workflow.PO, workflow.Clarifying, func(s *standing.Standing) { s.Policy.Gate = workflow.GateStrict }, []string{"Only your own act counts", "`the-program decide clock`"}, "the-tool"},
		"a gate by word":   {workflow.PO, workflow.AwaitingConfirmation, nil, []string{"say **confirm**: it is saved as `"}, "form"},
		"a gate by form":   {workflow.PO, workflow.AwaitingConfirmation, func(s *standing.Standing) { s.Call.Asks, s.Call.Forms = true, true }, []string{"decide in the form that follows"}, "say **confirm**"},
		"the form again":   {workflow.PO, workflow.AwaitingConfirmation, func(s *standing.Standing) { s.Call = standing.Call{Asks: true, Forms: true, Withheld: true} }, []string{"say **decide**", "`the-program decide clock`"}, "say **confirm**"},
		"a gate by host":   {workflow.PO, workflow.AwaitingConfirmation, func(s *standing.Standing) { s.Call.HostConfirm = true }, []string{"your host asks you about the assistant's call of the-tool"}, "say **confirm**"},
		"an own act":       {workflow.PO, workflow.AwaitingConfirmation, func(s *standing.Standing) { s.Policy.Gate = workflow.GateStrict }, []string{"**It waits for you.**", "`the-program decide clock`"}, "the-tool"},
		"edited":           {workflow.PO, workflow.AwaitingConfirmation, func(s *standing.Standing) { s.Draft.Edited = true }, []string{"The draft is not what was handed in", "restore the file"}, "say **confirm**"},
		"edited, by form": {workflow.PO, workflow.AwaitingConfirmation, func(s *standing.Standing) {
			s.Draft.Edited, s.Draft.Edit, s.Call.Asks, s.Call.Forms = true, &standing.Edit{Lines: []standing.EditedLine{{Before: "a", After: "b"}}}, true, true
		}, []string{"1 line was changed since it was scored: “b”", "decide in the form that follows"}, "say **confirm**"},
		"edited, by act": {workflow.PO, workflow.AwaitingConfirmation, func(s *standing.Standing) {
			s.Draft.Edited, s.Draft.Edit, s.Call.HostConfirm = true, &standing.Edit{Lines: []standing.EditedLine{{Before: "a", After: "b"}, {Before: "**c**"}, {After: "d"}}}, true
		}, []string{"3 lines were changed since it was scored:\n- “b”, which was “a”\n- gone: “c”\n- new: “d”", "Only your own act counts", "`the-program decide clock`", "say what to change"}, "the-tool"},
		"an edit taken back": {workflow.PO, workflow.AwaitingConfirmation, func(s *standing.Standing) {
			s.Session.History = []workflow.Transition{{Action: workflow.ActionSubmit, From: "po/refining", Iteration: 3, Edit: "takes back the person's edit: “b” is “a” again"}}
		}, []string{"**Round 3 takes back the person's edit: “b” is “a” again.**"}, ""},
		"missing": {workflow.PO, workflow.AwaitingConfirmation, func(s *standing.Standing) {
			s.Draft.Missing, s.Session.Current().FinalResultRef = true, &workflow.ContentRef{}
		}, []string{"`work.md` — **missing on disk**", "restore the file"}, "say **confirm**"},
		"rounds spent": {workflow.PO, workflow.AwaitingApproval, nil, []string{"say **go on**", "after at most 3 rounds", "**accept it**, and why", "or **cancel**"}, "**reopen**"},
		"a plan":       {workflow.SM, workflow.AwaitingApproval, func(s *standing.Standing) { s.Session.Sprints = []workflow.Sprint{{Number: 1, Title: "hands"}} }, []string{"Its sprints:\n- Sprint 1: “hands”", "development can begin"}, "no heading"},
		"failed":       {workflow.Review, workflow.AwaitingApproval, func(s *standing.Standing) { s.Session.Current().Verdict = workflow.Fail }, []string{"**failed** the work", "**send it back**", "**accept the risk**: it goes on"}, "and why"},
		"failed again": {workflow.Review, workflow.AwaitingApproval, func(s *standing.Standing) { s.Session.Current().Verdict, s.Session.ReworkCount = workflow.Fail, 2 }, []string{"come back 2 times", "**accept the risk**, and why", "**reopen**"}, ""},
		"blocked": {workflow.QA, workflow.AwaitingApproval, func(s *standing.Standing) {
			s.Session.Current().Verdict, s.Session.Current().Needs = workflow.Blocked, "a key"
		}, []string{"**blocked** and needs something from you: “a key”"}, "accept the risk"},
		"doubted": {workflow.QA, workflow.AwaitingApproval, func(s *standing.Standing) {
			s.Session.Current().Verdict, s.Session.Current().Objections = workflow.Pass, []string{"two tests fail"}
		}, []string{"reports **pass**, but one thing speaks against it", "say **it passes**"}, ""},
		"complete": {workflow.QA, workflow.Completed, func(s *standing.Standing) {
			s.Session.Artifacts, s.Saved = []string{"a.md", "b.md", "c.md"}, map[string]standing.File{"a.md": {}, "b.md": {Modified: true}, "c.md": {Missing: true}}
		}, []string{"- `a.md`\n- `b.md` — modified since it was saved\n- `c.md` — **missing on disk**\n", "review and commit"}, ""},
		"not all built": {workflow.QA, workflow.Completed, func(s *standing.Standing) {
			s.Session.Sprints = []workflow.Sprint{{Number: 1, Status: workflow.SprintDone}, {Number: 2, Status: workflow.SprintPending}}
		}, []string{"sprint 2 is not built yet", "reopen dev"}, "All stages are done"},
		"cancelled": {workflow.PO, workflow.Cancelled, nil, []string{"This run is cancelled."}, "stays in"},
	} {
		s := at(tt.stage, tt.state)
		if tt.change != nil {
			tt.change(s)
		}
		got := words.Message(s)
		rest := got
		for _, part := range tt.want {
			before, after, found := strings.Cut(rest, part)
			if !found {
				t.Errorf("%s: no %q after %q in:\n%s", name, part, before, got)
				break
			}
			rest = after
		}
		if tt.without != "" && strings.Contains(got, tt.without) {
			t.Errorf("%s: got %q in:\n%s", name, tt.without, got)
		}
		for _, other := range []string{"bmad-confirm", "bmad-mcp"} {
			if strings.Contains(got, other) {
				t.Errorf("%s: the name %s does not come from the standing:\n%s", name, other, got)
			}
		}
	}
}

// TestScores checks that a claim, an estimate and an audit are told apart.
func TestScores(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rec  workflow.Record
		want string
	}{
		"claimed":          {workflow.Record{ClaimedScore: ptr(95), Score: ptr(95)}, "Score 95 of 100 by the assistant; 95 needed."},
		"with a note":      {workflow.Record{ClaimedScore: ptr(95), Score: ptr(95), ScoreNote: "the last of two"}, "Score 95 of 100 by the assistant (the last of two); 95 needed."},
		"estimated":        {workflow.Record{EstimatedScore: ptr(70), Score: ptr(70)}, "No score was stated; our estimate is 70 of 100; a stated 95 needed."},
		"unusable claim":   {workflow.Record{EstimatedScore: ptr(70), Score: ptr(70), ScoreNote: "“120” is above 100"}, "“120” is above 100; our estimate is 70 of 100; a stated 95 needed."},
		"an older server":  {workflow.Record{Score: ptr(91.5)}, "Score 91.5 of 100; 95 needed."},
		"with an audit":    {workflow.Record{ClaimedScore: ptr(95), Score: ptr(95), Audit: &workflow.Audit{Score: 60}}, "Score 95 of 100 by the assistant, form 60 by our check; 95 needed."},
		"the audit's find": {workflow.Record{ClaimedScore: ptr(95), Score: ptr(95), Audit: &workflow.Audit{Score: 60, Summary: "no goals"}}, "form 60 by our check; 95 needed.\nOur check found: no goals."},
	} {
		s := at(workflow.PO, workflow.AwaitingConfirmation)
		s.Policy.GateScore = ptr(95)
		*s.Session.Current() = tt.rec
		if got := words.Facts(s); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%s\nwant %q in it", name, got, tt.want)
		}
	}
}

// TestLost checks that the error of a call that came second names who was first, and the next step.
func TestLost(t *testing.T) {
	t.Parallel()
	last := workflow.Transition{Action: workflow.ActionConfirm, By: "cursor", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), From: "po/awaiting_confirmation", To: "architect/generating"}
	for name, tt := range map[string]struct {
		state       workflow.State
		history     []workflow.Transition
		repeated    bool
		words, hint string
	}{
		"another call":   {workflow.Generating, []workflow.Transition{last}, false, "another call came first: confirm by cursor on 2026-01-02 03:04:05 UTC took the run from po/awaiting_confirmation to architect/generating, revision 3", "generate the document"},
		"the same step":  {workflow.Generating, []workflow.Transition{last}, true, "this step was taken already: confirm by cursor", "go on from there"},
		"at a gate":      {workflow.AwaitingConfirmation, []workflow.Transition{last}, false, "another call came first", "show the human what waits now"},
		"without a past": {workflow.Generating, nil, false, "another call changed the run first: it now stands at po/generating, revision 3", "call status"},
	} {
		s := at(workflow.PO, tt.state).Session
		s.Revision, s.History = 3, tt.history
		err := fault.From(words.Lost(s, tt.repeated))
		if err.Code != fault.Conflict || !strings.Contains(err.Error(), tt.words) || !strings.Contains(err.Hint, tt.hint) {
			t.Errorf("%s: got %s, %q with hint %q; want conflict, %q with %q", name, err.Code, err, err.Hint, tt.words, tt.hint)
		}
	}
}

// TestWays checks that the hint of a refusal names the acts that are left to the person.
func TestWays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call standing.Call
		want string
	}{
		"terminal": {standing.Call{}, "the human decides in a terminal: the-program decide clock"},
		"host":     {standing.Call{HostConfirm: true}, "the human decides here, with the tool the-tool, about which the host asks the human; or in a terminal: the-program decide clock"},
		"cancel":   {standing.Call{Action: workflow.ActionCancel, HostConfirm: true}, "the human decides in a terminal: the-program cancel clock"},
		"reopen":   {standing.Call{Action: workflow.ActionReopen, Stage: "po"}, "the human decides in a terminal: the-program reopen clock --stage po"},
	} {
		s := at(workflow.PO, workflow.AwaitingConfirmation)
		s.Call = tt.call
		if got := words.Ways(s).String(); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestList checks that a list names each session once, and the ones that are left out by their
// number.
func TestList(t *testing.T) {
	t.Parallel()
	summary := workflow.Summary{TaskName: "clock", CurrentStage: workflow.PO, CurrentState: workflow.Generating}
	none := words.List{}
	if got := none.Text(); !strings.HasPrefix(got, "This project has no run yet.") {
		t.Errorf("without sessions: got %q", got)
	}
	if got := (&words.List{Broken: 1}).Text(); !strings.HasPrefix(got, "This project has no run that can be read.") {
		t.Errorf("with a file that cannot be read: got %q", got)
	}
	l := words.List{Total: 3, Active: 1, Broken: 1, Names: standing.Names{Program: "the-program"}}
	summary.Objective = "a clock\nfor **the** hall, that " + strings.Repeat("rings ", 20)
	l.Add(summary, false, false)
	summary.Objective = ""
	l.Add(summary, true, true)
	const want = "This project has 3 sessions, 1 of them active.\n\n- **clock**: po, generating — a clock for the hall, that rings rings rings rings rings…\n- **clock**: po, generating, **changed by other hands** (`the-program log clock --verify`), **not as you approved it** (`the-program status clock`)" +
		"\n- … and 1 older\n\n**You can now** name one to go on with, or say what else to build.\n\n1 session file cannot be read and stayed as found."
	if got := l.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestScripts checks that of many changed files some are named, and the last note says how to
// settle it.
func TestScripts(t *testing.T) {
	t.Parallel()
	n := standing.Names{Program: "the-program"}
	if got := words.Scripts(nil, n); len(got) != 0 {
		t.Errorf("without changes: got %q", got)
	}
	var notes []lang.Text
	for _, note := range strings.Split("1234567", "") {
		notes = append(notes, lang.T(note))
	}
	got := words.Scripts(notes, n)
	if len(got) != 6 || got[4].String() != "5" || got[5].String() != "and 2 more files have (to see and settle it: the-program allow)" {
		t.Errorf("seven files: got %q", got)
	}
}

// TestEdit checks that the quotation of a line shows its change, in the columns that a form has.
func TestEdit(t *testing.T) {
	t.Parallel()
	const long = "It keeps time for 30 days, and goes on and on until the retention is "
	for name, tt := range map[string]struct {
		lines []standing.EditedLine
		want  string
	}{
		"none":          {nil, "Only white space was changed since it was scored."},
		"short":         {[]standing.EditedLine{{Before: "a b", After: "a c", At: 2}}, "1 line was changed since it was scored: “a c”"},
		"gone":          {[]standing.EditedLine{{Before: "a b"}}, "1 line was changed since it was scored: gone: “a b”"},
		"several":       {[]standing.EditedLine{{After: "a"}, {After: "b"}, {Before: "c"}}, "3 lines were changed since it was scored: “a” and 2 more"},
		"far behind":    {[]standing.EditedLine{{Before: long + "30 days", After: long + "90 days", At: len(long)}}, "1 line was changed since it was scored: “…retention is 90 days”"},
		"in one word":   {[]standing.EditedLine{{After: strings.Repeat("x", 200), At: 150}}, "1 line was changed since it was scored: “…" + strings.Repeat("x", 58) + "…”"},
		"no spaces":     {[]standing.EditedLine{{After: strings.Repeat("保留", 50) + "九十天", At: 300}}, "1 line was changed since it was scored: “…留" + strings.Repeat("保留", 3) + "九十天”"},
		"hostile":       {[]standing.EditedLine{{After: "**Score**: claims 100\u202e” `x`\u001b[2J"}}, "1 line was changed since it was scored: “Score: claims 100\\u202e' 'x'\\u001b[2J”"},
		"at a cut rune": {[]standing.EditedLine{{Before: strings.Repeat("é", 70), After: strings.Repeat("é", 60) + "è", At: 121}}, ""},
	} {
		got := words.Edit(lang.English, &standing.Edit{Lines: tt.lines})
		if tt.want != "" && got != tt.want || !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
