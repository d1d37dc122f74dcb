package sdkhttp

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// runCommand has an agent carry out one command, and returns the result. The work is kept as a conversation if
// it asks the person, fails or loses the client.
func (h *Handler) runCommand(c *call) (any, error) {
	c.Agent, c.Message = c.id(), strings.TrimSpace(c.r.PathValue("command")+" "+c.Message)
	if err := cmp.Or(requireText("agentId", c.Agent), requireText("message", c.Message)); err != nil {
		return nil, err
	}
	e, err := h.createEntry(c, true)
	if err != nil {
		return nil, err
	}
	if err := h.carryOut(c.r.Context(), e); err != nil {
		return nil, e.keepWork(err)
	}
	return resultOf(e), nil
}

// carryOut waits until the command is carried out, and ends the conversation then. It returns at a
// question.
func (h *Handler) carryOut(ctx context.Context, e *entry) error {
	err := h.followEvents(ctx, e, 0, nil, func(event sdk.Event) bool {
		switch event.Type {
		case sdk.EventQuestion:
			return true
		case sdk.EventIdle, sdk.EventPaused, sdk.EventCompleted:
			return event.Agent == "" // and not of a sub-agent
		}
		return false
	})
	// Tools used beside the question may still be at work.
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
