package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestLeavingUnderStrict tries to cancel and to reopen by the assistant's word and by a
// script's, in every state of every stage, under a policy that is strict in all stages or
// in one that the run has passed.
func TestLeavingUnderStrict(t *testing.T) {
	t.Parallel()
	ways := map[string]func(request.Request) request.Request{
		"relayed": func(q request.Request) request.Request { return q },
		"script":  func(q request.Request) request.Request { q.Via = workflow.ChannelScript; return q },
		"host":    func(q request.Request) request.Request { q.HostConfirm = true; return q },
	}
	for _, place := range []struct {
		stage workflow.StageID
		state workflow.State
	}{
		{workflow.PO, workflow.Generating}, {workflow.PO, workflow.Clarifying}, {workflow.PO, workflow.Refining}, {workflow.PO, workflow.AwaitingConfirmation},
		{workflow.Architect, workflow.Generating}, {workflow.SM, workflow.Generating}, {workflow.SM, workflow.AwaitingApproval},
		{workflow.Dev, workflow.Generating}, {workflow.Dev, workflow.Refining}, {workflow.Review, workflow.Generating}, {workflow.Review, workflow.AwaitingApproval},
		{workflow.QA, workflow.Generating}, {workflow.QA, workflow.AwaitingApproval}, {workflow.QA, workflow.Completed},
	} {
		b := newBench(t)
		b.reach(place.stage, place.state)
		for _, policy := range []string{"gate: strict\n", "stages: {po: {gate: strict}}\n"} {
			b.settings(policy)
			before := b.snapshot()
			for name, via := range ways {
				calls := []request.Request{{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "again"}}}
				if place.state.Active() {
					calls = append(calls, request.Request{Action: workflow.ActionCancel})
				}
				for _, call := range calls {
					if call.Action == workflow.ActionReopen && place.stage == workflow.PO {
						continue // there is nothing before it
					}
					call.Session = b.session
					if hint := b.refused(via(call), fault.GatePending, "policy strict"); !strings.Contains(hint, "in a terminal: bmad-mcp "+string(call.Action)) {
						t.Errorf("%s at %s/%s, %s: hint %q", call.Action, place.stage, place.state, name, hint)
					}
				}
			}
			if b.snapshot() != before {
				t.Errorf("%s/%s: a refused call changed the disk", place.stage, place.state)
			}
			r := b.do(request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: b.session}})
			if slices.Contains(r.Allowed, "cancel") || slices.Contains(r.Allowed, "reopen") {
				t.Errorf("%s/%s under %s offers %v", place.stage, place.state, policy, r.Allowed)
			}
		}
		b.settings("")
	}
}

// TestRelayedYesWhereTheHostAsks checks that a relayed yes is refused and names the tool; a no
// stays.
func TestRelayedYesWhereTheHostAsks(t *testing.T) {
	t.Parallel()
	yes := true
	for _, tt := range []struct {
		stage workflow.StageID
		state workflow.State
	}{
		{workflow.PO, workflow.AwaitingConfirmation}, {workflow.Architect, workflow.AwaitingConfirmation}, {workflow.SM, workflow.AwaitingApproval},
		{workflow.Review, workflow.AwaitingApproval}, {workflow.QA, workflow.AwaitingApproval},
	} {
		b := newBench(t)
		b.reach(tt.stage, tt.state)
		call := func(decision *bool) request.Request {
			if tt.state == workflow.AwaitingConfirmation {
				return request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: decision}, Caller: request.Caller{HostConfirm: true}}
			}
			return request.Request{Action: workflow.ActionApprove, Decision: request.Decision{Yes: decision, Feedback: "as they said"}, Caller: request.Caller{HostConfirm: true}}
		}
		before := b.snapshot()
		hint := b.refused(call(&yes), fault.GatePending, "bmad-confirm")
		if !strings.Contains(hint, "bmad-confirm") || b.snapshot() != before {
			t.Errorf("%s: hint %q", tt.stage, hint)
		}
		if tt.state == workflow.AwaitingConfirmation {
			b.refused(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{HostConfirm: true}}, fault.GatePending, "bmad-confirm")
		}
		// Through the tool it is taken; by relay if the policy says so; and a no either way.
		host := call(&yes)
		host.Via, host.Draft = workflow.ChannelHostConfirmed, b.do(request.Request{Action: workflow.ActionStatus}).Draft.SHA256
		b.do(host)
		if g := lastDecision(b.stored()); g == nil || g.Channel != workflow.ChannelHostConfirmed || g.Stage != tt.stage {
			t.Errorf("%s: %+v", tt.stage, g)
		}
		b = newBench(t)
		b.reach(tt.stage, tt.state)
		no := false
		b.do(call(&no))
		b = newBench(t)
		b.environ = []string{"BMAD_GATE=relay"}
		b.restart()
		b.reach(tt.stage, tt.state)
		b.do(call(&yes))
	}
}

func lastDecision(s *workflow.Session) *workflow.Grant {
	for _, e := range slices.Backward(s.History) {
		if e.Grant != nil {
			return e.Grant
		}
	}
	return nil
}

// reach does as to, and knows the way to failed QA too.
func (b *bench) reach(stage workflow.StageID, state workflow.State) {
	b.t.Helper()
	if stage == workflow.QA && state == workflow.AwaitingApproval {
		b.to(workflow.QA, workflow.Generating)
		b.do(submit(workflow.QA, "# Q\nStatus: fail"))
		return
	}
	b.to(stage, state)
}
