package request_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
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
		Draft: standing.Draft{Path: "work.md", Work: "work.md", SHA256: "aa"}, Names: standing.Names{Program: "program"},
	}
}

// form is a caller whose person can be reached.
type form struct{}

func (form) Ask(context.Context, gate.Question) (gate.Response, error) { return gate.Response{}, nil }

var yes, no = true, false

// told returns an error as "code: message | hint"; "" for none.
func told(err error) string {
	var f *fault.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return fmt.Sprintf("%s: %s | %s", f.Code, f.Message, f.Hint)
	}
	return err.Error()
}

// isRefused reports whether an error begins as wanted, and is none for "".
func isRefused(err error, want string) bool {
	return strings.HasPrefix(told(err), want) && (want == "") == (err == nil)
}

// bytesOf returns a text of n bytes in letters of three bytes, and one or two others.
func bytesOf(n int) string { return strings.Repeat("字", n/3) + strings.Repeat("x", n%3) }

// TestValidate checks the limits of all texts in bytes, the other arguments that need no session, and the
// defaults of a caller.
func TestValidate(t *testing.T) {
	t.Parallel()
	type q = request.Request
	with := func(change func(*q)) q {
		out := q{Action: workflow.ActionSubmit}
		change(&out)
		return out
	}
	for name, tt := range map[string]struct {
		req  q
		want string
	}{
		"unknown action":   {q{Action: "aprove"}, `invalid_argument: unknown action "aprove" | did you mean approve? use one of: start, submit, answer, confirm, approve, status, resume, reopen, cancel`},
		"no action":        {q{}, `invalid_argument: unknown action "" | use one of: start, `},
		"start":            {q{Action: workflow.ActionStart, Start: request.Start{Objective: bytesOf(4000)}}, ""},
		"no objective":     {q{Action: workflow.ActionStart, Start: request.Start{Objective: " \n\t"}}, "invalid_argument: start needs an objective | say in one or two sentences"},
		"objective":        {with(func(r *q) { r.Objective = bytesOf(4001) }), "invalid_argument: objective has 4001 bytes; at most 4000 are accepted | shorten it, or put the details into a file"},
		"feedback":         {with(func(r *q) { r.Feedback = bytesOf(8001) }), "invalid_argument: feedback has 8001 bytes; at most 8000 "},
		"feedback at most": {with(func(r *q) { r.Feedback = bytesOf(8000) }), ""},
		"session":          {with(func(r *q) { r.Session = bytesOf(201) }), "invalid_argument: session_id has 201 bytes; at most 200 "},
		"cwd":              {with(func(r *q) { r.Cwd = bytesOf(4097) }), "invalid_argument: cwd has 4097 bytes; at most 4096 "},
		"view":             {with(func(r *q) { r.View = bytesOf(201) }), "invalid_argument: view has 201 bytes; at most 200 "},
		"stage":            {with(func(r *q) { r.Stage = bytesOf(201) }), "invalid_argument: stage has 201 bytes; at most 200 "},
		"workflow":         {with(func(r *q) { r.Workflow = bytesOf(201) }), "invalid_argument: workflow has 201 bytes; at most 200 "},
		"task name":        {with(func(r *q) { r.TaskName = bytesOf(201) }), "invalid_argument: task_name has 201 bytes; at most 200 "},
		"path":             {with(func(r *q) { r.Results = []request.Result{{Engine: "codex", Path: bytesOf(4097)}} }), "invalid_argument: codex_result_path has 4097 bytes; at most 4096 "},
		"all at most": {with(func(r *q) {
			r.Session, r.View, r.Stage, r.Workflow, r.TaskName = bytesOf(200), bytesOf(200), bytesOf(200), bytesOf(200), bytesOf(200)
			r.Cwd, r.Results = bytesOf(4096), []request.Result{{Path: bytesOf(4096), Text: bytesOf(9000)}}
		}), ""},
		"not UTF-8":          {with(func(r *q) { r.Feedback = "a\xff" }), "invalid_argument: feedback is not valid UTF-8 | send the text as UTF-8"},
		"NUL":                {with(func(r *q) { r.Stage = "a\x00" }), "invalid_argument: stage contains a NUL character | remove it"},
		"comments of submit": {with(func(r *q) { r.Comments = []workflow.Comment{{}} }), "invalid_argument: submit takes no comments | send them with a decision"},
		"comments, confirm":  {with(func(r *q) { r.Action, r.Comments = workflow.ActionConfirm, []workflow.Comment{{}} }), ""},
		"comments, approve":  {with(func(r *q) { r.Action, r.Comments = workflow.ActionApprove, []workflow.Comment{{}} }), ""},
		"comments, answer":   {with(func(r *q) { r.Action, r.Comments = workflow.ActionAnswer, []workflow.Comment{{}} }), ""},
		"wait":               {with(func(r *q) { r.Wait = 50 }), ""},
		"wait too long":      {with(func(r *q) { r.Wait = 51 }), "invalid_argument: wait 51 is not between 0 and 50 seconds | pass at most 50, and call again"},
		"wait below nothing": {with(func(r *q) { r.Wait = -1 }), "invalid_argument: wait -1 is not between 0 and 50 seconds"},
	} {
		if err := tt.req.Validate(); !isRefused(err, tt.want) {
			t.Errorf("%s: got %q, want %q", name, told(err), tt.want)
		}
	}
	for name, tt := range map[string]struct{ caller, want request.Caller }{
		"nobody":   {request.Caller{}, request.Caller{By: "unknown", Via: workflow.ChannelRelayed}},
		"a form":   {request.Caller{Ask: form{}}, request.Caller{By: "unknown", Ask: form{}}},
		"a script": {request.Caller{By: "ci", Via: workflow.ChannelScript}, request.Caller{By: "ci", Via: workflow.ChannelScript}},
	} {
		r := q{Action: workflow.ActionStatus, Caller: tt.caller}
		if err := r.Validate(); err != nil || r.By != tt.want.By || r.Via != tt.want.Via {
			t.Errorf("%s: by %q via %q (%v), want %q via %q", name, r.By, r.Via, err, tt.want.By, tt.want.Via)
		}
	}
}

