package workflow_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestMembersKeepTheRules: a step that a member has signed happens only if the rules of the reader allow it, whatever
// the member's program did.
func TestMembersKeepTheRules(t *testing.T) {
	const stage = workflow.PO
	granted := func(subject, sha string, d workflow.Decision) *workflow.Grant {
		return &workflow.Grant{Person: workflow.Person{Subject: subject}, Stage: stage, Decision: d, SHA256: sha}
	}
	type entry struct {
		by       machine
		event    workflow.Event
		from, to string
		grant    *workflow.Grant
	}
	submitted := entry{ben, workflow.EventScoredReady, "po/generating", "po/awaiting_confirmation", nil}
	passed := func(by machine, g *workflow.Grant) entry {
		return entry{by, workflow.EventConfirmed, "po/awaiting_confirmation", "architect/generating", g}
	}
	yes := func(by machine, sha string) entry {
		return entry{by, workflow.EventGranted, "po/awaiting_confirmation", "po/awaiting_confirmation", granted(string(by), sha, workflow.DecisionApprove)}
	}
	approve := func(by machine) *workflow.Grant { return granted(string(by), "x", workflow.DecisionApprove) }
	two, four, anaOnly := workflow.Policy{Quorum: 2}, workflow.Policy{FourEyes: new(true)}, workflow.Policy{Approvers: []string{"ana"}}
	for name, c := range map[string]struct {
		rules   workflow.Policy
		entries []entry
		sound   bool
	}{
		"his own yes, without rules":          {workflow.Policy{}, []entry{submitted, passed(ben, approve(ben))}, true},
		"no yes":                              {workflow.Policy{}, []entry{submitted, passed(ben, nil)}, false},
		"a no":                                {workflow.Policy{}, []entry{submitted, passed(ben, granted("ben", "x", workflow.DecisionChanges))}, false},
		"a yes to another stage":              {workflow.Policy{}, []entry{submitted, passed(ben, &workflow.Grant{Person: workflow.Person{Subject: "ben"}, Stage: workflow.SM, Decision: workflow.DecisionApprove})}, false},
		"an override":                         {workflow.Policy{}, []entry{submitted, passed(ben, granted("ben", "x", workflow.DecisionOverride))}, true},
		"one yes of two":                      {two, []entry{submitted, passed(ben, approve(ben))}, false},
		"two":                                 {two, []entry{submitted, yes(eve, "x"), passed(ben, approve(ben))}, true},
		"two of one person":                   {two, []entry{submitted, yes(ben, "x"), passed(ben, approve(ben))}, false},
		"one of them to another text":         {two, []entry{submitted, yes(eve, "y"), passed(ben, approve(ben))}, false},
		"his own work":                        {four, []entry{submitted, passed(ben, approve(ben))}, false},
		"another's work":                      {four, []entry{submitted, passed(eve, approve(eve))}, true},
		"not an approver":                     {anaOnly, []entry{submitted, passed(ben, approve(ben))}, false},
		"an approver's, by ana's own machine": {two, []entry{submitted, passed(ana, approve(ana))}, true}, // her program keeps her rules
		"past the gate at once":               {workflow.Policy{}, []entry{{ben, workflow.EventDelivered, "po/generating", "architect/generating", nil}}, false},
		"over a stage":                        {workflow.Policy{}, []entry{submitted, {ben, workflow.EventConfirmed, "po/awaiting_confirmation", "sm/generating", approve(ben)}}, false},
		"to the end":                          {workflow.Policy{}, []entry{submitted, {ben, workflow.EventFinished, "po/awaiting_confirmation", "po/completed", approve(ben)}}, false},
		"from a place where it was not":       {workflow.Policy{}, []entry{passed(ben, approve(ben))}, false},
		"by a step that nobody knows":         {workflow.Policy{}, []entry{{ben, "teleported", "po/generating", "architect/generating", approve(ben)}}, false},
		"a note that moves":                   {workflow.Policy{}, []entry{{ben, workflow.EventGranted, "po/generating", "architect/generating", approve(ben)}}, false},
		"cancelled":                           {workflow.Policy{}, []entry{{ben, workflow.EventCancelled, "po/generating", "po/cancelled", nil}}, true},
		"reopened forward":                    {workflow.Policy{}, []entry{{ben, workflow.EventReopened, "po/generating", "qa/refining", nil}}, false},
	} {
		s := workflow.Default().NewSession("id", "x", "/p", "test", at0)
		s.History[0].Subject = "ana"
		if err := s.SignNew(ana, here); err != nil {
			t.Fatal(err)
		}
		for _, e := range c.entries {
			sign := s.Signing(e.by, workflow.Verification{})
			s.Append(workflow.Transition{Action: workflow.ActionSubmit, Event: e.event, From: e.from, To: e.to, Grant: e.grant, Person: workflow.Person{Subject: string(e.by)}})
			place(s, e.to)
			if err := sign(here); err != nil {
				t.Fatal(err)
			}
			s.Revision++
		}
		known := workflow.Known{
			Project: here, Rules: map[workflow.StageID]workflow.Policy{stage: c.rules},
			Members: []workflow.Member{ben.member("ben"), eve.member("eve")},
		}
		if v := s.Verify(ana, &known); v.Sound() != c.sound || c.sound == (v.Problem != "") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

var at0 = time.Unix(0, 0).UTC()

// place puts a session at a stage and state, as the history writes them.
func place(s *workflow.Session, at string) {
	stage, state, _ := strings.Cut(at, "/")
	s.CurrentStage, s.CurrentState = workflow.StageID(stage), workflow.State(state)
}
