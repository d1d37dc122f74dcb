// Package mcpwire connects a server of the protocol library to its clients, on stdio and over
// HTTP, and repairs the library's faults on the way. It does not know any tool, prompt or
// resource: those are the server's.
//
// A client is modern since protocol 2026-07-28, legacy before. If a handler needs something of its
// client, for example a person's answer to a form, it returns a result that asks for it, and runs
// again with the answer.
package mcpwire

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Options configure a Wire.
type Options struct {
	// FormLimit returns the time that the person may take for the form with a state.
	FormLimit func(state string) time.Duration
	// Refuse turns an error into the result of a tool call.
	Refuse func(context.Context, mcp.CallToolRequest, error) *mcp.CallToolResult
	// Missing returns the error for a request if nobody has added its tool, prompt or resource. The
	// library's own text names the request twice and gives no help.
	Missing func(ctx context.Context, method mcp.MCPMethod, name string) Error
	// Language is the language of refusals over HTTP.
	Language lang.Language
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
}

// Wire is a server of the library, and its ways to clients.
type Wire struct {
	MCP    *server.MCPServer
	spoken lang.Language
	log    *slog.Logger
	tasks  *tasks
	called sync.Once // a tool
	// closing ends when the server begins to close: waiting for a person then goes on without
	// an answer. It is of the server, not of a call, and therefore kept.
	closing context.Context
	end     context.CancelFunc
	// leaving ends with closing, and on stdio also when the client has closed its input.
	leaving context.Context
	leave   context.CancelFunc
}

// New makes a server of the library with the given hooks and options, and its wire.
func New(self mcp.Implementation, o Options, hooks *server.Hooks, options ...server.ServerOption) *Wire {
	w := &Wire{spoken: o.Language, log: o.Log}
	w.closing, w.end = context.WithCancel(context.Background())
	w.leaving, w.leave = context.WithCancel(w.closing)
	w.tasks = &tasks{
		now: o.Now, limits: defaultTaskLimits, closing: w.closing, open: map[string]*task{}, followers: map[*follower]bool{},
		self: self,
	}
	hooks.AddBeforeCallTool(func(context.Context, any, *mcp.CallToolRequest) { w.called.Do(collectAsUsual) })
	hooks.AddOnError(noteFailure(o.Missing))
	hooks.AddAfterCallTool(w.tasks.noteHandle)
	hooks.AddBeforeSubscriptionsListen(w.tasks.follow)
	hooks.AddAfterInitialize(func(_ context.Context, _ any, _ *mcp.InitializeRequest, result *mcp.InitializeResult) {
		result.Capabilities.Extensions = nil // there are none before 2026-07-28
	})
	w.MCP = server.NewMCPServer(self.Name, self.Version, append([]server.ServerOption{
		server.WithTitle(self.Title),
		server.WithIcons(self.Icons...),
		server.WithHooks(hooks),
		server.WithExtensions(map[string]any{TasksExtension: struct{}{}}),
		server.WithToolHandlerMiddleware(w.tasks.middleware),
		server.WithToolHandlerMiddleware(recovering(o.Log, o.Refuse)),
		server.WithToolHandlerMiddleware(bridge{o.FormLimit, o.Refuse, w.tasks}.middleware),
	}, options...)...)
	return w
}

// collectAsUsual gives the collector of memory its usual pace, which the program does not have while it starts.
func collectAsUsual() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100)
	}
}

// Close ends all waiting for people. Requests that come over HTTP from now on are refused.
func (w *Wire) Close() { w.end() }

// Closing reports whether the server has begun to close.
func (w *Wire) Closing() bool { return w.closing.Err() != nil }

// Leaving returns a context that is done when calls have to come to their end: the server begins to
// close, or its one client has closed its side.
func (w *Wire) Leaving() context.Context { return w.leaving }