// TestComplete checks that no decision is taken for one that is not stated.
func TestComplete(t *testing.T) {
	t.Parallel()
	ask, remark := request.Caller{Ask: form{}}, []workflow.Comment{{Text: "no"}}
	const needsWord = "invalid_argument: confirm with feedback needs confirmed: true or false | true saves"
	for name, tt := range map[string]struct {
		req  request.Request
		want string
	}{
		"submit":                 {request.Request{Action: workflow.ActionSubmit, Stage: "po"}, ""},
		"submit, no stage":       {request.Request{Action: workflow.ActionSubmit}, "invalid_argument: submit needs a stage | pass the stage that the last reply names"},
		"reopen, no stage":       {request.Request{Action: workflow.ActionReopen}, "invalid_argument: reopen needs a stage | pass as stage the earlier one"},
		"cancel":                 {request.Request{Action: workflow.ActionCancel}, ""},
		"answers":                {request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "x"}}}, ""},
		"no answers":             {request.Request{Action: workflow.ActionAnswer}, `invalid_argument: answer needs answers | pass answers as an object of question id and text, such as {"q1": "…"}`},
		"no answers, by form":    {request.Request{Action: workflow.ActionAnswer, Caller: ask}, ""},
		"confirm":                {request.Request{Action: workflow.ActionConfirm}, ""},
		"confirm, blank words":   {request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Feedback: " \n"}}, ""},
		"confirm, words":         {request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Feedback: "no, because"}}, needsWord},
		"confirm, comments":      {request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Comments: remark}}, needsWord},
		"confirm, words by form": {request.Request{Action: workflow.ActionConfirm, Caller: ask, Decision: request.Decision{Comments: remark}}, needsWord},
		"confirm, no with words": {request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &no, Feedback: "x", Comments: remark}}, ""},
		"approve":                {request.Request{Action: workflow.ActionApprove, Decision: request.Decision{Yes: &yes}}, ""},
		"approve, nothing":       {request.Request{Action: workflow.ActionApprove}, "invalid_argument: approve needs approved: true or false | ask the human"},
		"approve by form":        {request.Request{Action: workflow.ActionApprove, Caller: ask}, ""},
		"blind":                  {request.Request{Action: workflow.ActionApprove, Decision: request.Decision{Yes: &yes, Blind: true}}, "invalid_argument: revision is missing | pass the revision of the reply that the human has seen"},
	} {
		if err := tt.req.Complete(); !isRefused(err, tt.want) {
			t.Errorf("%s: got %q, want %q", name, told(err), tt.want)
		}
	}
}

