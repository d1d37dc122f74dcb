package mcpserver

import (
	"context"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// caught, deferred, turns a panic into an error that promises nothing: how far the action
// had come is not known. The log has the stack.
func (s *Server) caught(kind, name string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	s.log.Error("internal error", kind, name, "panic", p, "stack", string(debug.Stack()))
	*err = fault.Unexpected(p)
}

// recovering turns a panic of a tool's handler into a refused action.
func (s *Server) recovering(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		var bug error
		defer func() {
			if bug != nil {
				result, err = failure(bug), nil
			}
		}()
		defer s.caught("tool", req.Params.Name, &bug)
		return next(ctx, req)
	}
}
