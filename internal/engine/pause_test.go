package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// stop is how a reply says who is to act.
type stop struct {
	place   string
	waits   bool
	kind    string
	actions string
}

func stopOf(r *reply.Reply) stop {
	return stop{string(r.Stage) + "/" + string(r.State), r.RequiresUserConfirmation, r.InteractionType, strings.Join(r.PendingUserActions, " ")}
}

// TestPauses checks that by default a run stops if the person's word changes something, and the
// list of their choices is empty while the assistant works; with pause: stages it stops before each
// round as well. Either way the next call is taken as it is.
func TestPauses(t *testing.T) {
	for pause, waits := range map[string]bool{"gates": false, "stages": true} {
		b := newBench(t)
		b.environ = []string{"BMAD_PAUSE=" + pause}
		b.restart()
		begin := ""
		if waits {
			begin = "start_stage"
		}
		first := b.do(start("build a thing"))
		got := []stop{stopOf(first)}
		messages := first.UserMessage
		for s := b.stored(); s.CurrentState.Active(); s = b.stored() {
			r := b.do(onward(s))
			got, messages = append(got, stopOf(r)), messages+r.UserMessage
		}
		want := []stop{
			{"po/generating", waits, reply.AwaitingGeneration, begin},
			{"po/clarifying", true, reply.UserDecision, "answer_questions"},
			{"po/refining", waits, reply.AwaitingRegeneration, begin},
			{"po/awaiting_confirmation", true, reply.UserDecision, "confirm reject"},
			{"architect/generating", waits, reply.AwaitingGeneration, begin},
			{"architect/awaiting_confirmation", true, reply.UserDecision, "confirm reject"},
			{"sm/generating", waits, reply.AwaitingGeneration, begin},
			{"sm/awaiting_approval", true, reply.UserDecision, "approve reject"},
			{"dev/generating", true, reply.AwaitingGeneration, "specify_sprint_scope_then_generate"},
			{"review/generating", waits, reply.AwaitingGeneration, begin},
			{"review/awaiting_approval", true, reply.UserDecision, "accept_risk send_back_to_dev"},
			{"dev/refining", waits, reply.AwaitingRegeneration, begin},
			{"review/generating", waits, reply.AwaitingGeneration, begin},
			{"qa/generating", waits, reply.AwaitingGeneration, begin},
			{"qa/completed", false, reply.WorkflowCompleted, ""},
		}
		if !slices.Equal(got, want) {
			t.Errorf("pause: %s:\n got %+v\nwant %+v", pause, got, want)
		}
		if said := strings.Contains(messages, "**go on**, or say first"); said != waits || strings.Contains(messages, "Nothing is needed from you") == waits {
			t.Errorf("pause: %s: the messages say otherwise:\n%s", pause, messages)
		}
	}
}

// TestPauseOfOneStage checks that a person who wants to see the code before it is reviewed says so
// for that stage; the history has the change.
func TestPauseOfOneStage(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Dev, workflow.Generating)
	b.environ = []string{"BMAD_REVIEW_PAUSE=stages"}
	b.restart()
	r := b.at("review/generating", submit(workflow.Dev, "# D"))
	if got, want := stopOf(r), (stop{"review/generating", true, reply.AwaitingGeneration, "start_stage"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	noted := slices.ContainsFunc(b.stored().History, func(e workflow.Transition) bool {
		return e.Event == workflow.EventPolicyChanged && e.Policy == "review: auto → auto, pause: stages"
	})
	if !noted {
		t.Errorf("the change of policy is not in the history: %+v", b.stored().Last())
	}
	if r = b.do(request.Request{Action: workflow.ActionStatus}); !r.RequiresUserConfirmation || r.NextCall["action"] != workflow.ActionSubmit {
		t.Errorf("status: %+v", r)
	}
}

// TestListWithoutADecision checks that the list of a project waits for a decision only if there is
// one.
func TestListWithoutADecision(t *testing.T) {
	b := newBench(t)
	list := func() stop { return stopOf(b.do(request.Request{Action: workflow.ActionStatus})) }
	if got, want := list(), (stop{"/", false, reply.NoSession, "start"}); got != want {
		t.Errorf("an empty project: got %+v, want %+v", got, want)
	}
	b.do(start("one thing"))
	first := b.session
	b.do(start("another thing"))
	second := b.session
	b.session = ""
	if got, want := list(), (stop{"/", true, reply.UserDecision, "choose_session start"}); got != want {
		t.Errorf("two sessions: got %+v, want %+v", got, want)
	}
	for _, id := range []string{first, second} {
		b.do(request.Request{Action: workflow.ActionCancel, Address: project.Address{Session: id}})
	}
	if got, want := list(), (stop{"/", false, reply.NoSession, "start reopen"}); got != want {
		t.Errorf("none active: got %+v, want %+v", got, want)
	}
}