// TestFits checks the code, the sentence and the next step of a call that the run's stage or state does not
// allow.
func TestFits(t *testing.T) {
	t.Parallel()
	yesTo := func(event workflow.Event) func(*standing.Standing) {
		return func(s *standing.Standing) {
			s.Session.Append(workflow.Transition{Action: workflow.ActionConfirm, Event: event, From: "po/awaiting_confirmation", To: s.Session.Place()})
		}
	}
	met := func(s *standing.Standing) { // a document that has reached its gate, and asks
		score := 95.0
		p := s.Policy
		s.Session.Current().ClaimedScore, s.Session.Current().Policy = &score, &p
	}
	for name, tt := range map[string]struct {
		stage  workflow.StageID
		state  workflow.State
		change func(*standing.Standing)
		req    request.Request
		want   string
	}{
		"submit":          {workflow.PO, workflow.Generating, nil, request.Request{Action: workflow.ActionSubmit, Stage: "po"}, ""},
		"any stage":       {workflow.PO, workflow.Generating, nil, request.Request{Action: workflow.ActionSubmit}, ""},
		"other stage":     {workflow.PO, workflow.Generating, nil, request.Request{Action: workflow.ActionSubmit, Stage: "qa"}, `wrong_stage: the run is at stage "po", not "qa" | generate the document for stage po and submit it`},
		"submit at gate":  {workflow.PO, workflow.AwaitingConfirmation, nil, request.Request{Action: workflow.ActionSubmit}, `gate_pending: "submit" is not possible while the run is at po/awaiting_confirmation | the human decides: call confirm`},
		"approve at work": {workflow.PO, workflow.Generating, nil, request.Request{Action: workflow.ActionApprove}, `not_allowed: "approve" is not possible while the run is at po/generating | generate`},
		"wrong gate":      {workflow.SM, workflow.AwaitingApproval, nil, request.Request{Action: workflow.ActionConfirm}, `gate_pending: "confirm" is not possible`},
		"questions":       {workflow.PO, workflow.Clarifying, nil, request.Request{Action: workflow.ActionConfirm}, `not_allowed: "confirm" is not possible while the run is at po/clarifying | show the open questions`},
		"questions, met":  {workflow.PO, workflow.Clarifying, met, request.Request{Action: workflow.ActionConfirm}, ""},
		"approve, met":    {workflow.PO, workflow.Clarifying, met, request.Request{Action: workflow.ActionApprove}, `not_allowed: "approve" `},
		"a no after its yes": {workflow.Architect, workflow.Generating, yesTo(workflow.EventConfirmed), request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &no}},
			`not_allowed: "confirm" is not possible while the run is at architect/generating | generate the document for stage architect and submit it; to take the decision back, reopen po`},
		"a yes again": {workflow.Architect, workflow.Generating, yesTo(workflow.EventConfirmed), request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &yes}},
			`not_allowed: "confirm" is not possible while the run is at architect/generating | generate the document for stage architect and submit it` + "$"},
		"a no again": {workflow.PO, workflow.Refining, yesTo(workflow.EventChangesRequested), request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &no}},
			`not_allowed: "confirm" is not possible while the run is at po/refining | generate the document for stage po and submit it` + "$"},
		"reopen":           {workflow.SM, workflow.AwaitingApproval, nil, request.Request{Action: workflow.ActionReopen, Stage: "po"}, ""},
		"reopen itself":    {workflow.SM, workflow.AwaitingApproval, nil, request.Request{Action: workflow.ActionReopen, Stage: "sm"}, `wrong_stage: stage "sm" is not before the current stage "sm" | reopen an earlier stage; to change the current document, the human decides: call approve`},
		"reopen later":     {workflow.SM, workflow.Generating, nil, request.Request{Action: workflow.ActionReopen, Stage: "qa"}, `wrong_stage: stage "qa" is not before`},
		"reopen the last":  {workflow.QA, workflow.Completed, nil, request.Request{Action: workflow.ActionReopen, Stage: "qa"}, ""},
		"reopen cancelled": {workflow.SM, workflow.Cancelled, nil, request.Request{Action: workflow.ActionReopen, Stage: "po"}, `not_allowed: "reopen" is not possible while the run is at sm/cancelled | the run is cancelled; start a new one`},
	} {
		s := at(tt.stage, tt.state)
		if tt.change != nil {
			tt.change(s)
		}
		err := tt.req.Fits(s)
		if whole, ends := strings.CutSuffix(tt.want, "$"); ends && told(err) != whole || !ends && !isRefused(err, tt.want) {
			t.Errorf("%s: got %q, want %q", name, told(err), tt.want)
		}
	}
}

