// Package mcpserver is the MCP face: it turns tool calls into engine requests and engine replies into
// results, and serves prompts and resources.
//
// A reply is one text block of compact JSON without structured content: of both, hosts show the model only
// one, or pay for both. A refused action is a result with isError, so that the model can read it and correct
// itself; JSON-RPC errors are for violations of the protocol.
//
// A caller is the sender of a request, as far as known. A toolset is a group of tools offered together; the
// offer decides the toolsets of a caller. A listener is a subscriber of the feed behind one stream of
// notifications.
//
// # Invariants
//
//   - A form answered in under a second decides nothing, because some hosts answer forms by themselves.
//     Neither does a form whose second form, for words, is not answered (TestDecisionByForm,
//     TestWordsAreForTheirDecision).
//   - A web page gets no form, because it may be anyone's (TestPagesDecideNothing, TestPagesAnswerForNobody).
//   - Stdout belongs to the protocol, and every request is answered, once it was read, before the process
//     ends (TestEveryRequestIsAnsweredBeforeTheEnd).
//   - The tool can show everything in prompts and resources (status with view), because some hosts only have
//     tools. Prompts and resources change nothing (TestTranscripts, TestViews).
package mcpserver

import (
	"context"
	_ "embed"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
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
	// Reach decides which folders the one client may use; the engine has the same. It is nil if the engine
	// goes by the folders of Places alone.
	Reach Reach
	// HostConfirm says for which clients the tool bmad-confirm is listed: with auto for clients on stdio that
	// claim to be a host known to ask the person.
	HostConfirm config.HostConfirm
	// Method serves the BMAD method; nil serves none.
	Method *method.Library
	// Memory keeps the notes of projects; nil serves no toolset memory.
	Memory *memory.Memory
	// Model answers tasks for agents if the host's model cannot; it may be nil.
	Model Model
	// Remote gives tasks to agents of other servers.
	Remote Remote
	// Page returns the address of a stage's document in a dashboard; "" if no dashboard runs. It may be nil.
	Page func(cwd, task, stage string) string
	// State is the person's state folder; "" without one.
	State string
	// Toolsets are the offered toolsets; none means auto.
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
	news    *news
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
	s.callers.forms.awaitMove = s.awaitMove
	if o.State != "" {
		s.callers.forms.seen = filepath.Join(o.State, "hosts")
	}
	s.feed = e.Projects().NewFeed(feed.Options{Recheck: s.recheckMethod, State: o.State, Now: e.Clock, Log: o.Log})
	if o.Method != nil {
		o.Method.SetChanged(s.feed.PokeAll)
	}
	s.news = &news{callers: s.callers, feed: s.feed, readers: map[server.ClientSession]*reader{}}
	s.newWire(o)
	of := projectTools{callers: s.callers, offer: s.offer, changed: s.feed.Poke}
	tools := allTools(
		tasks{callers: s.callers, metrics: s.metrics, feed: s.feed, news: s.news, leaving: s.wire.Leaving(), limiter: httpguard.NewLimiter(waitLimits)},
		methodTools{of},
		memoryTools{projectTools: of, memory: o.Memory, model: o.Model, remote: o.Remote})
	for _, t := range tools {
		s.offer.sets[t.name] = t.toolset
		if s.offer.hasToolset(t.toolset) {
			t.schema = s.callers.schemaFor(t)
			s.wire.MCP.AddTool(t.toMCP(), t.handle)
		}
	}
	addFixtures(s.wire.MCP)
	return s
}

