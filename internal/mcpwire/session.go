package mcpwire

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// librarySession is a session of the library over HTTP, as handlers use it.
type librarySession interface {
	server.SessionWithLogging
	server.SessionWithClientInfo
	server.SessionWithElicitation
	server.SessionWithSampling
	server.SessionWithRoots
	server.SessionWithProtocolVersion
	server.SessionWithTools
	server.SessionWithResources
	server.SessionWithResourceTemplates
	SetProtocolVersion(string)
}

// responseSession is the session of one request, whose notifications go out with its response.
type responseSession struct {
	librarySession
	r *response
}

// NotificationChannel implements server.ClientSession.
func (s responseSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.r.queue }

// LastingSession returns the library's session of a request, for uses that outlive the request, for
// example a legacy client's subscription.
func LastingSession(ctx context.Context) server.ClientSession {
	switch s := server.ClientSessionFromContext(ctx).(type) {
	case streamSession:
		return s.librarySession
	case responseSession:
		return s.librarySession
	default:
		return s
	}
}

// streamSession is the session of a request that serves a stream of subscriptions. Its
// filter is the library's, which broadcasts to a session of its own; the acknowledgment goes out
// with the response, because the library loses it if there is nothing to subscribe to.
type streamSession struct {
	responseSession
	library server.SessionWithSubscriptionFilter
}

// SetSubscriptionFilter implements server.SessionWithSubscriptionFilter.
func (s streamSession) SetSubscriptionFilter(f mcp.SubscriptionFilter) {
	s.library.SetSubscriptionFilter(f)
}

// SubscriptionFilter implements server.SessionWithSubscriptionFilter.
func (s streamSession) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	return s.library.SubscriptionFilter()
}

// withResponse gives a request a session of its own, if it has a response to write to.
func withResponse(ctx context.Context, s *server.MCPServer) context.Context {
	r, ok := ctx.Value(responseKey{}).(*response)
	session := server.ClientSessionFromContext(ctx)
	library, known := session.(librarySession)
	if !ok || !known {
		return ctx
	}
	own := responseSession{library, r}
	if filtered, ok := session.(server.SessionWithSubscriptionFilter); ok {
		if _, listening := filtered.SubscriptionFilter(); listening {
			return s.WithContext(ctx, streamSession{own, filtered})
		}
	}
	return s.WithContext(ctx, own)
}

// forgetful is an event store that stores nothing. If there is a store, the library does not drop a
// notification to a legacy session that a request of the session has taken. Streams cannot be resumed,
// as without a store.
type forgetful struct{}

// StoreEvent implements server.EventStore.
func (forgetful) StoreEvent(context.Context, string, string, json.RawMessage) (string, error) {
	return "", nil
}

// ReplayEventsAfter implements server.EventStore.
func (forgetful) ReplayEventsAfter(context.Context, string, string, func(string, json.RawMessage) error) (string, error) {
	return "", server.ErrUnknownEventID
}

// PurgeSession implements server.EventStore.
func (forgetful) PurgeSession(context.Context, string) error { return nil }
