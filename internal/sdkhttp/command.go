package sdkhttp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// command has an agent carry out one command, and returns its result; a client that accepts a stream
// gets the events before. The work is kept as a conversation if it asks the person, fails or loses
// its client.
func (h *Handler) command(w http.ResponseWriter, r *http.Request) error {
	agent := r.PathValue("id")
	e, release, err := h.create(w, r, keys{}, &agent, r.PathValue("command"), true)
	if err != nil {
		return err
	}
	defer release()
	lines, streams := accepts(r, ndjson), accepts(r, ndjson) || accepts(r, sse)
	if !streams {
		if err := h.carryOut(r.Context(), e, func() error { return nil }, func(event sdk.Event) (bool, error) { return event.Type == sdk.EventQuestion, nil }); err != nil {
			return e.keepWork(err)
		}
		reply(w, http.StatusOK, resultOf(e))
		return nil
	}
	s, done, err := h.openStream(w, r, lines, e.ID())
	if err != nil {
		return e.keepWork(errors.Join(err, e.Pause(h.base)))
	}
	defer done()
	err = h.carryOut(r.Context(), e, s.ping, func(event sdk.Event) (bool, error) {
		return false, s.send(event.Seq, string(event.Type), eventOf(event))
	})
	if err != nil { // a client that has gone needs no answer
		_ = s.send(0, "error", object{"type": "error", "error": e.keepWork(err)})
		return nil
	}
	_ = s.send(0, "result", object{"type": "result", "result": resultOf(e)})
	return nil
}

// carryOut waits until the command is carried out, and ends the conversation then. each sees the
// events, and returns true to stop.
func (h *Handler) carryOut(ctx context.Context, e *entry, ping func() error, each func(sdk.Event) (bool, error)) error {
	err := h.follow(ctx, e, 0, ping, func(event sdk.Event) (bool, error) {
		last, err := each(event)
		own := event.Agent == "" // and not of an agent that helps
		return last || own && (event.Type == sdk.EventIdle || event.Type == sdk.EventPaused || event.Type == sdk.EventCompleted), err
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
	if f.Hint == "" {
		f.Hint = "its work so far is kept; GET the conversation"
	}
	return &f
}
