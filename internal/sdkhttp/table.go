package sdkhttp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// entry is a conversation in memory.
type entry struct {
	*sdk.Conversation
	// open reads a saved one, at its first use.
	open sync.Once
	err  error
	// action is held while a request changes the conversation.
	action sync.Mutex

	// live ends if another process has continued the conversation: its streams end, and clients that
	// connect again get the continued one.
	live  context.Context
	leave context.CancelFunc

	// users counts the requests that have it, used is the time at which the last one ended, and
	// starting is true while one gives it work. They belong to the handler's lock.
	users    int
	used     time.Time
	starting bool
}

// atWork reports whether the agent is.
func (e *entry) atWork() bool { return e.Conversation != nil && e.Status() == sdk.Processing }

// hold returns a conversation, which stays in memory until release is called.
func (h *Handler) hold(ctx context.Context, id string) (e *entry, release func(), err error) {
	h.mu.Lock()
	if e = h.open[id]; e == nil {
		e = h.enlist(id, nil)
	}
	e.users++
	h.mu.Unlock()
	e.open.Do(func() {
		if e.Conversation == nil {
			c, err := h.o.Client.Open(context.WithoutCancel(ctx), id)
			h.mu.Lock()
			e.Conversation, e.err = c, err
			h.mu.Unlock()
		}
	})
	release = func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		e.users--
		e.used = h.o.Clock()
		if e.users == 0 && h.open[id] != e {
			e.leave()
		}
	}
	if e.err != nil {
		h.forget(id, e)
		release()
		return nil, nil, e.err
	}
	return e, release, nil
}

// keep enters a new conversation.
func (h *Handler) keep(c *sdk.Conversation) (e *entry, release func(), err error) {
	h.mu.Lock()
	h.enlist(c.ID(), c)
	h.mu.Unlock()
	return h.hold(h.base, c.ID())
}

// enlist enters a conversation; nil is for one that is to be opened. The caller holds the lock.
func (h *Handler) enlist(id string, c *sdk.Conversation) *entry {
	e := &entry{Conversation: c}
	e.live, e.leave = context.WithCancel(h.base)
	h.open[id] = e
	return e
}

// forget removes a conversation from memory.
func (h *Handler) forget(id string, e *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[id] == e {
		delete(h.open, id)
	}
}

// act carries out a change of a conversation: one at a time, between two steps of its agent, and on
// the saved state, which another process may have continued.
func (h *Handler) act(r *http.Request, do func(context.Context, *entry) error) error {
	ctx, id := r.Context(), r.PathValue("id")
	for again := false; ; again = true {
		e, release, err := h.hold(ctx, id)
		if err != nil {
			return err
		}
		err = func() error {
			defer release()
			e.action.Lock()
			defer e.action.Unlock()
			if err := h.settle(ctx, e); err != nil {
				return err
			}
			return do(ctx, e)
		}()
		if elsewhere := errors.Is(err, sdk.ErrChanged) || errors.Is(err, sdk.ErrNotFound); !elsewhere {
			return err
		}
		h.forget(id, e)
		e.leave()
		if again {
			return err
		}
	}
}

// settle waits until a turn that is over is saved, too, and compares the conversation in memory with
// the saved one.
func (h *Handler) settle(ctx context.Context, e *entry) error {
	if e.busy() {
		return nil
	}
	_, _ = e.Wait(ctx) // the error is that of the turn, or the context's
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return e.Fresh(ctx)
}

// busy reports whether a turn is under way. One that waits for an answer is not if its process has
// ended since.
func (e *entry) busy() bool {
	switch e.Status() {
	case sdk.Processing:
		return true
	case sdk.Waiting:
		return errors.Is(e.failure(), context.DeadlineExceeded)
	}
	return false
}

// failure returns the error that ended the last turn early, [context.DeadlineExceeded] while one is
// under way.
func (e *entry) failure() error {
	ctx, cancel := context.WithDeadline(context.Background(), time.Time{})
	defer cancel()
	_, err := e.Wait(ctx)
	return err
}

// begin makes room for a conversation that is to work, gives it the work, and waits until that is
// saved, also for a client that has gone: others may rely on it. action is held.
func (h *Handler) begin(e *entry, work func() error) error {
	h.mu.Lock()
	n := 0
	for _, other := range h.open {
		if other != e && (other.starting || other.atWork()) {
			n++
		}
	}
	full := n >= h.o.AtWork
	e.starting = !full
	h.mu.Unlock()
	if full {
		return errFull
	}
	err := work()
	if err == nil {
		if err = e.Sync(h.base); err != nil { // the saved state counts
			h.forget(e.ID(), e)
			e.leave()
		}
	}
	h.mu.Lock()
	e.starting = false
	h.mu.Unlock()
	if err != nil && h.base.Err() != nil {
		return errClosing
	}
	return e.explainBusy(err)
}

// explainBusy adds the status of the conversation to an error if that is sdk.ErrBusy.
func (e *entry) explainBusy(err error) error {
	if !errors.Is(err, sdk.ErrBusy) {
		return err
	}
	f := *asFailure(sdk.ErrBusy)
	switch e.Status() {
	case sdk.Waiting:
		f.Code, f.Message, f.Hint = "waiting", "the agent waits for the answer to a question", "POST it to …/answers, or cancel the turn"
	case sdk.Paused:
		f.Code, f.Message, f.Hint = "paused", "a turn is paused", "POST to …/resume to go on, or to …/cancel to give it up"
	}
	return &f
}

// sweep drops the conversations from memory that nobody uses.
func (h *Handler) sweep() {
	tick := time.NewTicker(max(h.o.Idle/8, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-h.base.Done():
			return
		case <-tick.C:
			h.drop(h.o.Clock().Add(-h.o.Idle))
		}
	}
}

// drop saves the conversations that were used last before a time, and removes them from memory.
func (h *Handler) drop(before time.Time) {
	h.mu.Lock()
	unused := map[string]*entry{}
	for id, e := range h.open {
		if e.users == 0 && e.Conversation != nil && e.used.Before(before) && !e.busy() {
			unused[id] = e
			e.users++
		}
	}
	h.mu.Unlock()
	for id, e := range unused {
		err := e.Save(h.base)
		gone := errors.Is(err, sdk.ErrChanged) || errors.Is(err, sdk.ErrNotFound) // elsewhere
		h.mu.Lock()
		if e.users--; e.users == 0 && (err == nil || gone) {
			delete(h.open, id)
			e.leave()
		}
		h.mu.Unlock()
		if err != nil && !gone {
			h.o.Log.Warn("an unused conversation cannot be saved", "conversation", id, "error", err)
		}
	}
}
