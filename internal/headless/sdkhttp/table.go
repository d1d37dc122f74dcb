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
	// action is held while a request changes the conversation.
	action sync.Mutex
	// idle drops the conversation from memory if nobody has used it for a while.
	idle *time.Timer
	// starting is true while a request gives it work. It belongs to the handler's lock.
	starting bool
}

// holdEntry returns a conversation, which stays in memory until nobody has asked for it for a while.
func (h *Handler) holdEntry(ctx context.Context, id string) (*entry, error) {
	h.mu.Lock()
	e := h.open[id]
	if e != nil {
		e.idle.Reset(h.idle)
	}
	h.mu.Unlock()
	if e != nil {
		return e, nil
	}
	c, err := h.o.Client.OpenWith(ctx, id, sdk.OpenOptions{Tools: h.o.Tools})
	if err != nil {
		return nil, err
	}
	return h.keepEntry(&entry{Conversation: c}), nil
}

// keepEntry keeps a conversation in memory, and returns it, or the one opened by another request.
func (h *Handler) keepEntry(e *entry) *entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	if other := h.open[e.ID()]; other != nil {
		return other
	}
	e.idle = time.AfterFunc(h.idle, func() { h.dropIdle(e) })
	h.open[e.ID()] = e
	return e
}

// forgetEntry removes a conversation from memory.
func (h *Handler) forgetEntry(e *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.idle.Stop()
	if h.open[e.ID()] == e {
		delete(h.open, e.ID())
	}
}

// dropIdle saves an unused conversation, and removes it from memory. One that is at work, or cannot be saved,
// stays.
func (h *Handler) dropIdle(e *entry) {
	if h.base.Err() != nil {
		return
	}
	stays := !e.action.TryLock()
	if !stays {
		defer e.action.Unlock()
		stays = e.isBusy()
	}
	if !stays {
		if err := e.Save(h.base); err != nil && !isElsewhere(err) {
			h.o.Log.Warn("an unused conversation cannot be saved", "conversation", e.ID(), "error", err)
			stays = true
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch used := e.idle.Stop(); { // it runs again if somebody has asked for the conversation since
	case h.open[e.ID()] != e:
	case used || stays:
		e.idle.Reset(h.idle)
	default:
		delete(h.open, e.ID())
	}
}

// isElsewhere reports whether another process has continued or removed a conversation.
func isElsewhere(err error) bool {
	return errors.Is(err, sdk.ErrChanged) || errors.Is(err, sdk.ErrNotFound)
}

// isBusy reports whether a turn is under way. A conversation at a question is not busy if its process has ended
// since.
func (e *entry) isBusy() bool {
	if status := e.Status(); status != sdk.Waiting {
		return status == sdk.Processing
	}
	return errors.Is(e.turnError(), context.DeadlineExceeded)
}

// turnError returns the error of the last turn's early end, [context.DeadlineExceeded] while one is under way.
func (e *entry) turnError() error {
	ctx, cancel := context.WithDeadline(context.Background(), time.Time{})
	defer cancel()
	_, err := e.Wait(ctx)
	return err
}

// beginWork makes room for a conversation, gives it the work, and waits until the work is saved, even for a
// lost client: others may rely on it. action is held.
func (h *Handler) beginWork(e *entry, work func() error) error {
	h.mu.Lock()
	n := 0
	for _, other := range h.open {
		if other != e && (other.starting || other.Status() == sdk.Processing) {
			n++
		}
	}
	e.starting = n < h.atWork
	h.mu.Unlock()
	if n >= h.atWork {
		return errFull
	}
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		e.starting = false
	}()
	err := work()
	if err == nil {
		if err = e.Sync(h.base); err != nil && h.base.Err() == nil { // the client reads that it was not taken
			e.Cancel()
		}
	}
	if err != nil && h.base.Err() != nil {
		return errClosing
	}
	return err
}

// explainBusy adds the status of the conversation to an sdk.ErrBusy.
func (e *entry) explainBusy(err error) error {
	if !errors.Is(err, sdk.ErrBusy) {
		return err
	}
	f := *asFailure(sdk.ErrBusy)
	switch e.Status() {
	case sdk.Waiting:
		f.Code, f.Message, f.Hint = "waiting", "the agent waits for the answer to a question", "POST it to …/answers"
	case sdk.Paused:
		f.Code, f.Message, f.Hint = "paused", "a turn is paused", "bmad-mcp agent resume goes on with it, on the server's machine"
	}
	return &f
}