// TestRepeats checks which calls ask for the step that was taken last.
func TestRepeats(t *testing.T) {
	t.Parallel()
	const confirm, approve, submit = workflow.ActionConfirm, workflow.ActionApprove, workflow.ActionSubmit
	for name, tt := range map[string]struct {
		last  workflow.Transition
		state workflow.State
		req   request.Request
		want  bool
	}{
		"a yes":                {workflow.Transition{Action: confirm, Event: workflow.EventConfirmed}, workflow.Generating, request.Request{Action: confirm, Decision: request.Decision{Yes: &yes}}, true},
		"nothing stated":       {workflow.Transition{Action: confirm, Event: workflow.EventConfirmed}, workflow.Generating, request.Request{Action: confirm}, true},
		"a no after a yes":     {workflow.Transition{Action: confirm, Event: workflow.EventConfirmed}, workflow.Generating, request.Request{Action: confirm, Decision: request.Decision{Yes: &no}}, false},
		"a no":                 {workflow.Transition{Action: confirm, Event: workflow.EventChangesRequested}, workflow.Refining, request.Request{Action: confirm, Decision: request.Decision{Yes: &no}}, true},
		"a yes after a no":     {workflow.Transition{Action: approve, Event: workflow.EventSentBack}, workflow.Refining, request.Request{Action: approve, Decision: request.Decision{Yes: &yes}}, false},
		"work sent back":       {workflow.Transition{Action: approve, Event: workflow.EventSentBack}, workflow.Refining, request.Request{Action: approve, Decision: request.Decision{Yes: &no}}, true},
		"another action":       {workflow.Transition{Action: approve, Event: workflow.EventApproved}, workflow.Generating, request.Request{Action: confirm, Decision: request.Decision{Yes: &yes}}, false},
		"its stage":            {workflow.Transition{Action: approve, Event: workflow.EventApproved}, workflow.Generating, request.Request{Action: approve, Stage: "po", Decision: request.Decision{Yes: &yes}}, true},
		"another stage":        {workflow.Transition{Action: approve, Event: workflow.EventApproved}, workflow.Generating, request.Request{Action: approve, Stage: "qa", Decision: request.Decision{Yes: &yes}}, false},
		"one of several yeses": {workflow.Transition{Action: approve, Event: workflow.EventGranted}, workflow.AwaitingApproval, request.Request{Action: approve, Decision: request.Decision{Yes: &yes}}, false},
		"a second document":    {workflow.Transition{Action: submit, Event: workflow.EventScoredReady}, workflow.AwaitingConfirmation, request.Request{Action: submit, Stage: "po"}, false},
		"the last document":    {workflow.Transition{Action: submit, Event: workflow.EventFinished}, workflow.Completed, request.Request{Action: submit, Stage: "po"}, true},
		"a reopen":             {workflow.Transition{Action: workflow.ActionReopen, Event: workflow.EventReopened, From: "qa/x", To: "po/x"}, workflow.Refining, request.Request{Action: workflow.ActionReopen, Stage: "po"}, true},
		"a reopen elsewhere":   {workflow.Transition{Action: workflow.ActionReopen, Event: workflow.EventReopened, From: "qa/x", To: "po/x"}, workflow.Refining, request.Request{Action: workflow.ActionReopen, Stage: "qa"}, false},
		"a cancel":             {workflow.Transition{Action: workflow.ActionCancel, Event: workflow.EventCancelled}, workflow.Cancelled, request.Request{Action: workflow.ActionCancel}, true},
	} {
		s := at(workflow.PO, tt.state)
		if tt.last.From == "" {
			tt.last.From, tt.last.To = "po/x", "sm/x"
		}
		s.Session.History = append(s.Session.History, tt.last)
		if got := tt.req.Repeats(s.Session); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

// TestWord checks the decision that a call itself states, and which calls state one.
func TestWord(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		word *bool
		want gate.Word
	}{{nil, gate.Word{}}, {&yes, gate.Word{Given: true}}, {&no, gate.Word{Given: true, No: true}}} {
		tt.want.Via, tt.want.Draft = workflow.ChannelScript, "aa"
		q := request.Request{Caller: request.Caller{Via: workflow.ChannelScript}, Decision: request.Decision{Yes: tt.word, Draft: "aa"}}
		if got := q.Word(); got != tt.want {
			t.Errorf("got %+v, want %+v", got, tt.want)
		}
	}
	for _, action := range workflow.Actions() {
		q := request.Request{Action: action}
		if got, want := q.Decides(), action == workflow.ActionConfirm || action == workflow.ActionApprove; got != want {
			t.Errorf("%s decides: got %v, want %v", action, got, want)
		}
	}
	w := workflowtest.Six()
	for name, want := range map[string]string{"": "", "po": "", "revew": `invalid_argument: unknown stage "revew" | did you mean review? use one of: po, architect, sm, dev, review, qa`} {
		if err := request.CheckStage(w, name); !isRefused(err, want) {
			t.Errorf("stage %q: got %q, want %q", name, told(err), want)
		}
	}
}

// TestSubmitted checks which texts a submission hands in, which files it names, and that it refuses the stage's own
// document from before an earlier stage was reopened.
func TestSubmitted(t *testing.T) {
	t.Parallel()
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project.Project{Dir: dir, Home: dir}
	t.Cleanup(p.Close)
	for name, tt := range map[string]struct {
		action    workflow.Action
		objective string
		stale     bool
		saved     standing.File
		edited    bool
		results   []request.Result
		want      string // the texts that are handed in
		sources   []string
		old       string // the document that is refused
	}{
		"the working copy":        {action: workflow.ActionSubmit, want: "[{claude  work.md}]", sources: []string{"work.md"}},
		"another engine's":        {action: workflow.ActionSubmit, objective: "Build a clock and use codex for it", want: "[{claude  work.md}]", sources: []string{"work.md"}},
		"a text":                  {action: workflow.ActionSubmit, results: []request.Result{{Engine: "codex", Text: "x"}}, want: "[{codex x }]"},
		"a path":                  {action: workflow.ActionSubmit, results: []request.Result{{Path: "./b/../a.md"}}, want: "[{  ./b/../a.md}]", sources: []string{"a.md"}},
		"another action":          {action: workflow.ActionStatus, want: "[]"},
		"files of another action": {action: workflow.ActionStatus, results: []request.Result{{Path: "a.md"}}, want: "[{  a.md}]"},
		"stale, working copy":     {action: workflow.ActionSubmit, stale: true, want: "[{claude  work.md}]", sources: []string{"work.md"}, old: "work.md"},
		"stale, edited":           {action: workflow.ActionSubmit, stale: true, edited: true, want: "[{claude  work.md}]", sources: []string{"work.md"}},
		"stale, its round":        {action: workflow.ActionSubmit, stale: true, results: []request.Result{{Path: "round.md"}}, want: "[{  round.md}]", sources: []string{"round.md"}, old: "round.md"},
		"stale, its artifact":     {action: workflow.ActionSubmit, stale: true, results: []request.Result{{Path: "saved.md"}}, want: "[{  saved.md}]", sources: []string{"saved.md"}, old: "saved.md"},
		"stale, artifact edited":  {action: workflow.ActionSubmit, stale: true, saved: standing.File{Modified: true}, results: []request.Result{{Path: "saved.md"}}, want: "[{  saved.md}]", sources: []string{"saved.md"}},
		"stale, artifact gone":    {action: workflow.ActionSubmit, stale: true, saved: standing.File{Missing: true}, results: []request.Result{{Path: "saved.md"}}, want: "[{  saved.md}]", sources: []string{"saved.md"}},
		"stale, another file":     {action: workflow.ActionSubmit, stale: true, results: []request.Result{{Path: "new.md"}}, want: "[{  new.md}]", sources: []string{"new.md"}},
	} {
		s := at(workflow.PO, workflow.Refining)
		s.Draft.Edited, s.Saved = tt.edited, map[string]standing.File{"saved.md": tt.saved}
		s.Session.Current().Artifact, s.Session.Current().FinalResultRef = &workflow.Artifact{Path: "saved.md", Stale: tt.stale}, &workflow.ContentRef{FilePath: "round.md"}
		q := request.Request{Action: tt.action, Submit: request.Submit{Results: tt.results}}
		if got := fmt.Sprint(q.Submitted(s)); got != tt.want {
			t.Errorf("%s: hands in %s, want %s", name, got, tt.want)
		}
		if got := q.Sources(p, s); !slices.Equal(got, tt.sources) {
			t.Errorf("%s: sources %q, want %q", name, got, tt.sources)
		}
		want := ""
		if tt.old != "" {
			want = "invalid_argument: " + tt.old + " is the document from before an earlier stage was reopened | work the change in, then submit it"
		}
		if err := q.NotStale(p, s); !isRefused(err, want) {
			t.Errorf("%s: got %q, want %q", name, told(err), want)
		}
	}
}

// TestScope checks which sprints a build covers.
func TestScope(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stage       workflow.StageID
		plan        []int
		call, named []int
		want        []int
		refused     string
	}{
		"no build":          {stage: workflow.PO, plan: []int{1}, call: []int{1}},
		"those of the call": {stage: workflow.Dev, plan: []int{1, 2, 3}, call: []int{3, 1, 3}, named: []int{2}, want: []int{1, 3}},
		"none":              {stage: workflow.Dev, plan: []int{1, 2}, call: []int{}, refused: "invalid_argument: sprints is empty | leave it out for all open sprints, or name some of: 1, 2"},
		"no plan":           {stage: workflow.Dev, call: []int{}, refused: "invalid_argument: the plan has no numbered sprints to choose from | leave sprints out"},
		"unknown":           {stage: workflow.Dev, plan: []int{1, 2}, call: []int{1, 4}, refused: "invalid_argument: the plan has no sprint 4 | its sprints are: 1, 2"},
		"those of the text": {stage: workflow.Dev, plan: []int{1, 2, 3}, named: []int{9, 3, 2, 2}, want: []int{2, 3}},
		"unknown in text":   {stage: workflow.Dev, plan: []int{1, 2}, named: []int{9}, want: []int{1, 2}},
		"all that are open": {stage: workflow.Dev, plan: []int{1, 2}, want: []int{1, 2}},
	} {
		s := at(tt.stage, workflow.Generating)
		for _, n := range tt.plan {
			s.Session.Sprints = append(s.Session.Sprints, workflow.Sprint{Number: n, Status: workflow.SprintPending})
		}
		q := request.Request{Submit: request.Submit{Sprints: tt.call}}
		got, err := q.Scope(s, tt.named)
		if !slices.Equal(got, tt.want) || !isRefused(err, tt.refused) {
			t.Errorf("%s: got %v (%q), want %v (%q)", name, got, told(err), tt.want, tt.refused)
		}
	}
}