// newWire makes the server of the library, with prompts and resources.
func (s *Server) newWire(o Options) {
	p := &prompts{callers: s.callers, offer: s.offer}
	r := &resources{callers: s.callers, offer: s.offer, memory: o.Memory}
	subs := &subscriptions{callers: s.callers, feed: s.feed, listeners: map[streamKey]*listener{}}
	l := &lists{callers: s.callers, offer: s.offer, prompts: p, resources: r, subscriptions: subs, encoded: recent.New[toolsOf, toolPage](maxEncoded)}
	subs.look = l.lookAt

	hooks := &server.Hooks{}
	hooks.AddAfterListResources(l.listResources)
	hooks.AddAfterListPrompts(l.listPrompts)
	hooks.AddAfterListTools(l.listTools)
	hooks.AddBeforeGetPrompt(p.rerouteAgent)
	hooks.AddBeforeReadResource(plainAddress)
	hooks.AddBeforeCallTool(l.callOwn)
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) { s.callers.roots.forget(session.SessionID()) })
	subs.addHooks(hooks)
	s.news.addHooks(hooks)
	self := mcp.Implementation{Name: "bmad-mcp", Version: o.Version, Title: "BMAD workflow", Icons: icons()}
	s.wire = mcpwire.New(self, mcpwire.Options{Question: s.callers.forms.beginWait,
		Refuse: s.callers.refuseCall, Missing: l.errMissing, Language: s.engine.Projects().Language(""),
		Now: s.engine.Clock, Log: s.log}, hooks,
		server.WithInstructions(s.instructionsText()),
		server.WithLogging(),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(completions{r}),
		server.WithResourceCompletionProvider(completions{r}),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(s.offer.hasMethod()),
		server.WithToolCapabilities(s.offer.hasMethod()),
		server.WithToolFilter(l.keepCallable),
		server.WithExperimental(experimental(o.Places)),
	)
	s.wire.MCP.AddNotificationHandler("notifications/roots/list_changed", func(ctx context.Context, _ mcp.JSONRPCNotification) {
		s.callers.roots.forget(mcpwire.ClientKey(ctx))
	})
	l.wire, p.add = s.wire, s.wire.MCP.AddPrompt
	p.addTask()
	if s.offer.hasMethod() {
		p.addBMAD()
	}
	r.addTo(s.wire.MCP)
}

// methodSentence is the sentence of the instructions about the toolset method.
const methodSentence = " For an agent or workflow of an installed BMAD method use bmad-agent and bmad-workflow."

// memoryParagraph is the paragraph about the toolset memory. It replaces the paragraph about states, which
// every reply explains, so that the instructions stay short enough for hosts.
const memoryParagraph = "What earlier runs have learned is kept with the project: call recall_structured before " +
	"decisions and when something fails, and remember_structured with what later runs need."

// instructionsText returns the instructions for the offered toolsets.
func (s *Server) instructionsText() string {
	o := s.offer
	text := instructions
	switch {
	case o.servesMemory() && len(o.toolsets) == 1:
		return memoryParagraph + "\n"
	case !o.hasTask() && o.servesMemory():
		return methodInstructions + "\n" + memoryParagraph + "\n"
	case !o.hasTask():
		return methodInstructions
	case o.library == nil || !o.mayOffer(config.ToolsetMethod):
		text = strings.Replace(text, methodSentence, "", 1)
	}
	if o.servesMemory() {
		paragraphs := strings.Split(text, "\n\n")
		paragraphs[slices.IndexFunc(paragraphs, func(p string) bool { return strings.HasPrefix(p, "States: ") })] = memoryParagraph
		text = strings.Join(paragraphs, "\n\n")
	}
	return text
}

// awaitMove returns once a run is not at a point any more, or ctx or the server ends. A run that cannot be read
// has not moved.
func (s *Server) awaitMove(ctx context.Context, at gate.Bound, cwd string) {
	from := strconv.Itoa(at.Revision)
	s.feed.Await(ctx, "", from, func(ctx context.Context) string {
		session, _, err := s.engine.Session(ctx, project.Address{Session: at.SessionID, Cwd: cwd})
		if err != nil {
			return from
		}
		return strconv.Itoa(session.Revision)
	})
}

// recheckMethod has the installations of the method read again.
func (s *Server) recheckMethod() {
	if s.offer.library != nil {
		s.offer.library.Recheck()
	}
}

// endWaiting ends all waiting, for people and for changes.
func (s *Server) endWaiting() {
	s.wire.Close()
	s.feed.Close()
	if s.offer.library != nil {
		s.offer.library.Close()
	}
}

// checkProjects returns a problem that would prevent every action in a served folder.
func (s *Server) checkProjects() error {
	for _, folder := range s.callers.places.Served {
		if err := s.engine.Projects().Ready(project.Address{Cwd: folder}); err != nil {
			return err
		}
	}
	return nil
}

// ServeStdio serves one client until the input or ctx ends, and answers every request read before.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.endWaiting()
	return s.wire.ServeStdio(ctx, in, out)
}
