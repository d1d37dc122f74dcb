package sdkhttp

import (
	"errors"
	"net/http"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// start starts a conversation, and returns while its agent works on the first message.
func (h *Handler) start(c *call) (any, error) {
	e, err := h.create(c, false)
	if err != nil {
		return nil, err
	}
	return progress(e.ID(), sdk.Processing), nil
}

// create starts a conversation with the body of a request.
func (h *Handler) create(c *call, plain bool) (*entry, error) {
	ctx := c.r.Context()
	made, err := h.o.Client.StartConversation(ctx, c.Agent, sdk.ConversationOptions{
		PlainText: plain, SessionOptions: sdk.SessionOptions{CostLimit: c.limit, Context: c.Context, Tools: h.o.Tools},
	})
	if err != nil {
		return nil, err
	}
	e := &entry{Conversation: made}
	e.action.Lock()
	defer e.action.Unlock()
	h.keep(e)
	if err := h.begin(e, func() error { return e.Send(ctx, strings.TrimSpace(c.Message)) }); err != nil {
		h.forget(e)
		return nil, err
	}
	return e, nil
}

// message is the person's next message.
func (h *Handler) message(c *call, e *entry) (any, error) {
	if costs := e.Costs(); costs.Limit > 0 && costs.Spent >= costs.Limit {
		return nil, &sdk.CostLimitError{Spent: costs.Spent, Limit: costs.Limit}
	}
	if spent, ok := errors.AsType[*sdk.CostLimitError](e.failure()); ok { // the rest is too small for an answer
		return nil, spent
	}
	return nil, h.begin(e, func() error { return e.Send(c.r.Context(), c.Message) })
}

// answer answers a question of the agent.
func (h *Handler) answer(c *call, e *entry) (any, error) {
	return nil, h.begin(e, func() error { return e.Answer(c.r.Context(), c.Question, c.Answer) })
}

// finish ends a conversation, and returns all of it.
func (h *Handler) finish(c *call, e *entry) (any, error) {
	out, err := e.End(c.r.Context())
	if err != nil {
		return nil, err
	}
	h.forget(e)
	return outcomeOf(out), nil
}

// show describes a conversation.
func (h *Handler) show(c *call, e *entry) (any, error) {
	if !e.busy() {
		_, _ = e.Wait(c.r.Context()) // until the last turn is saved
	}
	return viewOf(e), nil
}

// look has a function look at a conversation.
func (h *Handler) look(do func(*call, *entry) (any, error)) func(*call) (any, error) {
	return func(c *call) (any, error) {
		ctx := c.r.Context()
		e, err := h.hold(ctx, c.id())
		if err == nil && e.Status() == sdk.Paused && isElsewhere(e.Fresh(ctx)) { // it was resumed at the terminal
			h.forget(e)
			e, err = h.hold(ctx, c.id())
		}
		if err != nil {
			return nil, err
		}
		return do(c, e)
	}
}

// change has a function change a conversation: one at a time, between two steps of its agent, and on
// the saved state, which another process may have continued. The answer is the status that this leads
// to, unless the function has another one.
func (h *Handler) change(do func(*call, *entry) (any, error)) func(*call) (any, error) {
	settled := h.look(func(c *call, e *entry) (out any, err error) {
		e.action.Lock()
		defer e.action.Unlock()
		if err = e.Fresh(c.r.Context()); err == nil {
			out, err = do(c, e)
		}
		switch {
		case isElsewhere(err):
			h.forget(e)
		case err == nil && out == nil:
			out = progress(e.ID(), e.Status())
		}
		return out, e.explainBusy(err)
	})
	return func(c *call) (any, error) {
		out, err := settled(c)
		if isElsewhere(err) { // what the other process has saved counts
			return settled(c)
		}
		return out, err
	}
}

// events streams the events of a conversation, until it has ended.
func (h *Handler) events(c *call, e *entry) (any, error) {
	from, err := after(c.r)
	if err != nil {
		return nil, err
	}
	if over(e.Status()) {
		saved, err := h.o.Client.Transcript(c.r.Context(), e.ID())
		if err != nil {
			return nil, err
		}
		if n := len(saved); n == 0 || saved[n-1].Seq <= from {
			c.w.WriteHeader(http.StatusNoContent) // a browser then stops to connect again
			return nil, nil
		}
	}
	s, err := h.openStream(c, e.ID())
	if err != nil {
		return nil, err
	}
	defer s.done()
	// The response has begun: an error can only end it.
	_ = h.follow(c.r.Context(), e, from, s, func(event sdk.Event) bool {
		ends := event.Type == sdk.EventCompleted || event.Type == sdk.EventFailed
		return ends && event.Agent == "" && over(e.Status())
	})
	return nil, nil
}
