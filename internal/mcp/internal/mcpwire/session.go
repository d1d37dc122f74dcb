package mcpwire

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// librarySession is a session of the library over HTTP, with all methods that handlers use.
type librarySession interface {
	server.SessionWithLogging
	server.SessionWithClientInfo
	server.SessionWithElicitation
	server.SessionWithSampling
	server.SessionWithProtocolVersion
	server.SessionWithSubscriptionFilter
	SetProtocolVersion(string)
}

// responseSession is the session of one request. Notifications of the request are written with the response,
// and so is the acknowledgment of a stream of subscriptions, which the library loses if there is nothing to
// subscribe to. Broadcasts of the library go to the library's own session, by the same filter.
type responseSession struct {
	librarySession
	r *response
}

// NotificationChannel implements server.ClientSession.
func (s responseSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.r.queue }

// ListRoots implements server.SessionWithRoots. The library would send the request on the session's GET
// stream only, which many clients do not open. Here it is sent in the response to the call, which becomes a
// stream.
func (s responseSession) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	if s.r.asks == nil {
		return nil, errors.New("the client takes no streams")
	}
	result, err := s.r.asks.sendRequest(ctx, s.SessionID(), s.r.writeAhead, mcp.MethodListRoots, nil)
	if err != nil {
		return nil, err
	}
	list := new(mcp.ListRootsResult)
	return list, json.Unmarshal(result, list)
}

// LastingSession returns the library's session of a request, for uses beyond the request, for example a
// legacy client's subscription.
func LastingSession(ctx context.Context) server.ClientSession {
	session := server.ClientSessionFromContext(ctx)
	if own, ok := session.(responseSession); ok {
		return own.librarySession
	}
	return session
}

// withResponse gives a request with a response a responseSession.
func withResponse(ctx context.Context, s *server.MCPServer) context.Context {
	r, ok := ctx.Value(answererKey{}).(*response)
	library, known := server.ClientSessionFromContext(ctx).(librarySession)
	if !ok || !known {
		return ctx
	}
	return s.WithContext(ctx, responseSession{library, r})
}

// forgetful is an event store without memory. With a store, the library keeps notifications to a legacy
// session even if a request of the session has taken them. Streams cannot be resumed, as without a store.
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
