package sdkhttp

import (
	"errors"
	"net/http"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// start starts a conversation, and returns while its agent works on the first message.
func (h *Handler) start(c *call) error {
	e, release, err := h.create(c, false)
	if err != nil {
		return err
	}
	defer release()
	c.reply = progress(e.ID(), sdk.Processing)
	return nil
}

// create starts a conversation with the body of a request.
func (h *Handler) create(c *call, plain bool) (e *entry, release func(), err error) {
	ctx := c.r.Context()
	made, err := h.o.Client.StartConversation(ctx, c.agent, sdk.ConversationOptions{
		PlainText: plain, SessionOptions: sdk.SessionOptions{CostLimit: c.limit, Context: c.context},
	})
	if err != nil {
		return nil, nil, err
	}
	if e, release, err = h.keep(made.ID(), func() (*sdk.Conversation, error) { return made, nil }); err != nil {
		return nil, nil, err
	}
	e.action.Lock()
	err = h.begin(e, func() error { return e.Send(ctx, strings.TrimSpace(c.message)) })
	e.action.Unlock()
	if err != nil {
		h.forget(e)
		release()
		return nil, nil, err
	}
	return e, release, nil
}

// message is the person's next message.
func (h *Handler) message(c *call, e *entry) error {
	if costs := e.Costs(); costs.Limit > 0 && costs.Spent >= costs.Limit {
		return &sdk.CostLimitError{Spent: costs.Spent, Limit: costs.Limit}
	}
	if spent, ok := errors.AsType[*sdk.CostLimitError](e.failure()); ok { // the rest is too small for an answer
		return spent
	}
	return h.begin(e, func() error { return e.Send(c.r.Context(), c.message) })
}

// answer answers a question of the agent.
func (h *Handler) answer(c *call, e *entry) error {
	return h.begin(e, func() error { return e.Answer(c.r.Context(), c.question, c.answer) })
}

// resume goes on with a paused turn.
func (h *Handler) resume(c *call, e *entry) error {
	return h.begin(e, func() error { return e.Resume(c.r.Context()) })
}

// cancel gives up the turn that is under way or paused, if there is one, and waits until that is
// saved.
func (h *Handler) cancel(c *call, e *entry) error {
	ctx := c.r.Context()
	stopped := !e.busy() && e.Status() != sdk.Idle && !over(e.Status())
	e.Cancel()
	_, _ = e.Wait(ctx) // the error is that of the turn, or the context's
	if !stopped || ctx.Err() != nil {
		return ctx.Err()
	}
	return e.Save(ctx)
}

// finish ends a conversation, and returns all of it.
func (h *Handler) finish(c *call, e *entry) error {
	out, err := e.End(c.r.Context())
	if err != nil {
		return e.explainBusy(err)
	}
	h.forget(e)
	c.reply = outcomeOf(out)
	return nil
}

// remove deletes a conversation for good.
func (h *Handler) remove(c *call, e *entry) error {
	if e.busy() {
		return e.explainBusy(sdk.ErrBusy)
	}
	if err := h.cancel(c, e); err != nil {
		return err
	}
	ctx := c.r.Context()
	if e.Status() == sdk.Idle { // which ends the streams of its events
		if _, err := e.End(ctx); err != nil {
			return e.explainBusy(err)
		}
	}
	if err := h.o.Client.Delete(ctx, e.ID()); err != nil {
		return err
	}
	h.forget(e)
	return nil
}

// list lists all conversations that are saved.
func (h *Handler) list(c *call) error {
	saved, err := h.o.Client.Sessions(c.r.Context())
	if err != nil {
		return err
	}
	out := []any{}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range saved {
		if e := h.open[s.ID]; e != nil && e.Conversation != nil {
			s.Status = e.Status()
		} else if s.Status == sdk.Processing {
			s.Status = sdk.Paused
		}
		out = append(out, summaryOf(s))
	}
	c.reply = object{"conversations": out}
	return nil
}

// show describes a conversation.
func (h *Handler) show(c *call, e *entry) error {
	if !e.busy() {
		_, _ = e.Wait(c.r.Context()) // until the last turn is saved
	}
	c.reply = viewOf(e)
	return nil
}

// document returns a document of the agent as it is.
func (h *Handler) document(c *call, e *entry) error {
	for _, d := range e.Documents() {
		if d.Path == "/"+c.r.PathValue("path") {
			c.write("text/plain; charset=utf-8", []byte(d.Content))
			return nil
		}
	}
	return refuse(http.StatusNotFound, "not_found", "the conversation has no document of this path", "GET the conversation for its documents")
}

// agents lists the agents.
func (h *Handler) agents(c *call) error {
	found, err := h.o.Client.Agents(c.r.Context())
	c.reply = object{"agents": camel(found)}
	return err
}

// agent describes an agent.
func (h *Handler) agent(c *call) error {
	a, err := h.o.Client.Agent(c.r.Context(), c.id())
	c.reply = camel(a)
	return err
}

// look has a function look at a conversation.
func (h *Handler) look(do func(*call, *entry) error) func(*call) error {
	return func(c *call) error {
		e, release, err := h.hold(c.r.Context(), c.id())
		if err != nil {
			return err
		}
		defer release()
		return do(c, e)
	}
}

// change has a function change a conversation: one at a time, between two steps of its agent, and on
// the saved state, which another process may have continued. The answer is the status that this leads
// to, unless the function has another one.
func (h *Handler) change(do func(*call, *entry) error) func(*call) error {
	settled := h.look(func(c *call, e *entry) error {
		e.action.Lock()
		defer e.action.Unlock()
		err := e.Fresh(c.r.Context())
		if err == nil {
			err = do(c, e)
		}
		switch {
		case isElsewhere(err):
			h.forget(e)
			e.leave()
		case err == nil && c.reply == nil:
			c.reply = progress(e.ID(), e.Status())
		}
		return err
	})
	return func(c *call) error {
		err := settled(c)
		if isElsewhere(err) { // what the other process has saved counts
			return settled(c)
		}
		return err
	}
}

// events streams the events of a conversation, until it has ended.
func (h *Handler) events(c *call) error {
	from, err := after(c.r)
	if err != nil {
		return err
	}
	return h.look(func(c *call, e *entry) error {
		if over(e.Status()) {
			saved, err := h.o.Client.Transcript(c.r.Context(), e.ID())
			if err != nil {
				return err
			}
			if n := len(saved); n == 0 || saved[n-1].Seq <= from {
				c.w.WriteHeader(http.StatusNoContent) // a browser then stops to connect again
				return nil
			}
		}
		s, err := h.openStream(c, e.ID())
		if err != nil {
			return err
		}
		defer s.done()
		// The response has begun: an error can only end it.
		_ = h.follow(c.r.Context(), e, from, s.ping, func(event sdk.Event) (bool, error) {
			ends := event.Type == sdk.EventCompleted || event.Type == sdk.EventFailed
			return ends && event.Agent == "" && over(e.Status()), s.event(event)
		})
		return nil
	})(c)
}
