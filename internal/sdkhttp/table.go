package sdkhttp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// entry is a conversation in memory.
type entry struct {
	*sdk.Conversation
	id string
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
	return h.keep(id, func() (*sdk.Conversation, error) { return h.o.Client.Open(context.WithoutCancel(ctx), id) })
}

// keep is hold with a function that opens the conversation if it is not in memory.
func (h *Handler) keep(id string, open func() (*sdk.Conversation, error)) (e *entry, release func(), err error) {
	h.mu.Lock()
	if e = h.open[id]; e == nil {
		e = &entry{id: id}
		e.live, e.leave = context.WithCancel(h.base)
		h.open[id] = e
	}
	e.users++
	h.mu.Unlock()
	e.open.Do(func() {
		c, err := open()
		h.mu.Lock()
		defer h.mu.Unlock()
		e.Conversation, e.err = c, err
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
		h.forget(e)
		release()
		return nil, nil, e.err
	}
	return e, release, nil
}

// forget removes a conversation from memory.
func (h *Handler) forget(e *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[e.id] == e {
		delete(h.open, e.id)
	}
}

// isElsewhere reports whether another process has continued or removed a conversation.
func isElsewhere(err error) bool {
	return errors.Is(err, sdk.ErrChanged) || errors.Is(err, sdk.ErrNotFound)
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
			h.forget(e)
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
	var unused []*entry
	for _, e := range h.open {
		if e.users == 0 && e.Conversation != nil && e.used.Before(before) && !e.busy() {
			unused = append(unused, e)
			e.users++
		}
	}
	h.mu.Unlock()
	for _, e := range unused {
		err := e.Save(h.base)
		saved := err == nil || isElsewhere(err)
		h.mu.Lock()
		if e.users--; e.users == 0 && saved {
			delete(h.open, e.id)
			e.leave()
		}
		h.mu.Unlock()
		if !saved {
			h.o.Log.Warn("an unused conversation cannot be saved", "conversation", e.id, "error", err)
		}
	}
}
