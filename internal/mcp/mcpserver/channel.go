package mcpserver

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// channelCapability declares that the server has messages for the conversation of a host; channelMethod brings one. A person
	// has to turn them on in the host, and other hosts have no use for either.
	channelCapability = "claude/channel"
	channelMethod     = "notifications/claude/channel"
)

// experimental returns the capabilities of a server that no protocol has: over HTTP none, where a client is not one window.
func experimental(p Places) map[string]any {
	if p.Remote {
		return nil
	}
	return map[string]any{channelCapability: struct{}{}}
}

// channelHosts are the clients known to take messages, with the first such version.
var channelHosts = map[string][]int{"claude-code": {2, 1, 80}}

// news tells each client on stdio that a person has decided elsewhere about the run on which it last worked, so that nobody has
// to type that it goes on. It passes on nothing that anyone has written, and decides nothing.
type news struct {
	*callers
	feed *feed.Feed

	mu      sync.Mutex
	readers map[server.ClientSession]*reader
}

// reader is the subscriber of the feed behind one client.
type reader struct {
	*news
	session server.ClientSession

	mu sync.Mutex
	// calls counts the calls under way, which bring their own news; asking is true while a form of one waits for its answer.
	calls  int
	asking bool
	// run and folder name the run on which the client last worked, entries is the length of the history that it has seen.
	run, folder string
	entries     int
	// now is the run at the last look.
	now *workflow.Session
}

// addHooks has the readers end with their clients.
func (n *news) addHooks(hooks *server.Hooks) {
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) {
		n.mu.Lock()
		defer n.mu.Unlock()
		if r := n.readers[session]; r != nil {
			n.feed.Leave(r)
			delete(n.readers, session)
		}
	})
}

// readerOf returns the reader behind a request; nil for a client without a use for news.
func (n *news) readerOf(ctx context.Context) *reader {
	client, session := mcpwire.ClientInfo(ctx), mcpwire.LastingSession(ctx)
	if n.places.Remote || session == nil || !isKnown(channelHosts, client.Name, client.Version) {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.readers[session] == nil {
		n.readers[session] = &reader{news: n, session: session}
	}
	return n.readers[session]
}

// beginCall holds news back until the call ends, by end with the outcome, or the error ErrAsked.
func (n *news) beginCall(ctx context.Context) (end func(out engine.Outcome, isAsking bool)) {
	r := n.readerOf(ctx)
	if r == nil {
		return func(engine.Outcome, bool) {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	return r.endCall
}

func (r *reader) endCall(out engine.Outcome, isAsking bool) {
	r.mu.Lock()
	r.calls--
	r.asking = isAsking
	if out.Standing == nil {
		r.mu.Unlock()
		return
	}
	s := out.Standing.Session
	r.run, r.folder, r.entries, r.now = s.SessionID, out.Standing.Folder, len(s.History), s
	r.mu.Unlock()
	r.feed.Follow(r, "", feed.Sight{State: strconv.Itoa(s.Revision), Project: out.Standing.Folder})
	r.feed.Poke() // for a decision during the call
}

// Look implements feed.Subscriber.
func (r *reader) Look(ctx context.Context, _ string) feed.Sight {
	r.mu.Lock()
	run, folder, known := r.run, r.folder, r.now
	r.mu.Unlock()
	now, _, err := r.engine.Session(ctx, project.Address{Session: run, Cwd: folder})
	if err != nil { // it is gone, or cannot be read: no news of a decision
		now = known
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run == run {
		r.now = now
	}
	return feed.Sight{State: strconv.Itoa(now.Revision), Project: folder}
}

// Changed implements feed.Subscriber.
func (r *reader) Changed(string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := decidedSince(r.now, r.entries)
	if kind == "" || r.calls > 0 || r.asking {
		return
	}
	r.entries = len(r.now.History)
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{Method: channelMethod}}
	run := notify.PlainName(r.now.TaskName)
	n.Params.AdditionalFields = map[string]any{
		"content": "The person has acted on the run " + run + " elsewhere (" + string(kind) + "). Call " + TaskTool + " with action status to see where it stands, and go on from there.",
		"meta":    map[string]string{"run": run, "kind": string(kind)},
	}
	select {
	case r.session.NotificationChannel() <- n:
	default:
		r.log.Warn("a client takes no notifications", "method", n.Method)
	}
}

// personActs are the actions by which a person moves a run.
var personActs = []workflow.Action{
	workflow.ActionAnswer, workflow.ActionConfirm, workflow.ActionApprove, workflow.ActionReopen, workflow.ActionCancel, workflow.ActionAdopt,
}

// decidedSince returns the last act of a person in a history after some entries, if the run does not wait for them; "" without one.
func decidedSince(s *workflow.Session, entries int) workflow.Action {
	if s.CurrentState.WaitsForHuman() {
		return ""
	}
	for _, e := range slices.Backward(s.History[min(entries, len(s.History)):]) {
		if slices.Contains(personActs, e.Action) {
			return e.Action
		}
	}
	return ""
}
