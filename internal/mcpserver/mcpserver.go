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
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver/conformance"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/reach"
)

var (
	//go:embed instructions.md
	instructions string
	//go:embed method_instructions.md
	methodInstructions string
)

// TextLimit is what hosts keep of instructions and descriptions: Claude Code cuts
// both at 2,048 characters.
const TextLimit = 2000

// Places says where the server runs; both may be empty.
type Places struct {
	// Project is the folder the host names for us (CLAUDE_PROJECT_DIR); over HTTP, the project
	// that the server was started in, where it was not told which folders to serve.
	Project string
	// Folder is the server's own, unless it is / or the home folder, which no
	// host means as a project.
	Folder string
	// Served are the folders of a server for several clients, with links followed. Remote is
	// true where these may be on other machines, so that a folder counts only in one of them.
	Served []string
	Remote bool
}

// Options are what a Server needs besides the engine.
type Options struct {
	Version string
	Places  Places
	// Reach says which folders the one client may use; it is the engine's. nil is for a
	// server whose engine goes by the folders of Places alone.
	Reach *reach.Reach
	// HostConfirm says for which clients the tool bmad-confirm is listed.
	HostConfirm HostConfirm
	// Method serves the BMAD method; nil serves none.
	Method *method.Library
	// Toolsets are the groups of tools that are offered; none is ToolsetAuto.
	Toolsets []string
	Log      *slog.Logger
}

// Server serves the tools of one engine.
type Server struct {
	wire   *mcpwire.Wire
	engine *engine.Engine
	places Places
	forms  *forms
	roots  rootsOf
	reach  *reach.Reach
	// folderForms are the questions about folders.
	folderForms *forms
	log         *slog.Logger

	feed          *feed.Feed
	subscriptions *subscriptions
	metrics       *metrics
	hostConfirm   HostConfirm

	method   *method.Library
	toolsets []string
	// prompts and resources are those of every caller; fixedPrompts are the names of all that
	// the library knows.
	prompts      []mcp.Prompt
	resources    []mcp.Resource
	fixedPrompts []string
}

// New returns a server.
func New(e *engine.Engine, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		engine: e, places: o.Places, forms: newForms(e.Clock), reach: o.Reach, folderForms: newForms(e.Clock), log: o.Log, hostConfirm: o.HostConfirm,
		method: o.Method, toolsets: o.Toolsets,
	}
	recheck := func() {
		if s.method != nil {
			s.method.Recheck()
		}
	}
	s.feed = feed.New(feed.Options{Recheck: recheck, Now: e.Clock, Log: o.Log})
	s.subscriptions = &subscriptions{feed: s.feed, log: o.Log, look: s.look, base: s.base, listeners: map[streamKey]*listener{}}
	if s.reach != nil {
		s.roots.told = s.reach.SetRoots
	}
	s.metrics = newMetrics(s)
	hooks := &server.Hooks{}
	hooks.AddAfterListResources(s.listResources)
	hooks.AddAfterListPrompts(s.listPrompts)
	hooks.AddAfterListTools(s.listTools)
	hooks.AddBeforeGetPrompt(s.getOwn)
	hooks.AddBeforeReadResource(plainAddress)
	hooks.AddBeforeCallTool(s.callOwn)
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) { s.roots.forget(session.SessionID()) })
	s.subscriptions.hook(hooks)
	s.wire = mcpwire.New("bmad-mcp", o.Version, mcpwire.Options{FormLimit: s.formLimit, Refuse: failure, Log: o.Log}, hooks,
		server.WithTitle("BMAD workflow"),
		server.WithInstructions(s.instructions()),
		server.WithIcons(icons()...),
		server.WithLogging(),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(completions{s}),
		server.WithResourceCompletionProvider(completions{s}),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(s.servesMethod()),
		server.WithToolCapabilities(s.servesMethod()),
		server.WithToolFilter(s.listedTools),
	)
	s.wire.AddTool(s.described(taskTool()), s.handleTask)
	s.wire.AddTool(s.described(confirmTool()), s.handleConfirm)
	s.addPrompts()
	s.addResources()
	s.addMethod()
	conformance.Add(s.wire.MCPServer)
	if s.method != nil {
		s.method.SetChanged(s.feed.Poke)
	}
	s.wire.AddNotificationHandler("notifications/roots/list_changed", func(ctx context.Context, _ mcp.JSONRPCNotification) {
		s.roots.forget(clientKey(ctx))
	})
	return s
}

// methodSentence is what the instructions say of the toolset method.
const methodSentence = " For an agent or workflow of an installed BMAD method use bmad-agent and bmad-workflow."

// instructions are those of what is offered.
func (s *Server) instructions() string {
	switch {
	case !s.auto() && !s.offers(ToolsetTask):
		return methodInstructions
	case s.method == nil || !s.auto() && !s.offers(ToolsetMethod):
		return strings.Replace(instructions, methodSentence, "", 1)
	}
	return instructions
}

// close ends what waits: for people, and for changes.
func (s *Server) close() {
	s.wire.Close()
	s.feed.Close()
	if s.method != nil {
		s.method.Close()
	}
}

// ready reports what would keep every action from being done.
func (s *Server) ready() error {
	for _, project := range s.places.Served {
		if err := s.engine.Ready(engine.Request{Cwd: project}); err != nil {
			return err
		}
	}
	return nil
}

// ServeStdio serves one client until its input ends or ctx does, and answers
// every request it has read.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.close()
	return s.wire.ServeStdio(ctx, in, out)
}

// formLimit returns how long the person may take for the form with a state.
func (s *Server) formLimit(state string) time.Duration {
	if folder, ok := strings.CutPrefix(state, folderPrefix); ok {
		return s.folderForms.limit(folder)
	}
	return s.forms.limit(state)
}
