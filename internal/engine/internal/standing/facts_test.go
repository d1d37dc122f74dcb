package standing_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

func ptr(f float64) *float64 { return &f }

// met makes a document that asks one that has reached its gate.
func met(s *standing.Standing) {
	p := s.Policy
	s.Session.Current().ClaimedScore, s.Session.Current().Policy = ptr(95), &p
}

// TestBar checks whose yes counts, in the order of the reasons, and how many people more have to say it.
func TestBar(t *testing.T) {
	t.Parallel()
	yes := true
	eyes := func(s *standing.Standing) { s.Policy.FourEyes = &yes }
	approvers := func(s *standing.Standing) { s.Policy.Approvers = []string{"ann", "bob"} }
	two := func(s *standing.Standing) { s.Policy.Quorum = 2 }
	writes := func(who string) func(*standing.Standing) {
		return func(s *standing.Standing) {
			s.Session.History = []workflow.Transition{{Action: workflow.ActionSubmit, Event: workflow.EventPlanned, From: "sm/generating", Person: workflow.Person{Subject: who}}}
		}
	}
	gives := func(who string) func(*standing.Standing) {
		return func(s *standing.Standing) {
			s.Session.History = append(s.Session.History, workflow.Transition{Event: workflow.EventGranted, From: "sm/x", Grant: &workflow.Grant{Person: workflow.Person{Subject: who}, SHA256: "aa"}})
		}
	}
	type list = []func(*standing.Standing)
	for name, tt := range map[string]struct {
		me     string
		change list
		want   string // ruled, bar, missing
	}{
		"no rules":                {"", nil, fmt.Sprint(false, standing.NotBarred, 1)},
		"nobody known":            {"", list{approvers}, fmt.Sprint(true, standing.BarUnknown, 1)},
		"an approver":             {"bob", list{approvers}, fmt.Sprint(true, standing.NotBarred, 1)},
		"another":                 {"eve", list{approvers}, fmt.Sprint(true, standing.BarApprover, 1)},
		"nobody approves":         {"ann", list{func(s *standing.Standing) { s.Policy.Approvers = []string{} }}, fmt.Sprint(true, standing.BarApprover, 1)},
		"the writer":              {"ann", list{eyes, writes("ann")}, fmt.Sprint(true, standing.BarWriter, 1)},
		"the writer, unwatched":   {"ann", list{approvers, writes("ann")}, fmt.Sprint(true, standing.NotBarred, 1)},
		"another than the writer": {"bob", list{eyes, writes("ann")}, fmt.Sprint(true, standing.NotBarred, 1)},
		"no writer known":         {"bob", list{eyes, writes("")}, fmt.Sprint(true, standing.BarUnwritten, 1)},
		"no writer, unwatched":    {"bob", list{approvers, writes("")}, fmt.Sprint(true, standing.NotBarred, 1)},
		"an edited draft":         {"bob", list{eyes, writes("ann"), func(s *standing.Standing) { s.Draft.Edited = true }}, fmt.Sprint(true, standing.BarEdited, 1)},
		"two, the first":          {"bob", list{two}, fmt.Sprint(true, standing.NotBarred, 2)},
		"two, the same again":     {"bob", list{two, gives("bob")}, fmt.Sprint(true, standing.BarGiven, 1)},
		"two, another":            {"ann", list{two, gives("bob")}, fmt.Sprint(true, standing.NotBarred, 1)},
		"two, of one who may not": {"ann", list{two, approvers, gives("eve")}, fmt.Sprint(true, standing.NotBarred, 2)},
		"two, of the writer":      {"bob", list{two, eyes, writes("ann"), gives("ann")}, fmt.Sprint(true, standing.NotBarred, 2)},
		"two, of another":         {"cat", list{two, eyes, writes("ann"), gives("bob")}, fmt.Sprint(true, standing.NotBarred, 1)},
		"two, unwatched":          {"cat", list{two, writes("ann"), gives("ann")}, fmt.Sprint(true, standing.NotBarred, 1)},
		"two, of an earlier text": {"bob", list{two, gives("bob"), func(s *standing.Standing) { s.Draft.Edit = &standing.Edit{SHA256: "bb"} }}, fmt.Sprint(true, standing.NotBarred, 2)},
		"two, enough":             {"bob", list{two, gives("bob"), gives("ann")}, fmt.Sprint(true, standing.NotBarred, 0)},
		"one, given":              {"bob", list{approvers, gives("bob")}, fmt.Sprint(true, standing.NotBarred, 0)},
		"at work":                 {"", list{approvers, func(s *standing.Standing) { s.Session.CurrentState = workflow.Refining }}, fmt.Sprint(false, standing.NotBarred, 1)},
		"asks, and has reached it": {"", list{approvers, met, func(s *standing.Standing) {
			s.Session.CurrentState, s.Policy.GateScore = workflow.Clarifying, ptr(90)
			met(s)
		}}, fmt.Sprint(true, standing.BarUnknown, 1)},
		"blocked, a yes is nothing": {"", list{approvers, func(s *standing.Standing) {
			s.Stage.Gate, s.Session.Current().Verdict = workflow.GateVerdict, workflow.Blocked
		}}, fmt.Sprint(false, standing.NotBarred, 1)},
	} {
		s := at(workflow.SM, workflow.AwaitingApproval)
		s.Draft.SHA256, s.Call.Subject = "aa", tt.me
		for _, change := range tt.change {
			change(s)
		}
		if got := fmt.Sprint(s.Ruled(), s.Bar(), s.Missing()); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

// TestFacts checks the facts that decide what a call may do.
func TestFacts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		state workflow.State
		audit *workflow.Audit
		floor *float64
		met   bool
		want  bool
	}{
		"below": {workflow.AwaitingConfirmation, &workflow.Audit{Score: 59.9}, ptr(60), false, true}, "at it": {workflow.AwaitingConfirmation, &workflow.Audit{Score: 60}, ptr(60), false, false},
		"no audit": {workflow.AwaitingConfirmation, nil, ptr(60), false, false}, "no floor": {workflow.AwaitingConfirmation, &workflow.Audit{}, nil, false, false},
		"at work": {workflow.Refining, &workflow.Audit{}, ptr(60), false, false}, "asks": {workflow.Clarifying, &workflow.Audit{}, ptr(60), false, false}, "asks, met": {workflow.Clarifying, &workflow.Audit{}, ptr(60), true, true},
	} {
		s := at(workflow.PO, tt.state)
		s.Session.Current().Audit, s.Policy.AuditFloor = tt.audit, tt.floor
		if tt.met {
			met(s)
		}
		if got := s.BelowFloor(); got != tt.want {
			t.Errorf("below the floor, %s: %v", name, got)
		}
		place := s.Session.Place()
		if now := s.AtGate(); s.Met() != tt.met || tt.met && now.Session.CurrentState != workflow.AwaitingConfirmation || !tt.met && now != s || s.Session.Place() != place {
			t.Errorf("%s: met %v, at %s, and the run at %s", name, s.Met(), now.Session.Place(), s.Session.Place())
		}
	}
	altered := []workflow.Alteration{{}}
	changed := workflow.Verification{Status: workflow.ChainChanged}
	for name, tt := range map[string]struct {
		strict, trusting bool
		state            workflow.State
		altered          []workflow.Alteration
		integrity        workflow.Verification
		want             bool
	}{
		"altered": {true, true, workflow.Refining, altered, workflow.Verification{}, true}, "not strict": {false, true, workflow.Refining, altered, changed, false}, "not checked": {true, false, workflow.Refining, altered, workflow.Verification{}, false},
		"ended": {true, true, workflow.Completed, altered, workflow.Verification{}, false}, "as approved": {true, true, workflow.Refining, nil, workflow.Verification{}, false}, "changed": {true, false, workflow.Completed, nil, changed, true},
	} {
		s := at(workflow.PO, tt.state)
		s.Strict, s.Trusting, s.Altered, s.Integrity = tt.strict, tt.trusting, tt.altered, tt.integrity
		if got := s.Stopped(); got != tt.want {
			t.Errorf("stopped, %s: %v", name, got)
		}
	}
	for state, want := range map[workflow.State]workflow.Action{workflow.AwaitingConfirmation: "confirm", workflow.AwaitingApproval: "approve", workflow.Clarifying: "answer", workflow.Refining: "", workflow.Completed: ""} {
		if got := state.GateAction(); got != want {
			t.Errorf("%s: action %q, want %q", state, got, want)
		}
	}
	for action, want := range map[workflow.Action]string{workflow.ActionCancel: "true false", workflow.ActionReopen: "true false", workflow.ActionStatus: "false true", workflow.ActionResume: "false true", workflow.ActionSubmit: "false false"} {
		c := standing.Call{Action: action}
		if got := fmt.Sprint(c.Leaving(), " ", c.Describing()); got != want {
			t.Errorf("%s: leaving and describing are %s, want %s", action, got, want)
		}
	}
	s := at(workflow.PO, workflow.Refining)
	s.Session.TaskName, s.Tasks = "clock", "specs/clock/"
	if got := s.Handle() + " " + s.ArtifactPath(s.Stage) + " " + s.ArtifactPath(workflow.Stage{}) + " " + string(s.Builder()); got != "id specs/clock/01-product-requirements.md  dev" {
		t.Errorf("names: %s", got)
	}
	if s.Named = true; s.Handle() != "clock" {
		t.Errorf("by its name: %s", s.Handle())
	}
	s.Policy.Pause = workflow.PauseStages
	for state, want := range map[workflow.State]bool{workflow.Generating: true, workflow.Refining: true, workflow.Clarifying: false, workflow.AwaitingConfirmation: false} {
		if s.Session.CurrentState = state; s.Pauses() != want {
			t.Errorf("pauses at %s: %v", state, s.Pauses())
		}
	}
	if a, b := (standing.Draft{SHA256: "a"}).Now(), (standing.Draft{SHA256: "a", Edit: &standing.Edit{SHA256: "b"}}).Now(); a != "a" || b != "b" {
		t.Errorf("the draft now: %q, and edited %q", a, b)
	}
}