// TestCheckComments checks the limits of comments, in bytes, and what each has to say.
func TestCheckComments(t *testing.T) {
	t.Parallel()
	const change, remove, edit, question = workflow.CommentChange, workflow.CommentRemove, workflow.CommentEdit, workflow.CommentQuestion
	many := func(n int, c workflow.Comment) []workflow.Comment { return slices.Repeat([]workflow.Comment{c}, n) }
	for name, tt := range map[string]struct {
		comments []workflow.Comment
		want     string
	}{
		"of the whole":      {many(1, workflow.Comment{Kind: change, Text: "x"}), ""},
		"of the last line":  {many(1, workflow.Comment{Kind: change, Text: "x", From: 10, To: 10}), ""},
		"most":              {many(40, workflow.Comment{Kind: change, Text: "x"}), ""},
		"too many":          {many(41, workflow.Comment{Kind: change, Text: "x"}), "invalid_argument: there are 41 comments; at most 40 are accepted with one decision | join some of them"},
		"text at most":      {many(1, workflow.Comment{Kind: change, Text: bytesOf(500) + "  "}), ""},
		"text too long":     {many(1, workflow.Comment{ID: "c1", Kind: change, Text: bytesOf(501)}), "invalid_argument: comment c1 has 501 bytes; at most 500 "},
		"replace too long":  {many(1, workflow.Comment{Kind: edit, From: 1, Replace: bytesOf(501)}), "invalid_argument: comment 1 has 501 bytes; at most 500 "},
		"quote not text":    {many(1, workflow.Comment{Kind: change, Text: "x", Quote: "\xff"}), "invalid_argument: comment 1 is not valid UTF-8"},
		"together at most":  {many(16, workflow.Comment{Kind: change, Text: bytesOf(500), Quote: bytesOf(900)}), ""},
		"together too long": {append(many(16, workflow.Comment{Kind: change, Text: bytesOf(500)}), workflow.Comment{Kind: change, Text: "x"}), "invalid_argument: the comments have 8001 bytes together; at most 8000 "},
		"edits together":    {many(9, workflow.Comment{Kind: edit, From: 1, Text: bytesOf(400), Replace: bytesOf(500)}), "invalid_argument: the comments have 8100 bytes together"},
		"one id twice":      {many(2, workflow.Comment{ID: "a", Kind: change, Text: "x"}), `invalid_argument: two comments have the id "a" | give each an id of its own, or none`},
		"longest id":        {many(1, workflow.Comment{ID: strings.Repeat("a", 32), Kind: change, Text: "x"}), ""},
		"id too long":       {many(1, workflow.Comment{ID: strings.Repeat("a", 33), Kind: change, Text: "x"}), "invalid_argument: comment 1: its id has other characters than letters, digits, dots and hyphens, or too many | leave the id out"},
		"id of all letters": {many(1, workflow.Comment{ID: "azAZ09._-", Kind: change, Text: "x"}), ""},
		"other id":          {many(1, workflow.Comment{ID: "a b", Kind: change, Text: "x"}), "invalid_argument: comment 1: its id has other characters"},
		"behind the end":    {many(1, workflow.Comment{Kind: change, Text: "x", From: 1, To: 11}), "invalid_argument: comment 1: lines 1 to 11 are not in the document, which has 10 lines | count lines from 1"},
		"before the start":  {many(1, workflow.Comment{Kind: change, Text: "x", From: -1}), "invalid_argument: comment 1: lines -1 to -1 are not in the document"},
		"last line first":   {many(1, workflow.Comment{Kind: change, Text: "x", From: 3, To: 2}), "invalid_argument: comment 1: lines 3 to 2 are not in the document"},
		"removes nothing":   {many(1, workflow.Comment{Kind: remove}), "invalid_argument: comment 1: it does not say which lines it is for | name the lines, or use the kind change"},
		"removes a line":    {many(1, workflow.Comment{Kind: remove, From: 2}), ""},
		"edits nothing":     {many(1, workflow.Comment{Kind: edit, Replace: "x"}), "invalid_argument: comment 1: it does not say which lines it is for"},
		"edit without text": {many(1, workflow.Comment{Kind: edit, From: 2, Replace: " \r\n\t"}), "invalid_argument: comment 1: an edit needs the text to put there | put it into replace"},
		"edits a line":      {many(1, workflow.Comment{Kind: edit, From: 2, Replace: "x"}), ""},
		"text, not an edit": {many(1, workflow.Comment{Kind: change, Text: "x", Replace: "y"}), "invalid_argument: comment 1: it has a text to put there, and is not an edit | use the kind edit"},
		"unknown kind":      {many(1, workflow.Comment{Kind: "praise", Text: "x"}), `invalid_argument: comment 1: the kind "praise" is not known | use one of: change, question, remove, edit`},
		"nothing said":      {many(1, workflow.Comment{Kind: question, Text: " \n"}), "invalid_argument: comment 1: it is empty | say what to change"},
	} {
		if _, err := request.CheckComments(tt.comments, 10, codediff.Changes{}); !isRefused(err, tt.want) {
			t.Errorf("%s: got %q, want %q", name, told(err), tt.want)
		}
	}
	given := []workflow.Comment{{Kind: edit, From: 3, Text: " a\n", Replace: "  b \r\n", Quote: bytesOf(201)}}
	got, err := request.CheckComments(given, 3, codediff.Changes{})
	if want := (workflow.Comment{Kind: edit, From: 3, To: 3, Text: "a", Replace: "  b", Quote: strings.Repeat("字", 65) + "…"}); err != nil || fmt.Sprint(got[0]) != fmt.Sprint(want) {
		t.Errorf("recorded as %+v (%v), want %+v", got, err, want)
	}
	if given[0].To != 0 || given[0].Text != " a\n" {
		t.Errorf("the caller's comments were changed: %+v", given)
	}
}

