package mcpserver

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/httpguard"
)

// waitLimits bound the calls that wait at once, of one client and of all: each holds a connection, as a
// stream does, or on stdio a worker, so that others stay free. A call beyond them is answered at once.
var waitLimits = httpguard.Limits{PeerStreams: 12, Streams: 1000}

// waits are the calls that wait for a person to act.
type waits struct {
	feed *feed.Feed
	// leaving ends once no call may wait any longer.
	leaving context.Context
	limiter *httpguard.Limiter
}

// hold has a call of a client wait until a look at a project shows another state than seen.
func (w *waits) hold(ctx context.Context, client, project, seen string, look func(context.Context) string) {
	done, ok := w.limiter.Stream(client, "")
	if !ok {
		return
	}
	defer done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.leaving, cancel)()
	w.feed.Await(ctx, project, seen, look)
}
