package mcpwire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// response is the response to one POST. It repairs two things:
//
//   - The library loses notifications of the request's handler: it hands them to the request or
//     stream of the session that takes them first, and drops one that is taken just before the
//     response is written. Here each request has a queue of its own, and the response waits until
//     the queue is written.
//   - The library gives all errors of handlers the code -32603 and no data. Here an Error
//     has its own.
type response struct {
	queue    chan mcp.JSONRPCNotification
	settling chan chan struct{} // has pump write the queue, and close the channel that it is sent
	quit     chan struct{}      // closed when the library is done with the request
	gone     chan struct{}      // closed when pump is done

	// asks are the asks of the server, or nil if the client takes no streams.
	asks *asks

	header http.Header // set by the library

	mu        sync.Mutex
	rw        http.ResponseWriter
	started   bool // the header is out
	streaming bool // and announces an event stream
	change    edit
	// instead, if not nil, answers a request because the library does not know its method.
	instead func() edit
}

// newResponse returns the response to a request, and its end, because nothing may be written after the
// request's handler has returned.
func newResponse(rw http.ResponseWriter) (r *response, end func()) {
	r = &response{
		queue: make(chan mcp.JSONRPCNotification, 100), settling: make(chan chan struct{}), quit: make(chan struct{}), gone: make(chan struct{}),
		header: http.Header{}, rw: rw,
	}
	go r.pump()
	return r, func() {
		close(r.quit)
		<-r.gone
	}
}

func (r *response) pump() {
	defer close(r.gone)
	for {
		select {
		case n := <-r.queue:
			r.notify(n)
		case settled := <-r.settling:
			for len(r.queue) > 0 {
				r.notify(<-r.queue)
			}
			close(settled)
		case <-r.quit:
			return
		}
	}
}

// settle waits until the queue is written.
func (r *response) settle() {
	settled := make(chan struct{})
	select {
	case r.settling <- settled:
		<-settled
	case <-r.gone:
	}
}

func (r *response) notify(n mcp.JSONRPCNotification) {
	if b, err := json.Marshal(n); err == nil {
		r.stream(acknowledgeTasks(b))
	}
}

// stream writes one message ahead of the response, which becomes a stream with it.
func (r *response) stream(message []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started && !r.streaming {
		return // its sender outlived the handler
	}
	if !r.started {
		r.started, r.streaming = true, true
		r.rw.Header().Set("Content-Type", "text/event-stream")
		r.rw.Header().Set("Cache-Control", "no-cache")
		r.rw.WriteHeader(http.StatusOK)
	}
	_ = r.event(message)
}

// event writes one message. An error means that the client is gone; the library learns that
// from the context of the request.
func (r *response) event(message []byte) error {
	_, err := fmt.Fprintf(r.rw, "event: message\ndata: %s\n\n", bytes.TrimSpace(message)) //nolint:gosec // JSON, and no browser renders it
	if f, ok := r.rw.(http.Flusher); ok {
		f.Flush()
	}
	return err
}

// Header implements http.ResponseWriter.
func (r *response) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *response) WriteHeader(code int) {
	r.settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return
	}
	r.started = true
	if r.instead != nil && code == http.StatusNotFound {
		r.change = r.instead()
	}
	maps.Copy(r.rw.Header(), r.header)
	r.streaming = r.libraryStreams()
	if r.change.status != 0 && !r.streaming {
		code = r.change.status
	}
	r.rw.WriteHeader(code)
}

func (r *response) libraryStreams() bool { return r.header.Get("Content-Type") == "text/event-stream" }

// Write implements http.ResponseWriter.
func (r *response) Write(p []byte) (int, error) {
	r.settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	switch message, one := bytes.CutPrefix(p, []byte("event: message\ndata: ")); {
	case one && r.libraryStreams() && (r.change.answer != nil || r.change.tools != nil):
		err = r.event(r.change.in(message))
	case r.libraryStreams():
		_, err = r.rw.Write(p)
	case r.streaming:
		err = r.event(r.change.in(p))
	default:
		_, err = r.rw.Write(r.change.in(p)) //nolint:gosec // JSON, and no browser renders it
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush implements http.Flusher.
func (r *response) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.rw.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap lets an http.ResponseController through.
func (r *response) Unwrap() http.ResponseWriter { return r.rw }

// edit implements answerer.
func (r *response) edit(_ any, e edit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change = e
}

// asks has our own requests that have no answer yet: a chan json.RawMessage for each. The ids of the
// library's requests are numbers.
type asks struct{ open sync.Map }

// asked names a request to the client of a session.
type asked struct{ session, id string }

// deliver passes on the answer to one of these requests, and reports whether it was one. The answer has
// to come over the session that was asked.
func (a *asks) deliver(session string, id any, result json.RawMessage) bool {
	name, _ := id.(string)
	answer, ok := a.open.LoadAndDelete(asked{session, name})
	if ok {
		answer.(chan json.RawMessage) <- result
	}
	return ok
}
