package reply_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

// at returns the standing of a session of a workflow of six stages at a stage and state, with a round that waits.
func at(stage workflow.StageID, state workflow.State, change ...func(*standing.Standing)) *standing.Standing {
	w := workflowtest.Six()
	session := w.NewSession("id", "Build a clock", "/p", "test", time.Time{})
	session.TaskName, session.CurrentStage, session.CurrentState, session.Revision = "clock", stage, state, 7
	session.Current().FinalResultRef = &workflow.ContentRef{FilePath: "round.md", Summary: strings.Repeat("字", 60), Size: 9, SHA256: "rr"}
	st, _ := w.Stage(stage)
	s := &standing.Standing{
		Session: session, Workflow: w, Settings: w, Stage: st, Policy: st.Policy(), MaxRework: 2, MaxIterations: 3, Folder: "/p", SessionFile: "session.json",
		Draft: standing.Draft{Path: "work.md", Work: "work.md", SHA256: "aa", Size: 9}, Names: standing.Names{Confirm: "the-tool", Program: "program"},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// calls returns a change that sets the abilities of the caller.
func calls(c standing.Call) func(*standing.Standing) {
	return func(s *standing.Standing) { s.Call = c }
}

func ptr(f float64) *float64 { return &f }

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := workflow.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestNextCall checks who acts next, how their call looks, and that none of it states the person's decision.
func TestNextCall(t *testing.T) {
	t.Parallel()
	met := func(s *standing.Standing) { // a document that has reached its gate, and asks
		p := s.Policy
		s.Session.Current().ClaimedScore, s.Session.Current().Policy = ptr(95), &p
	}
	strict := func(s *standing.Standing) { s.Policy.Gate = workflow.GateStrict }
	edited := func(s *standing.Standing) { s.Draft.Edited = true }
	questions := func(s *standing.Standing) {
		s.Session.Current().Questions = []workflow.Question{{ID: "q1"}, {ID: "q2", Status: workflow.QuestionAnswered}, {ID: "q3"}}
	}
	sprints := func(status ...workflow.SprintStatus) func(*standing.Standing) {
		return func(s *standing.Standing) {
			for i, one := range status {
				s.Session.Sprints = append(s.Session.Sprints, workflow.Sprint{Number: i + 1, Status: one})
			}
		}
	}
	many := make([]workflow.SprintStatus, reply.Listed+1)
	for i := range many {
		many[i] = workflow.SprintPending
	}
	reopened := func(s *standing.Standing) {
		s.Session.Append(workflow.Transition{Action: workflow.ActionReopen, Event: workflow.EventReopened, From: "qa/completed", To: s.Session.Place()})
	}
	pauses := func(s *standing.Standing) { s.Policy.Pause = workflow.PauseStages }
	ruled := func(s *standing.Standing) { s.Policy.Approvers, s.Policy.Quorum = []string{"ann", "bob"}, 2 }
	given := func(s *standing.Standing) {
		s.Session.Append(workflow.Transition{Event: workflow.EventGranted, Grant: &workflow.Grant{Person: workflow.Person{Subject: "ann"}, SHA256: "aa"}})
	}
	stopped := func(s *standing.Standing) {
		s.Strict, s.Trusting, s.Altered = true, true, []workflow.Alteration{{Stage: workflow.PO, Path: "a.md"}}
	}
	form := standing.Call{Asks: true, Forms: true}
	type list = []func(*standing.Standing)
	const po, sm, dev, review, qa = workflow.PO, workflow.SM, workflow.Dev, workflow.Review, workflow.QA
	for name, tt := range map[string]struct {
		stage  workflow.StageID
		state  workflow.State
		change list
		want   string // waits, interaction, actions, next call, gate
	}{
		"at work":                  {po, workflow.Generating, nil, `false awaiting_generation [] {"action":"submit","claude_result_path":"work.md","session_id":"id","stage":"po"}`},
		"another round":            {po, workflow.Refining, nil, `false awaiting_regeneration [] {"action":"submit","claude_result_path":"work.md","session_id":"id","stage":"po"}`},
		"by the task's name":       {po, workflow.Generating, list{func(s *standing.Standing) { s.Named = true }}, `false awaiting_generation [] {"action":"submit","claude_result_path":"work.md","session_id":"clock","stage":"po"}`},
		"with the codex engine":    {po, workflow.Generating, list{func(s *standing.Standing) { s.Session.Objective += ", and use codex too" }}, `false awaiting_generation [] {"action":"submit","claude_result_path":"work.md","codex_result_path":"…","session_id":"id","stage":"po"}`},
		"waits for a start":        {po, workflow.Generating, list{pauses}, `true awaiting_generation ["start_stage"] {"action":"submit","claude_result_path":"work.md","session_id":"id","stage":"po"}`},
		"waits for a change":       {po, workflow.Refining, list{reopened}, `true awaiting_regeneration ["say_what_to_change"] {"action":"confirm","confirmed":false,"feedback":"their words","session_id":"id","stage":"po"}`},
		"waits for a scope":        {dev, workflow.Generating, list{sprints(workflow.SprintDone, workflow.SprintPending)}, `true awaiting_generation ["specify_sprint_scope_then_generate"] {"action":"submit","codex_result_path":"work.md","session_id":"id","sprints":[2],"stage":"dev"}`},
		"no sprints":               {dev, workflow.Generating, nil, `true awaiting_generation ["specify_sprint_scope_then_generate"] {"action":"submit","codex_result_path":"work.md","session_id":"id","stage":"dev"}`},
		"too many sprints":         {dev, workflow.Generating, list{sprints(many...)}, `true awaiting_generation ["specify_sprint_scope_then_generate"] {"action":"submit","codex_result_path":"work.md","session_id":"id","stage":"dev"}`},
		"most sprints":             {dev, workflow.Generating, list{sprints(many[1:]...)}, `true awaiting_generation ["specify_sprint_scope_then_generate"] {"action":"submit","codex_result_path":"work.md","session_id":"id","sprints":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20],"stage":"dev"}`},
		"rework":                   {dev, workflow.Refining, list{sprints(workflow.SprintImplemented)}, `false awaiting_regeneration [] {"action":"submit","codex_result_path":"work.md","session_id":"id","sprints":[1],"stage":"dev"}`},
		"sprints left":             {dev, workflow.Refining, list{sprints(workflow.SprintPending), reopened}, `true awaiting_generation ["specify_sprint_scope_then_generate"] {"action":"submit","codex_result_path":"work.md","session_id":"id","sprints":[1],"stage":"dev"}`},
		"questions":                {po, workflow.Clarifying, list{questions}, `true user_decision ["answer_questions"] {"action":"answer","answers":{"q1":"…","q3":"…"},"session_id":"id"}`},
		"questions, met":           {po, workflow.Clarifying, list{questions, met}, `true user_decision ["answer_questions" "confirm"] {"action":"answer","answers":{"q1":"…","q3":"…"},"revision":7,"session_id":"id"}`},
		"strict questions, waits":  {po, workflow.Clarifying, list{questions, strict, calls(standing.Call{Waits: true})}, `true user_decision ["answer_questions"] {"action":"status","session_id":"id","wait":50} {"policy":"strict","waits_for":"human","terminal":"program decide clock"}`},
		"strict questions":         {po, workflow.Clarifying, list{questions, strict}, `true user_decision ["answer_questions"] null {"policy":"strict","waits_for":"human","terminal":"program decide clock"}`},
		"confirm":                  {po, workflow.AwaitingConfirmation, nil, `true user_decision ["confirm" "reject"] {"action":"confirm","confirmed":"ask the human: true or false","revision":7,"session_id":"id","stage":"po"}`},
		"confirm, described":       {po, workflow.AwaitingConfirmation, list{calls(standing.Call{Action: workflow.ActionStatus, Page: "http://x"})}, `true user_decision ["confirm" "reject"] {"action":"confirm","confirmed":"ask the human: true or false","revision":7,"session_id":"id","stage":"po"} {"policy":"auto","waits_for":"human","terminal":"program decide clock","page":"http://x"}`},
		"confirm, below the floor": {po, workflow.AwaitingConfirmation, list{calls(standing.Call{Action: workflow.ActionResume}), func(s *standing.Standing) { s.Session.Current().Audit = &workflow.Audit{Score: 59} }}, `true user_decision ["confirm" "reject"] {"action":"confirm","confirmed":"ask the human: true or false","revision":7,"session_id":"id","stage":"po"} {"policy":"auto","waits_for":"human","audit_floor":60,"terminal":"program decide clock"}`},
		"approve a plan":           {sm, workflow.AwaitingApproval, nil, `true user_decision ["approve" "reject"] {"action":"approve","approved":"ask the human: true or false","revision":7,"session_id":"id","stage":"sm"}`},
		"rounds spent":             {po, workflow.AwaitingApproval, nil, `true user_decision ["go_on" "accept_below_gate" "cancel"] {"action":"approve","approved":"ask the human: true or false","revision":7,"session_id":"id","stage":"po"}`},
		"failed":                   {review, workflow.AwaitingApproval, list{func(s *standing.Standing) { s.Session.Current().Verdict = workflow.Fail }}, `true user_decision ["accept_risk" "send_back_to_dev"] {"action":"approve","approved":"ask the human: true or false","revision":7,"session_id":"id","stage":"review"}`},
		"failed too often":         {review, workflow.AwaitingApproval, list{func(s *standing.Standing) { s.Session.Current().Verdict, s.Session.ReworkCount = workflow.Fail, 2 }}, `true user_decision ["accept_risk" "cancel" "send_back_to_dev" "reopen"] {"action":"approve","approved":"ask the human: true or false","revision":7,"session_id":"id","stage":"review"}`},
		"blocked":                  {review, workflow.AwaitingApproval, list{edited, func(s *standing.Standing) { s.Session.Current().Verdict = workflow.Blocked }}, `true user_decision ["unblock" "go_on_without_it" "cancel"] {"action":"approve","approved":"ask the human: true or false","revision":7,"session_id":"id","stage":"review"}`},
		"edited":                   {po, workflow.AwaitingConfirmation, list{edited}, `true user_decision ["confirm" "reject"] {"action":"confirm","confirmed":false,"feedback":"…","revision":7,"session_id":"id","stage":"po"}`},
		"edited plan":              {sm, workflow.AwaitingApproval, list{edited}, `true user_decision ["approve" "reject"] {"action":"approve","approved":false,"feedback":"…","revision":7,"session_id":"id","stage":"sm"}`},
		"by form":                  {po, workflow.AwaitingConfirmation, list{calls(form)}, `false user_decision ["confirm" "reject"] {"action":"confirm","revision":7,"session_id":"id","stage":"po"} {"policy":"auto","waits_for":"human","ask_by_form":true,"terminal":"program decide clock"}`},
		"by form, plan":            {sm, workflow.AwaitingApproval, list{calls(form)}, `false user_decision ["approve" "reject"] {"action":"approve","revision":7,"session_id":"id","stage":"sm"} {"policy":"auto","waits_for":"human","ask_by_form":true,"terminal":"program decide clock"}`},
		"by form again":            {sm, workflow.AwaitingApproval, list{calls(standing.Call{Asks: true, Forms: true, Withheld: true})}, `true user_decision ["approve" "reject"] {"action":"approve","revision":7,"session_id":"id","stage":"sm"} {"policy":"auto","waits_for":"human","terminal":"program decide clock"}`},
		"by host":                  {po, workflow.AwaitingConfirmation, list{calls(standing.Call{HostConfirm: true})}, `false user_decision ["confirm" "reject"] {"decision":"approve","session_id":"id","sha256":"aa","stage":"po","tool":"the-tool"} {"policy":"auto","waits_for":"human","ask_by_host":true,"terminal":"program decide clock"}`},
		"by host, override":        {po, workflow.AwaitingApproval, list{calls(standing.Call{HostConfirm: true})}, `true user_decision ["go_on" "accept_below_gate" "cancel"] {"decision":"ask the human: approve or request_changes","feedback":"their words","session_id":"id","sha256":"aa","stage":"po","tool":"the-tool"} {"policy":"auto","waits_for":"human","terminal":"program decide clock"}`},
		"own act":                  {po, workflow.AwaitingConfirmation, list{strict}, `true user_decision ["confirm" "reject"] null {"policy":"strict","waits_for":"human","terminal":"program decide clock"}`},
		"own act, waits":           {po, workflow.AwaitingConfirmation, list{strict, calls(standing.Call{Waits: true})}, `true user_decision ["confirm" "reject"] {"action":"status","session_id":"id","wait":50} {"policy":"strict","waits_for":"human","terminal":"program decide clock"}`},
		"ruled":                    {sm, workflow.AwaitingApproval, list{ruled, calls(standing.Call{Person: workflow.Person{Subject: "ann"}})}, `true user_decision ["approve" "reject"] {"action":"approve","approved":"ask the human: true or false","revision":7,"session_id":"id","stage":"sm"} {"policy":"auto","waits_for":"human","needs":{"approvers":["ann","bob"],"four_eyes":false,"quorum":2,"missing":2},"terminal":"program decide clock"}`},
		"ruled, one yes":           {sm, workflow.AwaitingApproval, list{ruled, given, calls(standing.Call{Person: workflow.Person{Subject: "bob"}})}, `true user_decision ["approve" "reject"] {"action":"approve","approved":"ask the human: true or false","revision":7,"session_id":"id","stage":"sm"} {"policy":"auto","waits_for":"human","needs":{"approvers":["ann","bob"],"four_eyes":false,"quorum":2,"given":[{"subject":"ann","at":"0001-01-01T00:00:00Z"}],"missing":1},"terminal":"program decide clock"}`},
		"barred":                   {sm, workflow.AwaitingApproval, list{ruled, calls(standing.Call{Person: workflow.Person{Subject: "eve"}})}, `true user_decision ["reject"] null {"policy":"auto","waits_for":"human","needs":{"approvers":["ann","bob"],"four_eyes":false,"quorum":2,"missing":2},"terminal":"program decide clock"}`},
		"barred, waits":            {sm, workflow.AwaitingApproval, list{ruled, calls(standing.Call{Waits: true})}, `true user_decision ["reject"] {"action":"status","session_id":"id","wait":50} {"policy":"auto","waits_for":"human","needs":{"approvers":["ann","bob"],"four_eyes":false,"quorum":2,"missing":2},"terminal":"program decide clock"}`},
		"complete":                 {qa, workflow.Completed, nil, `false workflow_completed [] null`},
		"complete, some unbuilt":   {qa, workflow.Completed, list{sprints(workflow.SprintDone, workflow.SprintPending)}, `true workflow_completed ["reopen_dev"] {"action":"reopen","session_id":"id","stage":"dev"}`},
		"cancelled":                {po, workflow.Cancelled, nil, `false workflow_completed [] null`},
		"stopped":                  {po, workflow.AwaitingConfirmation, list{stopped}, `true user_decision ["adopt"] null`},
	} {
		out := reply.New(at(tt.stage, tt.state, tt.change...), reply.Light, "", "")
		got := fmt.Sprintf("%v %s %q %s", out.RequiresUserConfirmation, out.InteractionType, out.PendingUserActions, encode(t, out.NextCall))
		if out.Gate != nil {
			got += " " + encode(t, out.Gate)
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}
