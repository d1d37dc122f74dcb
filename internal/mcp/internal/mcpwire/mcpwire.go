// Package mcpwire connects a server of the protocol library to clients, on stdio and over HTTP, and repairs
// faults of the library on the way. It knows no tool, prompt or resource.
//
// A client is modern since protocol 2026-07-28, legacy before. If a handler needs something of the client,
// for example a person's answer to a form, it returns a result with the question, and runs again with the
// answer.
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
	// Question returns a context for the wait for the answers to the question with a state: it ends with the time
	// limit of the question, and if no answer is needed any more. After done, an answer counts for nothing.
	Question func(ctx context.Context, state string) (waiting context.Context, done func())
	// Refuse turns an error into the result of a tool call.
	Refuse func(context.Context, mcp.CallToolRequest, error) *mcp.CallToolResult
	// Missing returns the error for a request for an unknown tool, prompt or resource. The library's own text
	// names the request twice and gives no help.
	Missing func(ctx context.Context, method mcp.MCPMethod, name string) Error
	// Language is the language of refusals over HTTP.
	Language lang.Language
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
}

// Wire is a server of the library, with the ways to clients.
type Wire struct {
	MCP    *server.MCPServer
	spoken lang.Language
	log    *slog.Logger
	tasks  *tasks
	called sync.Once // for the first call of a tool
	// closing ends when the server begins to close. Calls waiting for a person then go on without an answer.
	closing context.Context
	end     context.CancelFunc
	// leaving ends with closing, and on stdio also at the end of the input.
	leaving context.Context
	leave   context.CancelFunc
}

// New returns a wire with a new server of the library, which gets the hooks and options.
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
	hooks.AddBeforeSubscriptionsListen(w.tasks.addFollower)
	hooks.AddAfterInitialize(func(_ context.Context, _ any, _ *mcp.InitializeRequest, result *mcp.InitializeResult) {
		result.Capabilities.Extensions = nil // there are none before 2026-07-28
	})
	w.MCP = server.NewMCPServer(self.Name, self.Version, append([]server.ServerOption{
		server.WithTitle(self.Title),
		server.WithIcons(self.Icons...),
		server.WithHooks(hooks),
		server.WithExtensions(map[string]any{TasksExtension: struct{}{}}),
		server.WithToolHandlerMiddleware(w.tasks.middleware),
		server.WithToolHandlerMiddleware(recoverPanics(o.Log, o.Refuse)),
		server.WithToolHandlerMiddleware(bridge{o.Question, o.Refuse, w.tasks}.middleware),
	}, options...)...)
	return w
}

// collectAsUsual sets the garbage collector to the usual pace. The program starts with another one.
func collectAsUsual() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100)
	}
}

// Close ends all waiting for people. From now on, requests over HTTP are refused.
func (w *Wire) Close() { w.end() }

// Closing reports whether the server has begun to close.
func (w *Wire) Closing() bool { return w.closing.Err() != nil }

// Leaving returns a context that is done when calls have to end: the server begins to close, or the one
// client on stdio has closed the input.
func (w *Wire) Leaving() context.Context { return w.leaving }
