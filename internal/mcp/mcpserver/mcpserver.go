// Package mcpserver is the MCP face: it turns tool calls into engine requests and
// engine replies into results, and serves prompts and resources.
//
// A reply is one text block of compact JSON and no structured content: hosts that
// see both show the model only one of them, or pay for both. A refused action is
// a result with isError, so that the model can read it and correct itself;
// JSON-RPC errors are for violations of the protocol.
//
// A caller is the sender of a request, as far as it is known. A toolset is a group
// of tools that are offered together; the offer of a caller decides which it gets.
// A listener is a subscriber of the feed behind one stream of notifications.
//
// # Invariants
//
//   - A form that is answered in under a second decides nothing, because some hosts answer
//     forms by themselves; nor does one whose second form, for words, is not answered
//     (TestDecisionByForm, TestWordsAreForTheirDecision).
//   - A web page gets no form, because it may be anyone's (TestPagesDecideNothing,
//     TestPagesAnswerForNobody).
//   - Stdout belongs to the protocol, and every request that was read is answered before the
//     process ends (TestEveryRequestIsAnsweredBeforeTheEnd).
//   - Prompts and resources show nothing that the tool cannot (status with view), because some
//     hosts only have tools. Neither changes anything (TestTranscripts, TestViews).
package mcpserver

import (
	"context"
	_ "embed"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

var (
	//go:embed instructions.md
	instructions string
	//go:embed method_instructions.md
	methodInstructions string
)

// Options configure a Server.
type Options struct {
	Version string
	Places  Places
	// Reach says which folders the one client may use; it is the engine's. nil is for a
	// server whose engine goes by the folders of Places alone.
	Reach Reach
	// HostConfirm says for which clients the tool bmad-confirm is listed: with auto for those
	// on stdio that claim to be a host known to ask the person.
	HostConfirm config.HostConfirm
	// Method serves the BMAD method; nil serves none.
	Method *method.Library
	// Memory keeps the notes of projects; nil serves no toolset memory.
	Memory *memory.Memory
	// Model answers tasks for agents if the host's model cannot; it may be nil.
	Model Model
	// Page returns the address at which a dashboard shows the document of a stage; "" if none
	// runs. It may be nil.
	Page func(cwd, task, stage string) string
	// State is the person's state folder, if there is one.
	State string
	// Toolsets are the groups of tools that are offered; none is auto.
	Toolsets []config.Toolset
	Log      *slog.Logger
}

// Server serves the tools, prompts and resources of one engine.
type Server struct {
	wire    *mcpwire.Wire
	engine  *engine.Engine
	callers *callers
	offer   *offer
	feed    *feed.Feed
	metrics *metrics
	log     *slog.Logger
}

// New returns a server.
func New(e *engine.Engine, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		engine: e, log: o.Log, metrics: newMetrics(),
		callers: &callers{engine: e, places: o.Places, reach: o.Reach, forms: newForms(e.Clock),
			hostConfirm: o.HostConfirm, page: o.Page, log: o.Log},
		offer: &offer{engine: e, library: o.Method, toolsets: o.Toolsets, hasMemory: o.Memory != nil, sets: map[string]config.Toolset{}, remote: o.Places.Remote, log: o.Log},
	}
	if o.Reach != nil {
		s.callers.roots.told = o.Reach.SetRoots
	}
	s.feed = e.Projects().NewFeed(feed.Options{Recheck: s.recheck, State: o.State, Now: e.Clock, Log: o.Log})
	if o.Method != nil {
		o.Method.SetChanged(s.feed.PokeAll)
	}
	s.connect(o)
	of := projectTools{callers: s.callers, offer: s.offer, changed: s.feed.Poke}
	tools := allTools(
		tasks{callers: s.callers, metrics: s.metrics, feed: s.feed, leaving: s.wire.Leaving(), limiter: httpguard.NewLimiter(waitLimits)},
		methodTools{of},
		memoryTools{projectTools: of, memory: o.Memory, model: o.Model})
	for _, t := range tools {
		s.offer.sets[t.name] = t.toolset
		if s.offer.has(t.toolset) {
			t.schema = s.callers.schema(t)
			s.wire.MCP.AddTool(t.definition(), t.handle)
		}
	}
	addFixtures(s.wire.MCP)
	return s
}

