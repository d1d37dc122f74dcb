package sdkhttp

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// startConversation starts a conversation, and returns while the agent works on the first message.
func (h *Handler) startConversation(c *call) (any, error) {
	e, err := h.createEntry(c, false)
	if err != nil {
		return nil, err
	}
	return progress(e.ID(), sdk.Processing), nil
}

// createEntry starts a conversation with the body of a request.
func (h *Handler) createEntry(c *call, plain bool) (*entry, error) {
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
	h.keepEntry(e)
	if err := h.beginWork(e, func() error { return e.Send(ctx, strings.TrimSpace(c.Message)) }); err != nil {
		h.forgetEntry(e)
		return nil, err
	}
	return e, nil
}

// sendMessage is the person's next message.
func (h *Handler) sendMessage(c *call, e *entry) (any, error) {
	return nil, h.deliverMessage(c.r.Context(), e, c.Message)
}

// deliverMessage gives a conversation the next message, unless the money for it is spent.
func (h *Handler) deliverMessage(ctx context.Context, e *entry, message string) error {
	if costs := e.Costs(); costs.Limit > 0 && costs.Spent >= costs.Limit {
		return &sdk.CostLimitError{Spent: costs.Spent, Limit: costs.Limit}
	}
	if spent, ok := errors.AsType[*sdk.CostLimitError](e.turnError()); ok { // the rest is too small for an answer
		return spent
	}
	return h.beginWork(e, func() error { return e.Send(ctx, message) })
}

// answerQuestion answers a question of the agent.
func (h *Handler) answerQuestion(c *call, e *entry) (any, error) {
	return nil, h.beginWork(e, func() error { return e.Answer(c.r.Context(), c.Question, c.Answer) })
}

// endConversation ends a conversation, and returns all of it.
func (h *Handler) endConversation(c *call, e *entry) (any, error) {
	out, err := e.End(c.r.Context())
	if err != nil {
		return nil, err
	}
	h.forgetEntry(e)
	return outcomeOf(out), nil
}

// showConversation describes a conversation.
func (h *Handler) showConversation(c *call, e *entry) (any, error) {
	if !e.isBusy() {
		_, _ = e.Wait(c.r.Context()) // until the last turn is saved
	}
	return viewOf(e), nil
}

// onEntry has a function look at the conversation of a request.
func (h *Handler) onEntry(look func(*call, *entry) (any, error)) func(*call) (any, error) {
	return func(c *call) (out any, err error) {
		err = h.withEntry(c.r.Context(), c.id(), func(e *entry) error {
			out, err = look(c, e)
			return err
		})
		return out, err
	}
}

// withEntry has a function look at a conversation.
func (h *Handler) withEntry(ctx context.Context, id string, look func(*entry) error) error {
	e, err := h.holdEntry(ctx, id)
	if err == nil && e.Status() == sdk.Paused && isElsewhere(e.Fresh(ctx)) { // it was resumed at the terminal
		h.forgetEntry(e)
		e, err = h.holdEntry(ctx, id)
	}
	if err != nil {
		return err
	}
	return look(e)
}

// changeEntry has a function change the conversation of a request. The answer is the new status, unless the function
// has another one.
func (h *Handler) changeEntry(change func(*call, *entry) (any, error)) func(*call) (any, error) {
	return func(c *call) (out any, err error) {
		err = h.changeIn(c.r.Context(), c.id(), func(e *entry) error {
			if out, err = change(c, e); err == nil && out == nil {
				out = progress(e.ID(), e.Status())
			}
			return err
		})
		return out, err
	}
}

// changeIn has a function change a conversation: one at a time, between two steps of the agent, and on the saved
// state, which another process may have continued.
func (h *Handler) changeIn(ctx context.Context, id string, change func(*entry) error) error {
	settled := func() error {
		return h.withEntry(ctx, id, func(e *entry) error {
			e.action.Lock()
			defer e.action.Unlock()
			err := e.Fresh(ctx)
			if err == nil {
				err = change(e)
			}
			if isElsewhere(err) {
				h.forgetEntry(e)
			}
			return e.explainBusy(err)
		})
	}
	err := settled()
	if isElsewhere(err) { // what the other process has saved counts
		return settled()
	}
	return err
}

// streamEvents streams the events of a conversation, until it has ended.
func (h *Handler) streamEvents(c *call, e *entry) (any, error) {
	from, err := lastSeen(c.r)
	if err != nil {
		return nil, err
	}
	if isOver(e.Status()) {
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
	_ = h.followEvents(c.r.Context(), e, from, s, func(event sdk.Event) bool {
		ends := event.Type == sdk.EventCompleted || event.Type == sdk.EventFailed
		return ends && event.Agent == "" && isOver(e.Status())
	})
	return nil, nil
}
