package gate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
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
		Draft: standing.Draft{Path: "work.md", SHA256: "aa"}, Names: standing.Names{Confirm: "confirm-tool", Program: "program"},
	}
}

func ptr(f float64) *float64 { return &f }

// isRefused reports whether an error is as wanted: none for "", else one of that code and words.
func isRefused(err error, want string) bool {
	if err == nil || want == "" {
		return err == nil && want == ""
	}
	code, words, _ := strings.Cut(want, ": ")
	return fault.Is(err, fault.Code(code)) && strings.Contains(err.Error(), words)
}

// TestOpens checks that a score gate that was tightened stays shut.
func TestOpens(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		score   float64
		gate    float64
		scoring workflow.ScoringMode
		audit   *workflow.Audit
		want    string
	}{
		"reached":             {95, 95, workflow.ScoringClaimed, nil, ""},
		"tightened":           {95, 96, workflow.ScoringClaimed, nil, "gate_pending: the stated score is 95 and the gate now needs 96"},
		"audited, none there": {95, 95, workflow.ScoringAudited, nil, "gate_pending: the gate asks for an audit now"},
		"audited, too low":    {95, 95, workflow.ScoringAudited, &workflow.Audit{Score: 94.5}, "gate_pending: our check gives form 94.5, and the gate now needs 95"},
		"audited, reached":    {95, 95, workflow.ScoringAudited, &workflow.Audit{Score: 95}, ""},
	} {
		s := at(workflow.PO, workflow.AwaitingConfirmation)
		s.Policy.GateScore, s.Policy.Scoring = &tt.gate, tt.scoring
		s.Session.Current().Score, s.Session.Current().Audit = &tt.score, tt.audit
		if err := gate.Opens(s); !isRefused(err, tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// TestDecidable checks that nobody is asked about a draft that is not the one that was scored, and
// a no is always possible.
func TestDecidable(t *testing.T) {
	t.Parallel()
	edited := standing.Draft{SHA256: "aa", Edited: true, Edit: &standing.Edit{SHA256: "cc"}}
	for name, tt := range map[string]struct {
		draft standing.Draft
		word  gate.Word
		want  string
	}{
		"as it was scored":  {standing.Draft{SHA256: "aa"}, gate.Word{Draft: "AA"}, ""},
		"for another draft": {standing.Draft{SHA256: "aa"}, gate.Word{Draft: "bb"}, "conflict: not the one this decision is for (sha256 bb)"},
		"a no for another":  {standing.Draft{SHA256: "aa"}, gate.Word{Draft: "bb", No: true}, "conflict: not the one this decision is for"},
		"edited":            {standing.Draft{SHA256: "aa", Edited: true}, gate.Word{}, "conflict: was changed after it was scored"},
		"edited, asked":     {edited, gate.Word{Draft: "cc"}, ""},
		"edited, as scored": {edited, gate.Word{Draft: "aa"}, "conflict: not the one this decision is for (sha256 aa)"},
		"edited, relayed":   {edited, gate.Word{Via: workflow.ChannelScript}, "conflict: was changed after it was scored"},
		"a no to an edit":   {edited, gate.Word{No: true, Draft: "cc"}, ""},
		"a no to what was":  {edited, gate.Word{No: true, Draft: "aa"}, ""},
		"missing":           {standing.Draft{SHA256: "aa", Missing: true}, gate.Word{}, "storage: is missing on disk"},
		"a no to no draft":  {standing.Draft{SHA256: "aa", Missing: true}, gate.Word{No: true}, ""},
	} {
		s := at(workflow.PO, workflow.AwaitingConfirmation)
		s.Draft = tt.draft
		s.Policy.Gate, s.Call.Asks = workflow.GateRelay, tt.draft.Edit != nil
		err := gate.Decidable(s, tt.word)
		if !isRefused(err, tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// TestAsks checks that the person is asked wherever the call's own word does not count, or is a
// yes.
func TestAsks(t *testing.T) {
	t.Parallel()
	relayed := workflow.ChannelRelayed
	for name, tt := range map[string]struct {
		mode workflow.GateMode
		asks bool
		word gate.Word
		want bool
	}{
		"nobody to ask":       {workflow.GateStrict, false, gate.Word{}, false},
		"no word of its own":  {workflow.GateRelay, true, gate.Word{}, true},
		"a relayed yes":       {workflow.GateAuto, true, gate.Word{Via: relayed, Given: true}, true},
		"a relayed no":        {workflow.GateAuto, true, gate.Word{Via: relayed, Given: true, No: true}, false},
		"relay takes the yes": {workflow.GateRelay, true, gate.Word{Via: relayed, Given: true}, false},
		"strict takes no no":  {workflow.GateStrict, true, gate.Word{Via: relayed, Given: true, No: true}, true},
	} {
		s := at(workflow.PO, workflow.AwaitingConfirmation)
		s.Policy.Gate, s.Call.Asks = tt.mode, tt.asks
		if got := gate.Asks(s, tt.word); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
	blocked := at(workflow.Review, workflow.AwaitingApproval)
	blocked.Session.Current().Verdict, blocked.Policy.Gate, blocked.Call.Asks = workflow.Blocked, workflow.GateAuto, true
	if !gate.Asks(blocked, gate.Word{Via: relayed, Given: true, No: true}) {
		t.Error("a relayed no lets blocked work go on without the person")
	}
}

// TestOwnWord checks that under strict no program's word counts, and a host's question is worth
// more than the assistant's word.
func TestOwnWord(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode   workflow.GateMode
		call   standing.Call
		word   gate.Word
		want   string
		hint   string
		called bool
	}{
		"auto":                {workflow.GateAuto, standing.Call{}, gate.Word{Via: workflow.ChannelRelayed}, "", "", false},
		"strict":              {workflow.GateStrict, standing.Call{}, gate.Word{Via: workflow.ChannelRelayed}, "gate_pending: this call is the assistant's; nobody saw it", "program decide clock", false},
		"strict, a script":    {workflow.GateStrict, standing.Call{}, gate.Word{Via: workflow.ChannelScript}, "gate_pending: this call is a script's", "program decide clock", false},
		"strict, in person":   {workflow.GateStrict, standing.Call{}, gate.Word{Via: workflow.ChannelTerminal}, "", "", false},
		"strict, a browser":   {workflow.GateStrict, standing.Call{}, gate.Word{Via: workflow.ChannelBrowser}, "", "", false},
		"strict, a passkey":   {workflow.GateStrict, standing.Call{}, gate.Word{Via: workflow.ChannelPasskey}, "", "", false},
		"the host asks":       {workflow.GateAuto, standing.Call{HostConfirm: true}, gate.Word{Via: workflow.ChannelRelayed}, "gate_pending: each call of confirm-tool", "call confirm-tool", true},
		"the host, a no":      {workflow.GateAuto, standing.Call{HostConfirm: true}, gate.Word{Via: workflow.ChannelRelayed, No: true}, "", "", false},
		"the host, relay":     {workflow.GateRelay, standing.Call{HostConfirm: true}, gate.Word{Via: workflow.ChannelRelayed}, "", "", false},
		"approve without one": {workflow.GateAuto, standing.Call{Action: workflow.ActionApprove}, gate.Word{Via: workflow.ChannelRelayed}, "invalid_argument: approve needs approved", "", false},
	} {
		s := at(workflow.PO, workflow.AwaitingConfirmation)
		s.Policy.Gate, s.Call = tt.mode, tt.call
		err := gate.OwnWord(s, tt.word, lang.T("nobody saw it"))
		if !isRefused(err, tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
			continue
		}
		if err == nil {
			continue
		}
		f := fault.From(err)
		if !strings.Contains(f.Hint, tt.hint) || (f.NextCall["tool"] == "confirm-tool") != tt.called {
			t.Errorf("%s: got hint %q and next call %v, want %q and the host's tool %v", name, f.Hint, f.NextCall, tt.hint, tt.called)
		}
	}
}

// TestGranted checks that work that the gate has not let through is an override, and needs words if
// the ordinary rounds have not led there.
func TestGranted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stage    workflow.StageID
		verdict  workflow.Verdict
		rework   int
		decision workflow.Decision
		words    string
		want     workflow.Decision
		refused  string
	}{
		"a plan":                   {stage: workflow.SM, decision: workflow.DecisionApprove, want: workflow.DecisionApprove},
		"failed work goes on":      {stage: workflow.Review, verdict: workflow.Fail, decision: workflow.DecisionApprove, want: workflow.DecisionOverride},
		"failed work goes back":    {stage: workflow.Review, verdict: workflow.Fail, rework: 2, decision: workflow.DecisionChanges, want: workflow.DecisionChanges},
		"rework spent, no reason":  {stage: workflow.Review, verdict: workflow.Fail, rework: 2, decision: workflow.DecisionApprove, words: " ", refused: "invalid_argument: accepting this needs the human's reason"},
		"rework spent, a reason":   {stage: workflow.Review, verdict: workflow.Fail, rework: 2, decision: workflow.DecisionApprove, words: "we ship", want: workflow.DecisionOverride},
		"below the gate, no words": {stage: workflow.PO, decision: workflow.DecisionApprove, refused: "invalid_argument: accepting this needs"},
		"blocked, a bare no":       {stage: workflow.Review, verdict: workflow.Blocked, decision: workflow.DecisionChanges, refused: "invalid_argument: it was blocked"},
		"blocked, with words":      {stage: workflow.Review, verdict: workflow.Blocked, decision: workflow.DecisionApprove, words: "the key is there", want: workflow.DecisionApprove},
	} {
		s := at(tt.stage, workflow.AwaitingApproval)
		s.Session.Current().Verdict, s.Session.ReworkCount = tt.verdict, tt.rework
		g, err := gate.Granted(s, workflow.Grant{Decision: tt.decision, Feedback: tt.words})
		if !isRefused(err, tt.refused) || err == nil && g.Decision != tt.want {
			t.Errorf("%s: got %s, %v; want %s, %q", name, g.Decision, err, tt.want, tt.refused)
		}
	}
}

// TestChoices checks that the choice that lets failed work go on is not the first one.
func TestChoices(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stage   workflow.StageID
		state   workflow.State
		verdict workflow.Verdict
		rework  int
		want    string
	}{
		"score":        {workflow.PO, workflow.AwaitingConfirmation, "", 0, "approve: Approve: save it and go on | request_changes: Request changes, and say which [What is to change?]"},
		"rounds spent": {workflow.PO, workflow.AwaitingApproval, "", 0, "request_changes: More rounds, and say what to change [What is to change?] | override!: Accept it below the gate, and say why [Why do you accept it? Your reason is recorded.]"},
		"failed":       {workflow.QA, workflow.AwaitingApproval, workflow.Fail, 0, "request_changes: Send it back to the developer | override: Accept the risk and go on"},
		"rework spent": {workflow.QA, workflow.AwaitingApproval, workflow.Fail, 2, "request_changes: Send it back to the developer | override!: Accept the risk, and say why [Why do you accept it? Your reason is recorded.]"},
		"blocked":      {workflow.QA, workflow.AwaitingApproval, workflow.Blocked, 0, "request_changes!: Go on without it, and say how [How does it go on without that?] | approve!: It can go on, and say what you did [What did you do or decide?]"},
	} {
		s := at(tt.stage, tt.state)
		s.Session.Current().Verdict, s.Session.ReworkCount = tt.verdict, tt.rework
		var parts []string
		for _, c := range gate.Choices(s) {
			mark := ""
			if c.Reason {
				mark = "!"
			}
			if c.Words != "" {
				c.Label += " [" + c.Words + "]"
			}
			parts = append(parts, string(c.Decision)+mark+": "+c.Label)
		}
		if got := strings.Join(parts, " | "); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestLeavingPolicy checks that a strict gate that was passed stays strict for those who would undo
// it.
func TestLeavingPolicy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		at, strict workflow.StageID
		want       workflow.GateMode
	}{
		{workflow.PO, workflow.PO, workflow.GateStrict},
		{workflow.SM, workflow.PO, workflow.GateStrict},
		{workflow.PO, workflow.SM, workflow.GateAuto},
		{workflow.QA, workflow.Dev, workflow.GateAuto}, // which has no gate
	} {
		s := at(tt.at, workflow.Generating)
		s.Workflow = s.Workflow.Clone()
		s.Workflow.Stages[s.Workflow.Index(tt.strict)].Rules.Gate = workflow.GateStrict
		st, _ := s.Workflow.Stage(tt.at)
		s.Policy = st.Policy()
		if got := gate.LeavingPolicy(s); got != tt.want {
			t.Errorf("at %s with %s strict: got %s, want %s", tt.at, tt.strict, got, tt.want)
		}
	}
}

// TestAllowed checks that only actions are offered that would be accepted.
func TestAllowed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode    workflow.GateMode
		asks    bool
		edited  bool
		stopped bool
		want    []workflow.Action
	}{
		"a gate":            {mode: workflow.GateAuto, want: []workflow.Action{"confirm", "status", "resume", "reopen", "cancel"}},
		"an edited draft":   {mode: workflow.GateAuto, edited: true, want: []workflow.Action{"confirm", "status", "resume", "reopen", "cancel"}},
		"strict":            {mode: workflow.GateStrict, want: []workflow.Action{"status", "resume"}},
		"strict, in person": {mode: workflow.GateStrict, asks: true, want: []workflow.Action{"confirm", "status", "resume", "reopen", "cancel"}},
		"changed by others": {mode: workflow.GateAuto, stopped: true, edited: true, want: []workflow.Action{"status", "resume"}},
	} {
		s := at(workflow.Architect, workflow.AwaitingConfirmation)
		s.Policy.Gate, s.Call.Asks, s.Draft.Edited, s.Strict = tt.mode, tt.asks, tt.edited, tt.stopped
		s.Integrity.Status = workflow.ChainChanged
		s.Policy.GateScore = ptr(95)
		if got := gate.Allowed(s); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

// TestBindFollowsTheDraft checks that an answer is for one draft of one revision.
func TestBindFollowsTheDraft(t *testing.T) {
	t.Parallel()
	s := at(workflow.PO, workflow.AwaitingConfirmation)
	s.Session.Revision = 7
	want := gate.Bound{SessionID: "id", Stage: workflow.PO, Revision: 7, SHA256: "aa", Action: workflow.ActionConfirm}
	if got := gate.Bind(s); got != want {
		t.Errorf("at a gate: got %+v, want %+v", got, want)
	}
	s.Session.CurrentState, want.SHA256, want.Action = workflow.Clarifying, "", workflow.ActionAnswer
	if got := gate.Bind(s); got != want {
		t.Errorf("with questions: got %+v, want %+v", got, want)
	}
}

// TestCommentsAsWords checks that comments ask for something, so that a no or a blocked stage needs
// no other words; they are no reason to accept a risk.
func TestCommentsAsWords(t *testing.T) {
	t.Parallel()
	comments := []workflow.Comment{{ID: "c1", Kind: workflow.CommentChange, Text: "the key is in the vault"}}
	for name, tt := range map[string]struct {
		verdict  workflow.Verdict
		decision workflow.Decision
		feedback string
		needs    bool
	}{
		"blocked, a no":   {workflow.Blocked, workflow.DecisionChanges, "", false},
		"blocked, a yes":  {workflow.Blocked, workflow.DecisionApprove, "", false},
		"failed, a no":    {workflow.Fail, workflow.DecisionChanges, "", false},
		"failed, a yes":   {workflow.Fail, workflow.DecisionApprove, "", true},
		"failed, a cause": {workflow.Fail, workflow.DecisionApprove, "we ship", false},
	} {
		s := at(workflow.Review, workflow.AwaitingApproval)
		s.Session.Current().Verdict, s.Session.ReworkCount = tt.verdict, 2
		if got := !gate.NeedsWords(s, tt.decision, tt.feedback, comments).Empty(); got != tt.needs {
			t.Errorf("%s: needs words %v, want %v", name, got, tt.needs)
		}
	}
}
