package sdkhttp

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// command has an agent carry out one command, and returns its result; a client that accepts a stream
// gets the events before. The work is kept as a conversation if it asks the person, fails or loses
// its client.
func (h *Handler) command(c *call) error {
	c.agent, c.message = c.id(), strings.TrimSpace(c.r.PathValue("command")+" "+c.message)
	if err := cmp.Or(words("agentId", c.agent), words("message", c.message)); err != nil {
		return err
	}
	e, release, err := h.create(c, true)
	if err != nil {
		return err
	}
	defer release()
	var s *stream
	if accepts(c.r, ndjson) || accepts(c.r, sse) {
		if s, err = h.openStream(c, e.ID()); err != nil {
			return e.keepWork(errors.Join(err, e.Pause(h.base)))
		}
		defer s.done()
	}
	err = h.carryOut(c.r.Context(), e, s)
	switch {
	case err != nil && s == nil:
		return e.keepWork(err)
	case err != nil: // a client that has gone needs no answer
		_ = s.send(0, "error", object{"type": "error", "error": e.keepWork(err)})
	case s == nil:
		c.reply = resultOf(e)
	default:
		_ = s.send(0, "result", object{"type": "result", "result": resultOf(e)})
	}
	return nil
}

// carryOut waits until the command is carried out, and ends the conversation then. The events go to the
// stream; without one, it returns at a question.
func (h *Handler) carryOut(ctx context.Context, e *entry, s *stream) error {
	err := h.follow(ctx, e, 0, s.ping, func(event sdk.Event) (bool, error) {
		if s == nil && event.Type == sdk.EventQuestion {
			return true, nil
		}
		own := event.Agent == "" // and not of an agent that helps
		return own && (event.Type == sdk.EventIdle || event.Type == sdk.EventPaused || event.Type == sdk.EventCompleted), s.event(event)
	})
	if err == nil {
		err = h.awaitTools(ctx, e)
	}
	switch {
	case ctx.Err() != nil || err != nil && h.base.Err() == nil: // nobody waits for it any more
		return errors.Join(err, e.Pause(h.base))
	case err != nil:
		return err
	case len(e.Questions()) > 0:
		return nil
	}
	if _, err := e.Wait(ctx); err != nil {
		return err
	}
	if e.Status() == sdk.Idle {
		e.action.Lock()
		defer e.action.Unlock()
		if _, err := e.End(ctx); err != nil && !errors.Is(err, sdk.ErrEnded) {
			return err
		}
	}
	return nil
}

// awaitTools waits, if there is a question, until the tools that were used beside it have ended.
func (h *Handler) awaitTools(ctx context.Context, e *entry) error {
	for e.Status() == sdk.Processing && len(e.Questions()) > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-h.base.Done():
			return errClosing
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// keepWork adds the conversation with the work to a failure.
func (e *entry) keepWork(err error) *failure {
	f := *asFailure(err)
	f.Conversation = e.ID()
	f.Hint = cmp.Or(f.Hint, "its work so far is kept; GET the conversation")
	return &f
}
