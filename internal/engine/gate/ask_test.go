package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestApprovals checks the choices that a status names, and the call about which a host asks the person.
func TestApprovals(t *testing.T) {
	t.Parallel()
	const yes = `decision approve, feedback <nil>`
	const ask = `decision ask the human: approve or request_changes, feedback their words`
	for name, tt := range map[string]struct {
		stage   workflow.StageID
		state   workflow.State
		verdict workflow.Verdict
		rework  int
		barred  bool
		want    string
	}{
		"confirm":          {workflow.PO, workflow.AwaitingConfirmation, "", 0, false, "[confirm reject] " + yes},
		"barred":           {workflow.PO, workflow.AwaitingConfirmation, "", 0, true, "[reject] " + yes},
		"plan":             {workflow.SM, workflow.AwaitingApproval, "", 0, false, "[approve reject] " + yes},
		"plan, barred":     {workflow.SM, workflow.AwaitingApproval, "", 0, true, "[reject] " + yes},
		"spent, first":     {workflow.PO, workflow.AwaitingApproval, "", 0, false, "[go_on accept_below_gate cancel] " + ask},
		"spent, later":     {workflow.Architect, workflow.AwaitingApproval, "", 0, false, "[go_on accept_below_gate reopen cancel] " + ask},
		"spent, barred":    {workflow.PO, workflow.AwaitingApproval, "", 0, true, "[go_on cancel] " + ask},
		"blocked":          {workflow.QA, workflow.AwaitingApproval, workflow.Blocked, 0, false, "[unblock go_on_without_it cancel] " + ask},
		"no failed work":   {workflow.QA, workflow.AwaitingApproval, "", 0, false, "[accept_risk ask_again] " + ask},
		"failed":           {workflow.QA, workflow.AwaitingApproval, workflow.Fail, 1, false, "[accept_risk send_back_to_dev] " + ask},
		"failed too often": {workflow.QA, workflow.AwaitingApproval, workflow.Fail, 2, false, "[accept_risk cancel send_back_to_dev reopen] " + ask},
		"failed, barred":   {workflow.QA, workflow.AwaitingApproval, workflow.Fail, 1, true, "[send_back_to_dev] " + ask},
	} {
		s := at(tt.stage, tt.state)
		s.Session.Current().Verdict, s.Session.ReworkCount = tt.verdict, tt.rework
		if tt.barred {
			s.Policy.Approvers = []string{"ann"}
		}
		call := gate.ConfirmCall(s)
		if got := fmt.Sprintf("%v decision %v, feedback %v", gate.Approvals(s), call["decision"], call["feedback"]); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
		if got := fmt.Sprint(call["tool"], call["session_id"], call["stage"], call["sha256"]); got != "confirm-tool"+"id"+string(tt.stage)+"aa" {
			t.Errorf("%s: the call is %v", name, call)
		}
		if choices := gate.Choices(s); tt.barred != (len(choices) == 1) || tt.barred && choices[0].Decision != workflow.DecisionChanges {
			t.Errorf("%s: choices %+v", name, choices)
		}
	}
	for rounds, want := range map[int]bool{1: false, 2: true, 3: true} {
		s := at(workflow.PO, workflow.Refining) // of three
		s.Session.History = nil
		for range rounds {
			s.Session.History = append(s.Session.History, workflow.Transition{Action: workflow.ActionSubmit, Event: workflow.EventScoredBelow})
		}
		if got := gate.Exhausted(s); got != want {
			t.Errorf("after %d rounds the next one is the last: got %v, want %v", rounds, got, want)
		}
	}
}

