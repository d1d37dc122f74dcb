// Package mcpserver is the MCP face: it turns tool calls into engine requests and
// engine replies into results. Handlers hold only what they adapt.
//
// A reply is one text block of compact JSON and no structured content: hosts that
// see both show the model only one of them, or pay for both. A refused action is
// a result with isError, so that the model can read it and correct itself; a
// JSON-RPC error is left to what is wrong with the protocol.
package mcpserver

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"bmad-mcp/internal/engine"
)

//go:embed instructions.md
var instructions string

// TextLimit is what hosts keep of instructions and descriptions: Claude Code cuts
// both at 2,048 characters.
const TextLimit = 2000

// Places says where the server runs; both may be empty.
type Places struct {
	// Project is the folder the host names for us (CLAUDE_PROJECT_DIR).
	Project string
	// Folder is the server's own, unless it is / or the home folder, which no
	// host means as a project.
	Folder string
}

// Options are what a Server needs besides the engine.
type Options struct {
	Version string
	Places  Places
	// HostConfirm says for which clients the tool bmad-confirm is listed.
	HostConfirm HostConfirm
	Log         *slog.Logger
}

// Server serves the tools of one engine.
type Server struct {
	mcp    *server.MCPServer
	engine *engine.Engine
	places Places
	forms  *forms
	log    *slog.Logger

	hostConfirm HostConfirm
}

// New returns a server.
func New(e *engine.Engine, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{engine: e, places: o.Places, forms: newForms(e.Clock), log: o.Log, hostConfirm: o.HostConfirm}
	s.mcp = server.NewMCPServer("bmad-mcp", o.Version,
		server.WithTitle("BMAD workflow"),
		server.WithInstructions(instructions),
		server.WithToolCapabilities(false),
		server.WithToolHandlerMiddleware(s.recovering),
		server.WithToolHandlerMiddleware(s.bridging),
		server.WithToolFilter(s.listedTools),
	)
	s.mcp.AddTool(taskTool(), s.handleTask)
	s.mcp.AddTool(confirmTool(), s.handleConfirm)
	return s
}

// Sizes of the worker pool and its queue: calls beyond both would keep the
// reader from seeing anything else.
const (
	workers   = 32
	queueSize = 1000
)

// ServeStdio serves one client until its input ends or ctx does, and answers
// every request it has read.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	stdio := server.NewStdioServer(s.mcp)
	server.WithWorkerPoolSize(workers)(stdio)
	server.WithQueueSize(queueSize)(stdio)
	stdio.SetErrorLogger(log.New(slogWriter{s.log}, "", 0))
	g := newGate(in, out)
	return stdio.Listen(ctx, g, g)
}

// recovering turns a panic of a handler into a refused action.
func (s *Server) recovering(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("a tool call failed", "tool", req.Params.Name, "panic", p)
				result, err = failure(fmt.Errorf("internal error: %v", p)), nil
			}
		}()
		return next(ctx, req)
	}
}

// slogWriter passes the library's log lines on.
type slogWriter struct{ log *slog.Logger }

func (w slogWriter) Write(p []byte) (int, error) {
	w.log.Warn("stdio", "message", string(p))
	return len(p), nil
}