// connect makes the server of the library, with prompts and resources.
func (s *Server) connect(o Options) {
	p := &prompts{callers: s.callers, offer: s.offer}
	r := &resources{callers: s.callers, offer: s.offer, memory: o.Memory}
	subs := &subscriptions{callers: s.callers, feed: s.feed, listeners: map[streamKey]*listener{}}
	l := &lists{callers: s.callers, offer: s.offer, prompts: p, resources: r, subscriptions: subs}
	subs.look = l.look

	hooks := &server.Hooks{}
	hooks.AddAfterListResources(l.listResources)
	hooks.AddAfterListPrompts(l.listPrompts)
	hooks.AddAfterListTools(l.listTools)
	hooks.AddBeforeGetPrompt(p.getOwn)
	hooks.AddBeforeReadResource(plainAddress)
	hooks.AddBeforeCallTool(l.callOwn)
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) { s.callers.roots.forget(session.SessionID()) })
	subs.hook(hooks)
	s.wire = mcpwire.New(mcp.Implementation{Name: "bmad-mcp", Version: o.Version, Title: "BMAD workflow", Icons: icons()}, mcpwire.Options{FormLimit: s.callers.forms.limit,
		Refuse: s.callers.refuseCall, Missing: l.missing, Language: s.engine.Projects().Language(""),
		Now: s.engine.Clock, Log: s.log}, hooks,
		server.WithInstructions(s.instructions()),
		server.WithLogging(),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(completions{r}),
		server.WithResourceCompletionProvider(completions{r}),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(s.offer.method()),
		server.WithToolCapabilities(s.offer.method()),
		server.WithToolFilter(l.callable),
	)
	s.wire.MCP.AddNotificationHandler("notifications/roots/list_changed", func(ctx context.Context, _ mcp.JSONRPCNotification) {
		s.callers.roots.forget(mcpwire.ClientKey(ctx))
	})
	l.wire, p.add = s.wire, s.wire.MCP.AddPrompt
	p.addTask()
	if s.offer.method() {
		p.addBMAD()
	}
	r.addTo(s.wire.MCP)
}

// methodSentence is the sentence of the instructions about the toolset method.
const methodSentence = " For an agent or workflow of an installed BMAD method use bmad-agent and bmad-workflow."

// memoryParagraph is the one about the toolset memory. It takes the place of the paragraph about
// states, which every reply explains, so that hosts do not cut the instructions.
const memoryParagraph = "What earlier runs have learned is kept with the project: call recall_structured before " +
	"decisions and when something fails, and remember_structured with what later runs need."

// instructions returns the instructions of the toolsets that are offered.
func (s *Server) instructions() string {
	o := s.offer
	text := instructions
	switch {
	case o.memory() && len(o.toolsets) == 1:
		return memoryParagraph + "\n"
	case !o.task() && o.memory():
		return methodInstructions + "\n" + memoryParagraph + "\n"
	case !o.task():
		return methodInstructions
	case o.library == nil || !o.wants(config.ToolsetMethod):
		text = strings.Replace(text, methodSentence, "", 1)
	}
	if o.memory() {
		paragraphs := strings.Split(text, "\n\n")
		paragraphs[slices.IndexFunc(paragraphs, func(p string) bool { return strings.HasPrefix(p, "States: ") })] = memoryParagraph
		text = strings.Join(paragraphs, "\n\n")
	}
	return text
}

// recheck has the installations of the method read again: something may have changed.
func (s *Server) recheck() {
	if s.offer.library != nil {
		s.offer.library.Recheck()
	}
}

// close ends all waiting, for people and for changes.
func (s *Server) close() {
	s.wire.Close()
	s.feed.Close()
	if s.offer.library != nil {
		s.offer.library.Close()
	}
}

// ready reports a problem that would keep every action from being done.
func (s *Server) ready() error {
	for _, folder := range s.callers.places.Served {
		if err := s.engine.Projects().Ready(project.Address{Cwd: folder}); err != nil {
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
