package mcpserver

import (
	"context"
	"math"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
)

// telling returns what passes an action's notices on to the client: as progress, if the
// call asks for that, and as log messages at level info, which clients are sent only if
// they want that level.
func telling(ctx context.Context, call mcp.CallToolRequest) func(engine.Notice) {
	var token mcp.ProgressToken
	if call.Params.Meta != nil {
		token = call.Params.Meta.ProgressToken
	}
	srv := server.ServerFromContext(ctx)
	if srv == nil {
		return nil
	}
	var mu sync.Mutex
	last := -1.0
	return func(n engine.Notice) {
		mu.Lock()
		defer mu.Unlock()
		// A client that takes no notification is no reason to stop the work.
		_ = srv.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "bmad-mcp", n.Message))
		if token == nil {
			return
		}
		// The protocol wants it to grow each time; a clock may stand still.
		progress := max(n.Elapsed.Seconds(), math.Nextafter(last, math.MaxFloat64))
		last = progress
		params := map[string]any{"progressToken": token, "progress": progress, "message": n.Message}
		if n.Limit > 0 {
			params["total"] = max(n.Limit.Seconds(), progress)
		}
		_ = mcpwire.SendProgress(ctx, params)
	}
}
