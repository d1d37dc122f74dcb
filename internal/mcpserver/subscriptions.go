package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/watch"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxSubscriptions bounds what one client can subscribe to.
const maxSubscriptions = 200

// subscriptions tell clients of what has changed, whoever changed it. The library takes
// subscriptions and keeps none.
type subscriptions struct {
	read func(ctx context.Context, uri string, base engine.Request) (engine.Resource, string, error)
	// recheck has the disk looked at, whatever is remembered of it.
	recheck func()
	// lists returns what tells lists of a caller from others, by the notification of their
	// change; and the folders in which they can change.
	lists func(ctx context.Context, base engine.Request, methods []string) (map[string]string, []string)
	log   *slog.Logger
	now   func() time.Time

	mu          sync.Mutex
	subscribers map[streamKey]*subscriber
	watcher     *watch.Watcher
	// looking makes one look after another, so that a change is told once; waiting is true
	// while one is about to begin.
	looking sync.Mutex
	waiting atomic.Bool
	// rest is until when no look is taken: where looking is dear, it must not take all there is.
	rest time.Time
}

// restFor is how many times as long as a look took there is none.
const restFor = 4

// streamKey names what notifications go to: a client's session, or in it, since protocol
// 2026-07-28, the request that listens for them.
type streamKey struct {
	session server.ClientSession
	id      string // as JSON; "" for a client's session
}

// subscriber is one who is told.
type subscriber struct {
	key  streamKey
	tag  any // the id of the request that listens
	base engine.Request
	// seen has, for each address, what was last known of it.
	seen map[string]string
	// lists has what was last known of each list that it wants to know of.
	lists map[string]string
}

func newSubscriptions(log *slog.Logger, now func() time.Time) *subscriptions {
	return &subscriptions{log: log, now: now, subscribers: map[streamKey]*subscriber{}}
}

// hook makes a server's hooks keep the subscriptions.
func (b *subscriptions) hook(s *Server, hooks *server.Hooks) {
	b.read, b.lists, b.recheck = s.read, s.states, func() {
		if s.method != nil {
			s.method.Recheck()
		}
	}
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, message *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		base := s.base(ctx)
		b.subscribe(ctx, b.of(streamKey{session: mcpwire.LastingSession(ctx)}, base), base, message.Params.URI)
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, message *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if sub := b.subscribers[streamKey{session: mcpwire.LastingSession(ctx)}]; sub != nil {
			delete(sub.seen, message.Params.URI)
		}
	})
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, id any, message *mcp.SubscriptionsListenRequest) {
		want := message.Params.Notifications
		var lists []string
		for method, wanted := range map[string]bool{
			mcp.MethodNotificationResourcesListChanged: want.ResourcesListChanged,
			mcp.MethodNotificationPromptsListChanged:   want.PromptsListChanged,
			mcp.MethodNotificationToolsListChanged:     want.ToolsListChanged,
		} {
			if wanted {
				lists = append(lists, method)
			}
		}
		if len(want.ResourceSubscriptions) == 0 && len(lists) == 0 {
			return
		}
		text, err := json.Marshal(id)
		if err != nil {
			return
		}
		key := streamKey{session: mcpwire.LastingSession(ctx), id: string(text)}
		base := s.base(ctx)
		sub := b.of(key, base)
		sub.tag = id
		context.AfterFunc(ctx, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.subscribers, key)
		})
		for _, uri := range want.ResourceSubscriptions {
			b.subscribe(ctx, sub, base, uri)
		}
		if len(lists) > 0 {
			b.follow(sub, func() (map[string]string, []string) { return b.lists(ctx, base, lists) })
		}
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for key := range b.subscribers {
			if key.session == session {
				delete(b.subscribers, key)
			}
		}
	})
}

// of returns the subscriber of a stream, a new one if need be.
func (b *subscriptions) of(key streamKey, base engine.Request) *subscriber {
	b.mu.Lock()
	defer b.mu.Unlock()
	sub := b.subscribers[key]
	if sub == nil {
		sub = &subscriber{key: key, seen: map[string]string{}}
		b.subscribers[key] = sub
	}
	sub.base = base
	return sub
}

// subscribe notes an address. One that leads nowhere yet is told of once it does.
func (b *subscriptions) subscribe(ctx context.Context, sub *subscriber, base engine.Request, uri string) {
	state := b.look(ctx, base, uri)
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := sub.seen[uri]; !known && len(sub.seen) >= maxSubscriptions {
		b.log.Warn("a client has too many subscriptions", "most", maxSubscriptions)
		return
	}
	sub.seen[uri] = state
}

// listed notes that an older client has seen a list: its kind does not ask for notifications
// of it, and is sent them once it has shown interest. look returns what lists does of it.
func (b *subscriptions) listed(ctx context.Context, base engine.Request, look func() (map[string]string, []string)) {
	session := mcpwire.LastingSession(ctx)
	if mcpwire.Modern(ctx) || session == nil {
		return
	}
	b.follow(b.of(streamKey{session: session}, base), look)
}

