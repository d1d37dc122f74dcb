package mcpwire

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// Caught turns a panic into an error that promises nothing: it is not known how far the action
// had come. It has to be deferred. The log has the stack.
func Caught(log *slog.Logger, kind, name string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	log.Error("internal error", kind, name, "panic", p, "stack", string(debug.Stack()))
	*err = fault.Unexpected(p)
}

// recovering turns a panic of a tool's handler into a refused action.
func recovering(log *slog.Logger, refuse func(error) *mcp.CallToolResult) server.ToolHandlerMiddleware {
	return func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
		return func(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
			var bug error
			defer func() {
				if bug != nil {
					result, err = refuse(bug), nil
				}
			}()
			defer Caught(log, "tool", req.Params.Name, &bug)
			return next(ctx, req)
		}
	}
}
