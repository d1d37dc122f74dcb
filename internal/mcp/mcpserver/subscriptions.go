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

// subscriptions pass the reports of the feed on to clients. The library takes subscriptions and
// keeps none.
type subscriptions struct {
	*callers
	feed *feed.Feed
	// look looks at a subject for a caller: the address of a resource, or the notification by
	// which a list changes.
	look func(ctx context.Context, base request.Request, subject string) feed.Sight

	mu        sync.Mutex
	listeners map[streamKey]*listener
}

// streamKey names the receiver of notifications: a client's session, or in it, for a modern
// client, the request that listens.
type streamKey struct {
	session server.ClientSession
	id      string // as JSON; "" for a client's session
}

// listener is a subscriber of the feed, behind one stream.
type listener struct {
	*subscriptions
	key streamKey
	tag any // the id of the request that listens

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

// Changed implements feed.Subscriber. A notification that the client does not take is dropped:
// it will ask again, or has gone.
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

// follow subscribes the listener to a subject that its client has seen.
func (l *listener) follow(subject string, seen feed.Sight) {
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

// hook has a server's hooks keep the subscriptions.
func (b *subscriptions) hook(hooks *server.Hooks) {
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, message *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		l := b.listener(streamKey{session: mcpwire.LastingSession(ctx)}, nil, b.base(ctx))
		l.follow(message.Params.URI, l.Look(ctx, message.Params.URI))
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, message *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if l := b.listeners[streamKey{session: mcpwire.LastingSession(ctx)}]; l != nil {
			b.feed.Unfollow(l, message.Params.URI)
		}
	})
	hooks.AddBeforeSubscriptionsListen(b.listen)
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) {
		b.leave(func(key streamKey) bool { return key.session == session })
	})
}

// listen begins the stream of a modern client.
func (b *subscriptions) listen(ctx context.Context, id any, message *mcp.SubscriptionsListenRequest) {
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
	l := b.listener(key, id, b.base(ctx))
	for _, subject := range subjects {
		l.follow(subject, l.Look(ctx, subject))
	}
	context.AfterFunc(ctx, func() {
		b.leave(func(other streamKey) bool { return other == key })
		b.feed.Leave(l) // also if its session has left before it followed everything
	})
}

// listener returns the listener behind a stream, a new one if need be.
func (b *subscriptions) listener(key streamKey, tag any, base request.Request) *listener {
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

// leave ends the listeners behind some streams.
func (b *subscriptions) leave(gone func(streamKey) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, l := range b.listeners {
		if gone(key) {
			b.feed.Leave(l)
			delete(b.listeners, key)
		}
	}
}

// noteList notes that a legacy client has seen a list: it cannot ask for notifications, and is sent
// them once it has shown interest.
func (b *subscriptions) noteList(ctx context.Context, base request.Request, list string, look func() feed.Sight) {
	session := mcpwire.LastingSession(ctx)
	if server.IsModernRequest(ctx) || session == nil {
		return
	}
	b.listener(streamKey{session: session}, nil, base).follow(list, look())
}
