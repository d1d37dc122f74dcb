package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// types returns the command that the person types in their host, as its hook tells it.
func (b *bench) types(action workflow.Action, d workflow.Decision, words string) bool {
	b.t.Helper()
	gate, rest, ok := b.engine.TypedGate(b.t.Context(), b.dir, action, d, words)
	if ok {
		if err := trust.UserState(b.state).PutTyped(trust.Typed{TypedGate: gate, Words: rest, At: b.engine.Now()}); err != nil {
			b.t.Fatal(err)
		}
	}
	return ok
}

// form returns a host that shows forms, to a person who says no to each.
func form() *answers {
	return &answers{Response: gate.Response{Channel: workflow.ChannelElicited, Decision: workflow.DecisionChanges, Feedback: "no", Took: 3 * time.Second}}
}

// relays returns the assistant's call, in a host that has forms.
func relays(req request.Request, ask request.Channel) request.Request {
	req.Via, req.Ask, req.Forms = workflow.ChannelRelayed, ask, true
	return req
}

func (b *bench) lastGrant() workflow.Grant {
	b.t.Helper()
	g := b.stored().Last().Grant
	if g == nil {
		b.t.Fatal("no grant was recorded")
	}
	return *g
}

func atGate(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	return b
}

func TestTypedCommandIsTheirAct(t *testing.T) {
	b := atGate(t)
	if !b.types(workflow.ActionConfirm, workflow.DecisionApprove, "") {
		t.Fatal("the only gate is not the one that is meant")
	}
	waits := b.stored()
	ask := form()
	r := b.at("architect/generating", relays(confirm(true), ask))
	g := b.lastGrant()
	if len(ask.asked) != 0 || g.Channel != workflow.ChannelTyped || g.Assurance != workflow.AssuranceMedium || g.Revision != waits.Revision || g.SHA256 == "" || g.Stage != workflow.PO {
		t.Errorf("asked %d times; %+v", len(ask.asked), g)
	}
	if !strings.Contains(r.UserMessage, "the command that you typed") {
		t.Errorf("%s", r.UserMessage)
	}

	// It is used once: at the next gate they are asked.
	b.at("architect/awaiting_confirmation", submit(workflow.Architect, "# D\nQuality Score: 96"))
	b.at("architect/refining", relays(confirm(true), ask))
	if g := b.lastGrant(); len(ask.asked) != 1 || g.Channel != workflow.ChannelElicited {
		t.Errorf("asked %d times; %+v", len(ask.asked), g)
	}
}

// TestTypedIsNotUsed: everywhere else the call goes its usual way.
func TestTypedIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(b *bench){
		"for nothing": func(*bench) {},
		"before it was submitted again": func(b *bench) {
			b.types(workflow.ActionConfirm, workflow.DecisionApprove, "")
			b.do(confirm(false))
			b.at("po/awaiting_confirmation", submit(workflow.PO, "# E\nQuality Score: 97"))
		},
		"before it was submitted again, the same text": func(b *bench) {
			b.types(workflow.ActionConfirm, workflow.DecisionApprove, "")
			b.do(confirm(false))
			b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
		},
		"too long ago": func(b *bench) {
			b.types(workflow.ActionConfirm, workflow.DecisionApprove, "")
			b.clock = b.clock.Add(trust.TypedFor)
		},
		"for a no": func(b *bench) { b.types("", workflow.DecisionChanges, "") },
		"for an approval": func(b *bench) {
			if b.types(workflow.ActionApprove, workflow.DecisionApprove, "") {
				b.t.Error("nothing waits for approval")
			}
		},
		"for another task": func(b *bench) { b.types(workflow.ActionConfirm, workflow.DecisionApprove, "another-task") },
		"in another project": func(b *bench) {
			here := b.dir
			b.types(workflow.ActionConfirm, workflow.DecisionApprove, "")
			b.dir = b.t.TempDir()
			if err := os.CopyFS(b.dir, os.DirFS(here)); err != nil {
				b.t.Fatal(err)
			}
		},
		"in the project itself": func(b *bench) {
			b.types(workflow.ActionConfirm, workflow.DecisionApprove, "")
			for _, folder := range []string{"typed", ".bmad-task/typed", ".local/state/bmad-mcp/typed", ".claude/typed"} {
				if err := os.MkdirAll(filepath.Join(b.dir, folder), 0o700); err != nil {
					b.t.Fatal(err)
				}
				if err := os.CopyFS(filepath.Join(b.dir, folder), os.DirFS(filepath.Join(b.state, "typed"))); err != nil {
					b.t.Fatal(err)
				}
			}
			if err := os.RemoveAll(filepath.Join(b.state, "typed")); err != nil {
				b.t.Fatal(err)
			}
		},
		"before it was reopened": func(b *bench) {
			b.types(workflow.ActionConfirm, workflow.DecisionApprove, "")
			stale := b.stored().Revision
			b.do(relays(confirm(true), nil))
			b.do(request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "again"}})
			b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
			if b.stored().Revision == stale {
				b.t.Error("the revision is the same")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := atGate(t)
			spoil(b)
			ask := form()
			b.at("po/refining", relays(confirm(true), ask))
			if g := b.lastGrant(); len(ask.asked) != 1 || g.Channel != workflow.ChannelElicited {
				t.Errorf("asked %d times; %+v", len(ask.asked), g)
			}
		})
	}
}