// TestPast checks the facts that the history tells.
func TestPast(t *testing.T) {
	t.Parallel()
	entry := func(event workflow.Event, action workflow.Action, from string, g *workflow.Grant) workflow.Transition {
		return workflow.Transition{Event: event, Action: action, From: from, Grant: g}
	}
	yes := &workflow.Grant{Decision: workflow.DecisionApprove}
	for name, tt := range map[string]struct {
		history []workflow.Transition
		want    string // unexplained, the entry of the decision on po, a submission since it went back
	}{
		"nothing":              {nil, "false 0 false"},
		"a no":                 {[]workflow.Transition{entry(workflow.EventChangesRequested, "confirm", "po/x", &workflow.Grant{Decision: workflow.DecisionChanges})}, "true 1 false"},
		"a no with words":      {[]workflow.Transition{{Event: workflow.EventChangesRequested, From: "po/x", Feedback: "shorter"}}, "false 0 false"},
		"a no with comments":   {[]workflow.Transition{entry(workflow.EventChangesRequested, "confirm", "po/x", &workflow.Grant{Comments: []workflow.Comment{{}}})}, "false 1 false"},
		"reopened":             {[]workflow.Transition{entry(workflow.EventReopened, "reopen", "qa/x", nil)}, "true 0 false"},
		"then adopted":         {[]workflow.Transition{entry(workflow.EventReopened, "reopen", "qa/x", nil), entry(workflow.EventAdopted, "adopt", "po/x", yes)}, "true 0 false"},
		"then submitted":       {[]workflow.Transition{entry(workflow.EventReopened, "reopen", "qa/x", nil), entry(workflow.EventScoredReady, "submit", "po/x", nil)}, "false 0 true"},
		"submitted, sent back": {[]workflow.Transition{entry(workflow.EventScoredReady, "submit", "po/x", nil), entry(workflow.EventSentBack, "approve", "qa/x", nil)}, "false 0 false"},
		"of another stage":     {[]workflow.Transition{entry(workflow.EventFailed, "submit", "qa/x", nil)}, "false 0 false"},
		"the latest":           {[]workflow.Transition{entry(workflow.EventConfirmed, "confirm", "po/x", yes), entry(workflow.EventConfirmed, "confirm", "po/x", yes), entry(workflow.EventApproved, "approve", "sm/x", yes)}, "false 2 false"},
		"an answer":            {[]workflow.Transition{entry(workflow.EventAnswered, "answer", "po/x", &workflow.Grant{Decision: workflow.DecisionAnswer})}, "false 0 false"},
		"one of several":       {[]workflow.Transition{entry(workflow.EventGranted, "confirm", "po/x", yes)}, "false 0 false"},
	} {
		s := at(workflow.PO, workflow.Refining)
		s.Session.History = tt.history
		n, g := s.Grant(workflow.PO)
		if got := fmt.Sprint(s.Unexplained(), n, s.SubmittedSince(workflow.PO)); got != tt.want || (g != nil) != (n > 0) {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	s := at(workflow.QA, workflow.Refining)
	round := func(n int, e workflow.Event, from string) workflow.Transition {
		return workflow.Transition{Action: workflow.ActionSubmit, Event: e, From: from, Iteration: n}
	}
	s.Session.History = []workflow.Transition{round(1, workflow.EventFailed, "qa/x"), round(2, workflow.EventReturned, "qa/x"), round(3, workflow.EventExhausted, "qa/x"), round(4, workflow.EventFailed, "review/x")}
	s.Criteria = &verdict.Criteria{All: []verdict.Criterion{{ID: "AC-1", Owed: true}, {ID: "AC-2"}}}
	s.Policy.Proved = workflow.ProvedSome
	if c := s.Contract(); c.Round != 1 || c.Owes != workflow.OwesCriteria || c.Proved != workflow.ProvedSome || c.Criteria != s.Criteria {
		t.Errorf("contract %+v", c)
	}
	if got := s.Owed(); !slices.Equal(got, []string{"AC-1"}) {
		t.Errorf("owed: %v", got)
	}
	if s.Session.CurrentState = workflow.AwaitingApproval; s.Owed() != nil {
		t.Errorf("owed at a gate: %v", s.Owed())
	}
	review := at(workflow.Review, workflow.Generating)
	review.Criteria = s.Criteria
	if review.Owed() != nil {
		t.Error("a review that owes findings owes rows")
	}
	dev := at(workflow.Dev, workflow.Refining)
	dev.Session.Sprints = []workflow.Sprint{{Number: 1, Status: workflow.SprintDone}, {Number: 2, Status: workflow.SprintPending}}
	dev.Session.History = []workflow.Transition{entry(workflow.EventReopened, "reopen", "qa/x", nil)}
	if got := fmt.Sprint(dev.Unbuilt(), dev.Continuing(), dev.AsksScope(), s.AsksScope()); got != "[2] true true false" {
		t.Errorf("a build that goes on: %s", got)
	}
	if dev.Session.Sprints[0].Status = workflow.SprintImplemented; dev.Continuing() {
		t.Error("a build whose work is judged does not go on")
	}
	if dev.Session.Sprints = nil; dev.Continuing() {
		t.Error("a build without sprints does not go on")
	}
	if got := standing.Compare("# A\n\nx\n\n# A\n\ny\n", "# A\n\nx\n\n# A\n\nz\n"); !slices.Equal(got.Sections, []string{"A"}) {
		t.Errorf("a title that stands there twice: %v", got.Sections)
	}
	old := at(workflow.PO, workflow.Refining)
	old.SessionFile = "s.json"
	if old.Waiting() != nil {
		t.Error("nothing waits")
	}
	old.Session.Current().Extra = workflow.Extra{"draft": []byte(`"abc"`)}
	if doc := old.Waiting(); doc == nil || *doc != (standing.Document{Stage: workflow.PO, Path: "s.json", Size: 3}) {
		t.Errorf("an older draft: %+v", doc)
	}
}

// TestDocumentOfAReopenedStage checks from which text a round starts, and when it is out of date.
func TestDocumentOfAReopenedStage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		state    workflow.State
		stale    bool
		modified bool // the artifact, on disk
		edited   bool // the draft
		ref      bool
		want     string // path, stale, modified
	}{
		"stale, not begun":        {workflow.Generating, true, false, false, true, "work.md true false"},
		"stale, begun":            {workflow.Refining, true, false, false, true, "work.md false false"},
		"up to date":              {workflow.Generating, false, false, false, true, "work.md false false"},
		"edited artifact":         {workflow.Refining, true, true, false, true, "saved.md true true"},
		"edited artifact, draft":  {workflow.Refining, true, true, true, true, "work.md false true"},
		"edited draft":            {workflow.Refining, false, false, true, true, "work.md false true"},
		"artifact alone":          {workflow.Generating, true, false, false, false, "saved.md true false"},
		"artifact alone, at gate": {workflow.AwaitingConfirmation, false, true, false, false, "saved.md false true"},
	} {
		s := at(workflow.PO, tt.state)
		s.Draft = standing.Draft{Path: "work.md", Edited: tt.edited}
		s.Saved = map[string]standing.File{"saved.md": {Modified: tt.modified}}
		s.Session.Current().Artifact = &workflow.Artifact{Path: "saved.md", Stale: tt.stale}
		s.Session.History = []workflow.Transition{{Event: workflow.EventReopened}}
		if tt.ref {
			s.Session.Current().FinalResultRef = &workflow.ContentRef{FilePath: "round.md"}
		}
		doc := s.Document(s.Stage)
		if got := fmt.Sprint(doc.Path, " ", doc.Stale, " ", doc.Modified); got != tt.want {
			t.Errorf("%s: got %+v, want %s", name, *doc, tt.want)
		}
	}
}

