package web

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// Queue reads the queue of the runs that the workers of a team have.
type Queue interface {
	// View returns the runs that are not done, the run of a session if that is not "", and the workers.
	View(ctx context.Context, sessionID string) (queue.View, error)
}

// queueWait bounds the time in which a page reads the queue: the rest of it does not need the queue.
const queueWait = 2 * time.Second

// crew is the queue for one page. A nil one is for a page without a queue.
type crew struct {
	queue.View
	entries map[string]*queue.Entry
	// trouble is the error in reading the queue.
	trouble error
}

// readCrew reads the queue, nil without one. Its callers could read the sessions, so that no page waits for a
// database that is away a second time.
func readCrew(ctx context.Context, q Queue, sessionID string) *crew {
	if q == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, queueWait)
	defer cancel()
	out := &crew{entries: map[string]*queue.Entry{}}
	if out.View, out.trouble = q.View(ctx, sessionID); out.trouble != nil {
		out.View = queue.View{}
	}
	for i := range out.Entries {
		out.entries[out.Entries[i].SessionID] = &out.Entries[i]
	}
	return out
}

// entry returns the entry of a session, nil if it has none.
func (c *crew) entry(sessionID string) *queue.Entry {
	if c == nil {
		return nil
	}
	return c.entries[sessionID]
}

// goesOn reports whether workers have a run, so that nobody else is to work on it.
func goesOn(e *queue.Entry) bool {
	return e != nil && (e.State == queue.Ready || e.State == queue.Working)
}
