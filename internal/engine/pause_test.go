package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
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

// TestFirstRunSaysWhereItStops: the first run of a project says in one sentence where it stops for the person and
// how it stops before every stage; later ones do not, nor one that stops everywhere.
func TestFirstRunSaysWhereItStops(t *testing.T) {
	for name, c := range map[string]struct {
		objective, workflow, pause, replies string
		want                                string // "" for none
	}{
		"normal":     {"build a thing", "", "gates", "full", "It stops for you at questions, at the gates (PO, Architect, SM), before Dev, and where work fails; with `pause: stages` in `.claude/bmad-task.yaml` it also stops before each stage.\n"},
		"lean":       {"build a thing", "", "gates", "lean", "at the gates (PO, Architect, SM), before Dev, and where work fails; with `pause: stages`"},
		"quick":      {"build a thing", "quick", "gates", "full", "at the gates (PO), and where work fails"},
		"plan":       {"build a thing", "plan", "gates", "full", "at the gates (PO, Architect, SM), and where work fails"},
		"chinese":    {"做一个预订服务", "", "gates", "full", "遇到问题、到达关卡（PO、Architect、SM）、Dev 开始之前以及工作未通过时，运行会停下来等你；在 `.claude/bmad-task.yaml` 中写入 `pause: stages`，则每个阶段之前也会停下。\n"},
		"everywhere": {"build a thing", "", "stages", "full", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.chinese = name == "chinese"
			b.environ = []string{"BMAD_PAUSE=" + c.pause, "BMAD_REPLIES=" + c.replies}
			b.restart()
			first := start(c.objective)
			first.Workflow = c.workflow
			r := b.do(first)
			if says := strings.Contains(r.UserMessage, "`pause: stages`"); !strings.Contains(r.UserMessage, c.want) || says != (c.want != "") {
				t.Errorf("the first run says\n%s\nwant %q", r.UserMessage, c.want)
			}
			b.session = ""
			if r = b.do(start(c.objective)); strings.Contains(r.UserMessage, "`pause: stages`") {
				t.Errorf("the second run says\n%s", r.UserMessage)
			}
		})
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