// TestEditedRoute checks that a yes to an edited draft comes by a way that shows which text the person has read.
func TestEditedRoute(t *testing.T) {
	t.Parallel()
	form := standing.Call{Asks: true, Forms: true}
	for name, tt := range map[string]struct {
		mode workflow.GateMode
		call standing.Call
		want standing.Route
	}{
		"a form":            {workflow.GateAuto, form, standing.ByForm},
		"a form, relay":     {workflow.GateRelay, form, standing.ByOwnAct},
		"no form":           {workflow.GateAuto, standing.Call{}, standing.ByOwnAct},
		"no form, relay":    {workflow.GateRelay, standing.Call{}, standing.ByOwnAct},
		"an unseen form":    {workflow.GateAuto, standing.Call{Asks: true, Forms: true, NoForms: true}, standing.ByOwnAct},
		"a host that asks":  {workflow.GateAuto, standing.Call{HostConfirm: true}, standing.ByOwnAct},
		"a form was closed": {workflow.GateAuto, standing.Call{Asks: true, Forms: true, Withheld: true}, standing.ByFormAgain},
	} {
		s := at(workflow.PO, workflow.AwaitingConfirmation)
		s.Policy.Gate, s.Call, s.Draft.Edited, s.Draft.Edit = tt.mode, tt.call, true, &standing.Edit{}
		if got := s.Route(); got != tt.want {
			t.Errorf("%s: got route %d, want %d", name, got, tt.want)
		}
	}
	s := at(workflow.PO, workflow.Clarifying)
	if met(s); !s.Met() {
		t.Error("a gate that is reached is not met")
	}
	if s.Policy.GateScore = ptr(96); s.Met() {
		t.Error("a gate that was tightened since is met")
	}
	for severity, want := range map[string]bool{"critical": true, "major": false, "": false} {
		s := at(workflow.Review, workflow.AwaitingApproval)
		s.Session.Current().Verdict, s.Session.Current().Findings = workflow.Fail, []workflow.Finding{{Severity: severity}, {Severity: "critical", Status: "fixed"}}
		if s.AcceptsCritical() != want || s.NeedsReason() != want {
			t.Errorf("a finding that is %q: accepts a critical one %v, needs a reason %v", severity, s.AcceptsCritical(), s.NeedsReason())
		}
	}
}