// TestAnswers checks which answers are accepted, which count, and which are a person's word that they want to answer
// nothing.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answers  map[string]string
		skipRest bool
		want     string
	}{
		"one of two":      {map[string]string{"q1": "x"}, false, ""},
		"at most":         {map[string]string{"q1": bytesOf(8000)}, false, ""},
		"too long":        {map[string]string{"q1": bytesOf(8001)}, false, "invalid_argument: the answer to q1 has 8001 bytes; at most 8000 "},
		"not open":        {map[string]string{"q3": "x"}, false, `invalid_argument: question "q3" is not open | the open questions are: q1, q2`},
		"empty":           {map[string]string{"q1": " \n", "q2": "…"}, false, "invalid_argument: all answers are empty | pass the human's words for at least one of: q1, q2"},
		"none":            {nil, false, "invalid_argument: all answers are empty"},
		"none, they skip": {nil, true, ""},
		"not open, skip":  {map[string]string{"q3": "x"}, true, `invalid_argument: question "q3" is not open`},
	} {
		s := at(workflow.PO, workflow.Clarifying)
		s.Session.Current().Questions = []workflow.Question{{ID: "q1"}, {ID: "q2"}, {ID: "q3", Status: workflow.QuestionAnswered}}
		if err := request.CheckAnswers(s.Session, tt.answers, tt.skipRest); !isRefused(err, tt.want) {
			t.Errorf("%s: got %q, want %q", name, told(err), tt.want)
		}
	}
	got := request.Filled(map[string]string{"a": " x\n", "b": "…", "c": " ", "d": " … ", "e": "……"})
	if want := map[string]string{"a": "x", "e": "……"}; !maps.Equal(got, want) {
		t.Errorf("filled: got %q, want %q", got, want)
	}
	for answer, want := range map[string]bool{
		"skip": true, " Skip it. ": true, "SKIP THIS!": true, "skipped": true, `"skip"`: true, "“跳过”": true, "略过。": true, "跳过此问题！": true, "「跳过这个问题」": true,
		"": false, "skip the tests": false, "no": false, "pass": false,
	} {
		if got := request.Skips(workflow.Question{Options: []string{"pass"}}, answer); got != want {
			t.Errorf("%q skips: got %v, want %v", answer, got, want)
		}
		if request.Skips(workflow.Question{Options: []string{"x", " Skip ", "skip it", "skip this", "skipped", "跳过", "略过", "跳过此问题", "跳过这个问题"}}, answer) {
			t.Errorf("%q skips a question that offers it as an answer", answer)
		}
	}
}