func TestStrictDoesNotTakeTyped(t *testing.T) {
	b := newBench(t)
	b.settings("gate: strict\n")
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	b.types(workflow.ActionConfirm, workflow.DecisionApprove, "")
	b.refused(confirm(true), fault.GatePending, "only the human's own act")
	ask := form()
	b.at("po/refining", relays(confirm(true), ask))
	if g := b.lastGrant(); len(ask.asked) != 1 || g.Channel != workflow.ChannelElicited {
		t.Errorf("asked %d times; %+v", len(ask.asked), g)
	}
}

// TestTypedWords checks that their words are recorded as typed, and if words are needed a command
// without them decides nothing.
func TestTypedWords(t *testing.T) {
	b := atGate(t)
	if !b.types("", workflow.DecisionChanges, "x name the currency") {
		t.Fatal("the task that was named is not the one that is meant")
	}
	req := confirm(false)
	req.Feedback = "what the assistant makes of it"
	b.at("po/refining", relays(req, form()))
	if g := b.lastGrant(); g.Channel != workflow.ChannelTyped || g.Decision != workflow.DecisionChanges || g.Feedback != "name the currency" {
		t.Errorf("%+v", g)
	}

	b = newBench(t)
	b.settings("max_rounds: 1\n")
	b.do(start("x"))
	b.at("po/awaiting_approval", submit(workflow.PO, "# D\nQuality Score: 50"))
	approve := func(words string) (*answers, workflow.Grant) {
		ask, yes := form(), true
		b.types(workflow.ActionApprove, workflow.DecisionApprove, words)
		b.do(relays(request.Request{Action: workflow.ActionApprove, Decision: request.Decision{Yes: &yes, Feedback: "the assistant's reason"}}, ask))
		return ask, b.lastGrant()
	}
	ask, g := approve("it is a prototype")
	if len(ask.asked) != 0 || g.Channel != workflow.ChannelTyped || g.Decision != workflow.DecisionOverride || g.Feedback != "it is a prototype" {
		t.Errorf("asked %d times; %+v", len(ask.asked), g)
	}
}

// TestTypedNeedsWords checks that a gate that takes a yes only with a reason asks for it.
func TestTypedNeedsWords(t *testing.T) {
	b := newBench(t)
	b.settings("max_rounds: 1\n")
	b.do(start("x"))
	b.at("po/awaiting_approval", submit(workflow.PO, "# D\nQuality Score: 50"))
	b.types(workflow.ActionApprove, workflow.DecisionApprove, "")
	ask, yes := form(), true
	b.do(relays(request.Request{Action: workflow.ActionApprove, Decision: request.Decision{Yes: &yes, Feedback: "the assistant's reason"}}, ask))
	if g := b.lastGrant(); len(ask.asked) != 1 || g.Channel != workflow.ChannelElicited {
		t.Errorf("asked %d times; %+v", len(ask.asked), g)
	}
}

// TestTypedMeansOneGate checks that with two that wait, the task has to be named.
func TestTypedMeansOneGate(t *testing.T) {
	b := atGate(t)
	first := b.session
	b.do(start("y"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	if b.types(workflow.ActionConfirm, workflow.DecisionApprove, "") || b.types(workflow.ActionConfirm, workflow.DecisionApprove, "please") {
		t.Error("a command that could mean two gates was kept")
	}
	if !b.types(workflow.ActionConfirm, workflow.DecisionApprove, "y") {
		t.Fatal("the task that was named waits")
	}
	second := b.session
	b.session = first
	b.at("architect/generating", relays(confirm(true), nil))
	if g := b.lastGrant(); g.Channel != workflow.ChannelRelayed {
		t.Errorf("%+v", g)
	}
	b.session = second
	b.at("architect/generating", relays(confirm(true), nil))
	if g := b.lastGrant(); g.Channel != workflow.ChannelTyped {
		t.Errorf("%+v", g)
	}
}

// TestTypedForADocumentThatAsks checks that a command typed when two documents can be confirmed
// means neither without a name; with one it is for that document, though it asks.
func TestTypedForADocumentThatAsks(t *testing.T) {
	b := newBench(t)
	b.do(start("alpha"))
	alpha := b.session
	b.do(asking(95))
	b.do(start("bravo"))
	b.do(submit(workflow.PO, "# P\nQuality Score: 95"))
	if b.types(workflow.ActionConfirm, workflow.DecisionApprove, "") {
		t.Error("a command that can mean two gates was taken for one")
	}
	if !b.types(workflow.ActionConfirm, workflow.DecisionApprove, "alpha") {
		t.Fatal("the named document was not found")
	}
	b.session = alpha
	b.at("architect/generating", relays(confirm(true), form()))
	if g := b.lastGrant(); g.Channel != workflow.ChannelTyped {
		t.Errorf("the grant is %+v", g)
	}
	low := newBench(t)
	low.do(start("charlie"))
	low.do(asking(70))
	if low.types(workflow.ActionConfirm, workflow.DecisionApprove, "charlie") {
		t.Error("a document below its gate was confirmed by a command")
	}
}
