package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// wire repairs what the library does to the response to one POST:
//
//   - It loses notifications of the request's handler: it hands them to whichever request
//     or stream of the session takes them first, and drops one that is taken just before
//     the response is written. Here each request has a queue of its own, and the response
//     waits until the queue is written.
//   - It gives all errors of handlers the code -32603 and no data. Here an rpcError says
//     what it is.
type wire struct {
	queue chan mcp.JSONRPCNotification
	quit  chan struct{} // closed when the library is done with the request
	gone  chan struct{} // closed when pump is done

	// asks are the server's; nil where the client takes no streams.
	asks *asks

	header http.Header // what the library sets

	mu        sync.Mutex
	rw        http.ResponseWriter
	started   bool // the header is out
	streaming bool // and says that this is an event stream
	failure   *failed
}

type wireKey struct{}

// newWire returns the wire of a request, and what ends it: nothing may be written once the
// request's handler has returned.
func newWire(rw http.ResponseWriter) (w *wire, end func()) {
	w = &wire{
		queue: make(chan mcp.JSONRPCNotification, 100), quit: make(chan struct{}), gone: make(chan struct{}),
		header: http.Header{}, rw: rw,
	}
	go w.pump()
	return w, func() {
		close(w.quit)
		<-w.gone
	}
}

// barrier is a notification that is not sent: whoever puts its channel into the queue
// learns when all before it is written.
const barrier = "wire/barrier"

func (w *wire) pump() {
	defer close(w.gone)
	for {
		select {
		case n := <-w.queue:
			if n.Method == barrier {
				close(n.Params.AdditionalFields[barrier].(chan struct{}))
				continue
			}
			w.notify(n)
		case <-w.quit:
			return
		}
	}
}

// settle waits until what is in the queue is written.
func (w *wire) settle() {
	settled := make(chan struct{})
	var n mcp.JSONRPCNotification
	n.Method = barrier
	n.Params.AdditionalFields = map[string]any{barrier: settled}
	select {
	case w.queue <- n:
	case <-w.gone:
		return
	}
	select {
	case <-settled:
	case <-w.gone:
	}
}

func (w *wire) notify(n mcp.JSONRPCNotification) {
	if b, err := json.Marshal(n); err == nil {
		w.stream(b)
	}
}

// stream writes one message ahead of the response, which becomes a stream with it.
func (w *wire) stream(message []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started && !w.streaming {
		return // sent by something that outlived its handler
	}
	if !w.started {
		w.started, w.streaming = true, true
		w.rw.Header().Set("Content-Type", "text/event-stream")
		w.rw.Header().Set("Cache-Control", "no-cache")
		w.rw.WriteHeader(http.StatusOK)
	}
	_ = w.event(message)
}

// event writes one message. An error means that the client is gone, which the library
// learns from the context of the request.
func (w *wire) event(message []byte) error {
	_, err := fmt.Fprintf(w.rw, "event: message\ndata: %s\n\n", bytes.TrimSpace(message))
	if f, ok := w.rw.(http.Flusher); ok {
		f.Flush()
	}
	return err
}

// Header, WriteHeader and Write are what the library writes the response with.
func (w *wire) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *wire) WriteHeader(code int) {
	w.settle()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		return
	}
	w.started = true
	maps.Copy(w.rw.Header(), w.header)
	w.streaming = w.libraryStreams()
	if w.failure != nil && w.failure.code != 0 && w.failure.modern && !w.streaming {
		code = http.StatusBadRequest // so the protocol has it since 2026-07-28
	}
	w.rw.WriteHeader(code)
}

func (w *wire) libraryStreams() bool { return w.header.Get("Content-Type") == "text/event-stream" }

// Write implements http.ResponseWriter.
func (w *wire) Write(p []byte) (int, error) {
	w.settle()
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	switch message, one := bytes.CutPrefix(p, []byte("event: message\ndata: ")); {
	case w.libraryStreams() && one && w.failure != nil:
		err = w.event(w.failure.in(message))
	case w.libraryStreams():
		_, err = w.rw.Write(p)
	case w.streaming:
		err = w.event(w.failure.in(p))
	default:
		_, err = w.rw.Write(w.failure.in(p))
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush implements http.Flusher.
func (w *wire) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f, ok := w.rw.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap lets an http.ResponseController through.
func (w *wire) Unwrap() http.ResponseWriter { return w.rw }

// fail implements failing.
func (w *wire) fail(_ any, f failed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure = &f
}

// librarySession is what the library's sessions over HTTP can do for handlers.
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

// wireSession is the session of one request, whose notifications go to its wire.
type wireSession struct {
	librarySession
	w *wire
}

// NotificationChannel implements server.ClientSession.
func (s wireSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.w.queue }

// lastingSession returns the library's session of a request: what outlives the request,
// such as a subscription of a client of before 2026-07-28, has to keep and use that one.
func lastingSession(ctx context.Context) server.ClientSession {
	switch s := server.ClientSessionFromContext(ctx).(type) {
	case wireStream:
		return s.librarySession
	case wireSession:
		return s.librarySession
	default:
		return s
	}
}

// wireStream is the session of a request that serves a stream of subscriptions. Its
// filter is the library's, which broadcasts to a session of its own; the acknowledgment
// goes to the wire, because the library loses it when nothing is to be subscribed.
type wireStream struct {
	wireSession
	library server.SessionWithSubscriptionFilter
}

// SetSubscriptionFilter implements server.SessionWithSubscriptionFilter.
func (s wireStream) SetSubscriptionFilter(f mcp.SubscriptionFilter) {
	s.library.SetSubscriptionFilter(f)
}

// SubscriptionFilter implements server.SessionWithSubscriptionFilter.
func (s wireStream) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	return s.library.SubscriptionFilter()
}

// onWire gives a request the session of its wire.
func onWire(ctx context.Context, s *server.MCPServer) context.Context {
	w, ok := ctx.Value(wireKey{}).(*wire)
	session := server.ClientSessionFromContext(ctx)
	library, known := session.(librarySession)
	if !ok || !known {
		return ctx
	}
	own := wireSession{library, w}
	if filtered, ok := session.(server.SessionWithSubscriptionFilter); ok {
		if _, listening := filtered.SubscriptionFilter(); listening {
			return s.WithContext(ctx, wireStream{own, filtered})
		}
	}
	return s.WithContext(ctx, own)
}

// forgetful is an event store that stores nothing: with one, the library drops no
// notification to a session of before 2026-07-28 that a request of the session has taken.
// Streams are not resumable with it, as without a store.
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