// follow notes what lists a subscriber wants to know of, as they are now.
func (b *subscriptions) follow(sub *subscriber, look func() (map[string]string, []string)) {
	states, folders := look()
	b.watchLists(folders)
	b.mu.Lock()
	defer b.mu.Unlock()
	if sub.lists == nil {
		sub.lists = map[string]string{}
	}
	maps.Copy(sub.lists, states)
}

// watchLists watches where lists can change: the caller's project, and the folders of the
// method. What came into a new folder before it was watched needs another look.
func (b *subscriptions) watchLists(folders []string) {
	again := false
	for n, folder := range folders {
		if n == 0 {
			b.watch(folder, "")
			continue
		}
		if w := b.watching(); w != nil && w.Folder(folder) {
			again = true
		}
	}
	if again {
		b.poke()
	}
}

// look returns what tells the state of a resource from another, and watches the folder it
// lies in.
func (b *subscriptions) look(ctx context.Context, base engine.Request, uri string) string {
	res, cwd, err := b.read(ctx, uri, base)
	if cwd == "" && base.Cwd == "" && len(base.Places) > 0 {
		cwd = base.Places[0] // what is not there yet will appear in the caller's project
	}
	b.watch(cwd, res.Path)
	if err != nil {
		return ""
	}
	return workflow.Hash([]byte(res.Text))
}

// watch watches a project, and the folder of a file in it.
func (b *subscriptions) watch(cwd, file string) {
	w := b.watching()
	if cwd == "" || w == nil {
		return
	}
	w.Project(cwd)
	if file != "" {
		w.Folder(filepath.Dir(filepath.Join(cwd, filepath.FromSlash(file))))
	}
}

// watching returns the watcher; nil where the system has none.
func (b *subscriptions) watching() *watch.Watcher {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watcher == nil {
		var err error
		if b.watcher, err = watch.New(b.changed, b.log); err != nil {
			b.log.Warn("changes by others are not reported", "error", err)
		}
	}
	return b.watcher
}

// changed looks at everything that somebody wants to know of, and tells what has changed.
func (b *subscriptions) changed() {
	b.looking.Lock()
	defer b.looking.Unlock()
	time.Sleep(b.rest.Sub(b.now()))
	b.waiting.Store(false) // what changes from here on needs another look
	b.recheck()
	defer func(began time.Time) { b.rest = b.now().Add(restFor * b.now().Sub(began)) }(b.now())
	type question struct {
		sub  *subscriber
		base engine.Request
		uris []string
		// lists are the notifications of the lists it follows.
		lists []string
	}
	var questions []question
	b.mu.Lock()
	for _, sub := range b.subscribers {
		q := question{sub: sub, base: sub.base, lists: slices.Collect(maps.Keys(sub.lists))}
		for uri := range sub.seen {
			q.uris = append(q.uris, uri)
		}
		questions = append(questions, q)
	}
	b.mu.Unlock()

	ctx := context.Background()
	for _, q := range questions {
		for _, uri := range q.uris {
			if state := b.look(ctx, q.base, uri); b.news(q.sub, uri, state) {
				b.tell(q.sub, mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
			}
		}
		if len(q.lists) == 0 {
			continue
		}
		states, folders := b.lists(ctx, q.base, q.lists)
		b.watchLists(folders)
		for method, state := range states {
			if b.newList(q.sub, method, state) {
				b.tell(q.sub, method, nil)
			}
		}
	}
}

// news notes the state of a resource and reports whether it is another than before, to one
// who still wants to know.
func (b *subscriptions) news(sub *subscriber, uri, state string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, wanted := sub.seen[uri]
	if !wanted || before == state || b.subscribers[sub.key] != sub {
		return false
	}
	sub.seen[uri] = state
	return true
}

func (b *subscriptions) newList(sub *subscriber, method, state string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, wanted := sub.lists[method]
	if !wanted || before == state || b.subscribers[sub.key] != sub {
		return false
	}
	sub.lists[method] = state
	return true
}

// tell sends a notification. One for which the client takes none any more is dropped: it
// will ask again, or has gone.
func (b *subscriptions) tell(sub *subscriber, method string, params map[string]any) {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: method, Params: mcp.NotificationParams{AdditionalFields: params},
	}}
	if sub.key.id != "" {
		n.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: sub.tag}
	}
	select {
	case sub.key.session.NotificationChannel() <- n:
	default:
		b.log.Warn("a client takes no notifications", "method", method)
	}
}

// poke has a look taken soon, after a change of our own: not every file system reports it.
func (b *subscriptions) poke() {
	b.mu.Lock()
	anyone := len(b.subscribers) > 0
	b.mu.Unlock()
	if anyone && b.waiting.CompareAndSwap(false, true) {
		go b.changed()
	}
}

func (b *subscriptions) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watcher != nil {
		_ = b.watcher.Close() // the process ends
	}
}
