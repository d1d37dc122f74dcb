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
func (h *Handler) command(c *call) (any, error) {
	c.Agent, c.Message = c.id(), strings.TrimSpace(c.r.PathValue("command")+" "+c.Message)
	if err := cmp.Or(words("agentId", c.Agent), words("message", c.Message)); err != nil {
		return nil, err
	}
	e, err := h.create(c, true)
	if err != nil {
		return nil, err
	}
	var s *stream
	if accepts(c.r, ndjson) || accepts(c.r, sse) {
		if s, err = h.openStream(c, e.ID()); err != nil {
			return nil, e.keepWork(errors.Join(err, e.Pause(h.base)))
		}
		defer s.done()
	}
	err = h.carryOut(c.r.Context(), e, s)
	switch {
	case s == nil && err != nil:
		return nil, e.keepWork(err)
	case s == nil:
		return resultOf(e), nil
	case err != nil: // a client that has gone needs no answer
		_ = s.send(0, "error", object{"type": "error", "error": e.keepWork(err)})
	default:
		_ = s.send(0, "result", object{"type": "result", "result": resultOf(e)})
	}
	return nil, nil
}

// carryOut waits until the command is carried out, and ends the conversation then. The events go to the
// stream; without one, it returns at a question.
func (h *Handler) carryOut(ctx context.Context, e *entry, s *stream) error {
	err := h.follow(ctx, e, 0, s, func(event sdk.Event) bool {
		switch event.Type {
		case sdk.EventQuestion:
			return s == nil
		case sdk.EventIdle, sdk.EventPaused, sdk.EventCompleted:
			return event.Agent == "" // and not of an agent that helps
		}
		return false
	})
	// The tools that were used beside the question may still be at work.
	for err == nil && e.Status() == sdk.Processing && len(e.Questions()) > 0 {
		time.Sleep(10 * time.Millisecond)
		if err = ctx.Err(); h.base.Err() != nil {
			err = errClosing
		}
	}
	if err = cmp.Or(err, ctx.Err()); err != nil && h.base.Err() == nil { // nobody waits for it any more
		return errors.Join(err, e.Pause(h.base))
	}
	if err != nil || len(e.Questions()) > 0 {
		return err
	}
	if _, err := e.Wait(ctx); err != nil {
		return err
	}
	if e.Status() == sdk.Idle {
		if _, err := e.End(ctx); err != nil && !errors.Is(err, sdk.ErrEnded) {
			return err
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
