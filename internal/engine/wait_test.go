package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// holder counts the waits of a caller, and does something during each.
type holder struct {
	held int
	seen string
	do   func(look func(context.Context) string)
}

func (h *holder) waits(seconds int) request.Request {
	return request.Request{Action: workflow.ActionStatus, Status: request.Status{Wait: seconds}, Caller: request.Caller{Hold: func(ctx context.Context, _, seen string, look func(context.Context) string) {
		h.held++
		h.seen = seen
		if deadline, ok := ctx.Deadline(); !ok || deadline.IsZero() {
			panic("it waits without end")
		}
		if h.do != nil {
			h.do(look)
		}
	}}}
}

// TestWaitsForThePerson only, whatever they have to do, and says nothing twice.
func TestWaitsForThePerson(t *testing.T) {
	b := newBench(t)
	h := &holder{}
	b.do(start("x"))
	b.at("po/generating", h.waits(50))
	if h.held != 0 {
		t.Error("it waits in the assistant's turn")
	}
	for _, seconds := range []int{-1, 51} {
		b.refused(h.waits(seconds), fault.InvalidArgument, "is not between 0 and 50 seconds")
	}

	// Questions wait for the person, too; the answers come from elsewhere.
	b.at("po/clarifying", submit(workflow.PO, `{"prd_draft":"# P","quality_score":70,"questions":["Who?"]}`))
	h.do = func(look func(context.Context) string) {
		if look(t.Context()) != h.seen {
			t.Error("what was seen is not what is there")
		}
		b.do(request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "us"}}})
		if look(t.Context()) == h.seen {
			t.Error("the answers do not show")
		}
	}
	if r := b.at("po/refining", h.waits(50)); h.held != 1 || len(r.Lean().Stages) == 0 {
		t.Errorf("%d waits, %+v", h.held, r)
	}

	// Nobody decides: the caller, who has been shown all of it, is told so and little else.
	h.do = nil
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 95"))
	whole, short := b.do(request.Request{Action: workflow.ActionStatus}), b.at("po/awaiting_confirmation", h.waits(50))
	long, _ := whole.Lean().Encode()
	said, _ := short.Lean().Encode()
	if h.held != 2 || len(said) > len(long)/2 || short.Lean().NextCall["action"] != workflow.ActionConfirm || short.Lean().NextCall["revision"] != whole.Revision {
		t.Errorf("%d waits, of %d bytes %d: %s", h.held, len(long), len(said), said)
	}
	if full, _ := short.Encode(); len(full) < len(long)*3/4 {
		t.Errorf("a program gets %d bytes of %d", len(full), len(long))
	}
	// One who has not been shown it is.
	other := h.waits(50)
	other.Client = "another"
	if r := b.do(other); len(r.Lean().Stages) == 0 || r.Lean().UserMessage != whole.UserMessage {
		t.Errorf("%+v", r)
	}

	// A call that is given up ends as such, and one that cannot wait does not.
	ctx, cancel := context.WithCancel(t.Context())
	h.do = func(func(context.Context) string) { cancel() }
	req := h.waits(50)
	req.Cwd = b.dir
	if _, err := b.engine.Do(ctx, req); !errors.Is(err, context.Canceled) {
		t.Errorf("given up, it ends with %v", err)
	}
	held := h.held
	b.do(request.Request{Action: workflow.ActionStatus, Status: request.Status{Wait: 50}})
	if h.held != held {
		t.Error("a caller waits who cannot")
	}
}

// TestWaitIsTheNextCall checks that a wait is next if only the person's own act counts, for callers
// that can wait.
func TestWaitIsTheNextCall(t *testing.T) {
	b := newBench(t)
	b.settings("gate: strict\n")
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 95"))
	h := &holder{}
	if r := b.do(request.Request{Action: workflow.ActionStatus}); r.NextCall != nil {
		t.Errorf("one that cannot wait is to call %v", r.NextCall)
	}
	r := b.do(h.waits(0))
	if r.NextCall["action"] != workflow.ActionStatus || r.NextCall["wait"] != 50 || r.NextCall["session_id"] != r.SessionID || !r.RequiresUserConfirmation || h.held != 0 {
		t.Errorf("%v, %+v", r.NextCall, r)
	}
	form := h.waits(0)
	form.Ask, form.Forms = &answers{}, true
	if r := b.do(form); r.NextCall["action"] != workflow.ActionConfirm || !r.Gate.AskByForm {
		t.Errorf("with forms: %v", r.NextCall)
	}
}

// TestWaitBriefs checks that who has waited works on at once, so the reply has the briefing of the
// stage.
func TestWaitBriefs(t *testing.T) {
	b := newBench(t)
	yes := true
	h := &holder{do: func(func(context.Context) string) {
		b.do(request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &yes}, Caller: request.Caller{Via: workflow.ChannelTerminal}})
	}}
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 95"))
	if r := b.at("architect/generating", h.waits(50)); r.RolePrompt == "" || r.Context == nil || len(r.Context.Documents) == 0 {
		t.Errorf("the briefing is %q with %+v", r.RolePrompt, r.Context)
	}
	if r := b.do(request.Request{Action: workflow.ActionStatus}); r.RolePrompt != "" {
		t.Error("a status that does not wait repeats the briefing")
	}
}
