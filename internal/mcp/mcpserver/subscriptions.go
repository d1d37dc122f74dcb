package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// subscriptions pass the reports of the feed on to clients. The library takes subscriptions, but keeps none.
type subscriptions struct {
	*callers
	feed *feed.Feed
	// look returns the sight of a subject for a caller. The subject is the address of a resource, or the
	// method of a list's notification.
	look func(ctx context.Context, base request.Request, subject string) feed.Sight

	mu        sync.Mutex
	listeners map[streamKey]*listener
}

// streamKey names the receiver of notifications: a client's session, or for a modern client the listening
// request in it.
type streamKey struct {
	session server.ClientSession
	id      string // as JSON; "" for a client's session
}

// listener is a subscriber of the feed, behind one stream.
type listener struct {
	*subscriptions
	key streamKey
	tag any // the id of the listening request

	mu   sync.Mutex
	base request.Request
}

// Look implements feed.Subscriber.
func (l *listener) Look(ctx context.Context, subject string) feed.Sight {
	l.mu.Lock()
	base := l.base
	l.mu.Unlock()
	return l.look(ctx, base, subject)
}

// Changed implements feed.Subscriber. If the client's channel is full, the notification is dropped: the
// client will ask again, or has gone.
func (l *listener) Changed(subject string) {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{Method: subject}}
	if !isList(subject) {
		n.Method, n.Params.AdditionalFields = mcp.MethodNotificationResourceUpdated, map[string]any{"uri": subject}
	}
	if l.key.id != "" {
		n.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: l.tag}
	}
	select {
	case l.key.session.NotificationChannel() <- n:
	default:
		l.log.Warn("a client takes no notifications", "method", n.Method)
	}
}

// followSubject subscribes the listener to a subject, as last seen by the client.
func (l *listener) followSubject(subject string, seen feed.Sight) {
	if !l.feed.Follow(l, subject, seen) {
		l.log.Warn("a client has too many subscriptions", "subject", subject)
	}
}

// isList reports whether a subject is a list.
func isList(subject string) bool {
	return slices.Contains([]string{
		mcp.MethodNotificationResourcesListChanged, mcp.MethodNotificationPromptsListChanged, mcp.MethodNotificationToolsListChanged,
	}, subject)
}

// addHooks adds the hooks that keep the subscriptions.
func (b *subscriptions) addHooks(hooks *server.Hooks) {
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, message *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		l := b.listenerOf(streamKey{session: mcpwire.LastingSession(ctx)}, nil, b.baseRequest(ctx))
		l.followSubject(message.Params.URI, l.Look(ctx, message.Params.URI))
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, message *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if l := b.listeners[streamKey{session: mcpwire.LastingSession(ctx)}]; l != nil {
			b.feed.Unfollow(l, message.Params.URI)
		}
	})
	hooks.AddBeforeSubscriptionsListen(b.listenFor)
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) {
		b.endListeners(func(key streamKey) bool { return key.session == session })
	})
}

// listenFor begins the stream of a modern client.
func (b *subscriptions) listenFor(ctx context.Context, id any, message *mcp.SubscriptionsListenRequest) {
	want := message.Params.Notifications
	subjects := slices.Clone(want.ResourceSubscriptions)
	for _, list := range []struct {
		method string
		wanted bool
	}{
		{mcp.MethodNotificationResourcesListChanged, want.ResourcesListChanged},
		{mcp.MethodNotificationPromptsListChanged, want.PromptsListChanged},
		{mcp.MethodNotificationToolsListChanged, want.ToolsListChanged},
	} {
		if list.wanted {
			subjects = append(subjects, list.method)
		}
	}
	text, err := json.Marshal(id)
	if err != nil || len(subjects) == 0 {
		return
	}
	key := streamKey{session: mcpwire.LastingSession(ctx), id: string(text)}
	l := b.listenerOf(key, id, b.baseRequest(ctx))
	for _, subject := range subjects {
		l.followSubject(subject, l.Look(ctx, subject))
	}
	context.AfterFunc(ctx, func() {
		b.endListeners(func(other streamKey) bool { return other == key })
		b.feed.Leave(l) // the session may have ended before all subjects were followed
	})
}

// listenerOf returns the listener behind a stream, a new one if need be.
func (b *subscriptions) listenerOf(key streamKey, tag any, base request.Request) *listener {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.listeners[key]
	if l == nil {
		l = &listener{subscriptions: b, key: key, tag: tag}
		b.listeners[key] = l
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.base = base
	return l
}

// endListeners ends the listeners for whose streams gone is true.
func (b *subscriptions) endListeners(gone func(streamKey) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, l := range b.listeners {
		if gone(key) {
			b.feed.Leave(l)
			delete(b.listeners, key)
		}
	}
}

// noteList subscribes a legacy client to a list it has read, because legacy clients cannot ask for
// notifications of lists.
func (b *subscriptions) noteList(ctx context.Context, base request.Request, list string, look func() feed.Sight) {
	session := mcpwire.LastingSession(ctx)
	if server.IsModernRequest(ctx) || session == nil {
		return
	}
	b.listenerOf(streamKey{session: session}, nil, base).followSubject(list, look())
}
