package mcpserver

import (
	"context"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/feed"
)

// Limits of the calls that wait at once, of one client and of all. On stdio each holds a worker,
// so that others stay free. A call beyond them is answered at once.
const (
	maxWaits    = 12
	maxAllWaits = 1000
)

// waits are the calls that wait for a person to act.
type waits struct {
	feed *feed.Feed
	// leaving ends once no call may wait any longer.
	leaving context.Context

	mu  sync.Mutex
	of  map[string]int // by client
	all int
}

// hold has a call of a client wait until a look at a project shows another state than seen.
func (w *waits) hold(ctx context.Context, client, project, seen string, look func(context.Context) string) {
	if !w.enter(client) {
		return
	}
	defer w.exit(client)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.leaving, cancel)()
	w.feed.Await(ctx, project, seen, look)
}

func (w *waits) enter(client string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of[client] >= maxWaits || w.all >= maxAllWaits {
		return false
	}
	w.of[client]++
	w.all++
	return true
}

func (w *waits) exit(client string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all--
	if w.of[client]--; w.of[client] == 0 {
		delete(w.of, client)
	}
}