// TestAsk checks the questions to a person: which gate the answer is good for, and what can be chosen.
func TestAsk(t *testing.T) {
	t.Parallel()
	said := func(q gate.Question) string {
		choices := make([]string, len(q.Choices))
		for i, c := range q.Choices {
			choices[i] = c.Value() + ": " + c.Label + " [" + c.Words + "]"
		}
		return fmt.Sprintf("%s %s %s %s %s %d | %s | %d questions | %v", q.Action, q.Stage, q.Target, q.SHA256, q.Draft, q.Size, strings.Join(choices, ", "), len(q.Questions), q.Barred != nil)
	}
	asked := func(change func(s *standing.Standing)) *standing.Standing {
		s := at(workflow.PO, workflow.Clarifying)
		s.Session.Current().Questions = []workflow.Question{{ID: "q1"}, {ID: "q2", Status: workflow.QuestionSkipped}}
		change(s)
		return s
	}
	met := func(s *standing.Standing) {
		p := s.Policy
		s.Session.Current().ClaimedScore, s.Session.Current().Policy = ptr(95), &p
	}
	gated := at(workflow.PO, workflow.AwaitingConfirmation)
	gated.Session.Current().FinalResultRef = &workflow.ContentRef{FilePath: "r.md"}
	gated.Draft.Size = 9
	leaving := at(workflow.SM, workflow.Generating)
	leaving.Call = standing.Call{Action: workflow.ActionReopen, Stage: "po", Forms: true}
	cancel := at(workflow.SM, workflow.Generating)
	cancel.Call.Action = workflow.ActionCancel
	for name, tt := range map[string]struct{ got, want string }{
		"a gate":               {said(gate.Ask(gated)), "confirm po  aa work.md 9 | approve: Approve: save it and go on [], request_changes: Request changes, and say which [What is to change?] | 0 questions | false"},
		"questions":            {said(gate.AskQuestions(asked(func(*standing.Standing) {}))), "answer po    0 |  | 1 questions | false"},
		"questions, met":       {said(gate.AskQuestions(asked(met))), "answer po  aa  0 | approve: Approve the draft as it is, without answers [] | 1 questions | false"},
		"questions, barred":    {said(gate.AskQuestions(asked(func(s *standing.Standing) { met(s); s.Policy.Approvers = []string{"ann"} }))), "answer po    0 |  | 1 questions | true"},
		"a reopen":             {said(gate.Leave(leaving, workflow.DecisionReopen, words.ReopenLabel("po"), "")), "reopen sm po   0 | reopen: Reopen po [What is to change?] | 0 questions | false"},
		"a reopen with words":  {said(gate.Leave(leaving, workflow.DecisionReopen, words.ReopenLabel("po"), "because")), "reopen sm po   0 | reopen: Reopen po [] | 0 questions | false"},
		"its words":            {gate.Leave(leaving, workflow.DecisionReopen, words.ReopenLabel("po"), "because").Text, "Its words: “because”\nGoal: Build a clock\nIt has no heading of the form ## Sprint 1: title, so it counts as one piece of work."},
		"a cancel":             {said(gate.Leave(cancel, workflow.DecisionCancel, words.CancelLabel, "")), "cancel sm    0 | cancel: Cancel this run [] | 0 questions | false"},
		"a cancel in person":   {gate.Leave(cancel, workflow.DecisionCancel, words.CancelLabel, "because").Text, "Goal: Build a clock\nIt has no heading of the form ## Sprint 1: title, so it counts as one piece of work."},
		"an override's value":  {gate.Choice{Decision: workflow.DecisionOverride}.Value(), "approve"},
		"a no":                 {string(gate.Word{No: true}.Decision()), "request_changes"},
		"a yes":                {string(gate.Word{Given: true}.Decision()), "approve"},
		"a silence":            {(&gate.Silence{Why: lang.T("closed")}).Error(), "no decision was taken: closed"},
		"the line of a draft":  {gate.Ask(gated).DraftLine(), "Draft: work.md (9 bytes)"},
		"edited, by its value": {fmt.Sprint(gate.Ask(gated).Edited), "false"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, tt.got, tt.want)
		}
	}
}

// TestBarredYes checks that a yes of one who may not give it is refused before anyone is asked, and a no is not.
func TestBarredYes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		approvers []string
		word      gate.Word
		want      string
	}{
		"a yes":            {[]string{"ann"}, gate.Word{Given: true}, "gate_pending: nothing shows on whose behalf this yes is"},
		"a no":             {[]string{"ann"}, gate.Word{Given: true, No: true}, ""},
		"nothing is given": {[]string{"ann"}, gate.Word{}, ""},
		"anybody's yes":    {nil, gate.Word{Given: true}, ""},
	} {
		s := at(workflow.SM, workflow.AwaitingApproval)
		s.Policy.Approvers = tt.approvers
		if err := gate.Decidable(s, tt.word); !isRefused(err, tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
		_, err := gate.Granted(s, workflow.Grant{Decision: tt.word.Decision()})
		if want := len(tt.approvers) > 0 && !tt.word.No; (err != nil) != want {
			t.Errorf("%s is granted: %v", name, err)
		}
	}
	for name, tt := range map[string]struct {
		edited  bool
		verdict workflow.Verdict
		word    gate.Word
		want    string
	}{
		"an edited draft":     {true, workflow.Fail, gate.Word{Given: true, Via: workflow.ChannelRelayed}, "conflict: was changed after it was scored"},
		"a no to it":          {true, workflow.Fail, gate.Word{Given: true, No: true, Via: workflow.ChannelRelayed}, ""},
		"of a blocked stage":  {true, workflow.Blocked, gate.Word{Given: true, Via: workflow.ChannelRelayed}, ""},
		"a draft as it was":   {false, workflow.Fail, gate.Word{Given: true, Via: workflow.ChannelRelayed}, ""},
		"nothing at a review": {false, workflow.Fail, gate.Word{Via: workflow.ChannelRelayed}, "invalid_argument: approve needs approved: true or false"},
	} {
		s := at(workflow.Review, workflow.AwaitingApproval)
		s.Draft.Edited, s.Session.Current().Verdict, s.Call.Action = tt.edited, tt.verdict, workflow.ActionApprove
		if err := gate.OwnWord(s, tt.word, lang.Text{}); !isRefused(err, tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
	spent := at(workflow.PO, workflow.AwaitingApproval) // a score gate that was not reached asks for no score once more
	spent.Session.Current().Score = ptr(10)
	if err := gate.Opens(spent); err != nil {
		t.Errorf("the rounds are spent: %v", err)
	}
}
