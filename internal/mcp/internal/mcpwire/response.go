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
//   - The library loses notifications of the request's handler: it hands each to the first taker among the
//     requests and streams of the session, and drops one taken just before the response is written. Here each
//     request has a queue of its own, and the response waits until the queue is written.
//   - The library gives all errors of handlers the code -32603 and no data. Here an Error has a code and
//     data.
type response struct {
	queue    chan mcp.JSONRPCNotification
	settling chan chan struct{} // has pumpNotifications write the queue and close the sent channel
	quit     chan struct{}      // closed when the library is done with the request
	gone     chan struct{}      // closed when pumpNotifications is done

	// asks has the server's own requests; nil if the client takes no streams.
	asks *asks

	header http.Header // set by the library

	mu        sync.Mutex
	rw        http.ResponseWriter
	started   bool // the header is out
	streaming bool // the header announces an event stream
	change    edit
	// instead, if not nil, answers a request with a method unknown to the library.
	instead func() edit
}

// newResponse returns the response to a request. The caller has to call end before the HTTP handler returns:
// nothing may be written after it.
func newResponse(rw http.ResponseWriter) (r *response, end func()) {
	r = &response{
		queue: make(chan mcp.JSONRPCNotification, 100), settling: make(chan chan struct{}), quit: make(chan struct{}), gone: make(chan struct{}),
		header: http.Header{}, rw: rw,
	}
	go r.pumpNotifications()
	return r, func() {
		close(r.quit)
		<-r.gone
	}
}

func (r *response) pumpNotifications() {
	defer close(r.gone)
	for {
		select {
		case n := <-r.queue:
			r.writeNotification(n)
		case settled := <-r.settling:
			for len(r.queue) > 0 {
				r.writeNotification(<-r.queue)
			}
			close(settled)
		case <-r.quit:
			return
		}
	}
}

// drainQueue waits until the queue is written.
func (r *response) drainQueue() {
	settled := make(chan struct{})
	select {
	case r.settling <- settled:
		<-settled
	case <-r.gone:
	}
}

func (r *response) writeNotification(n mcp.JSONRPCNotification) {
	if b, err := json.Marshal(n); err == nil {
		r.writeAhead(acknowledgeTasks(b))
	}
}

// writeAhead writes a message ahead of the response, which thereby becomes a stream.
func (r *response) writeAhead(message []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started && !r.streaming {
		return // the sender has outlived the handler
	}
	if !r.started {
		r.started, r.streaming = true, true
		r.rw.Header().Set("Content-Type", "text/event-stream")
		r.rw.Header().Set("Cache-Control", "no-cache")
		r.rw.WriteHeader(http.StatusOK)
	}
	_ = r.writeEvent(message)
}

// writeEvent writes one message as an event. An error means that the client has gone; the context of the
// request ends then, too.
func (r *response) writeEvent(message []byte) error {
	_, err := fmt.Fprintf(r.rw, "event: message\ndata: %s\n\n", bytes.TrimSpace(putBack(message))) //nolint:gosec // JSON, and no browser renders it
	if f, ok := r.rw.(http.Flusher); ok {
		f.Flush()
	}
	return err
}

// Header implements http.ResponseWriter.
func (r *response) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *response) WriteHeader(code int) {
	r.drainQueue()
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
	r.drainQueue()
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	switch message, one := bytes.CutPrefix(p, []byte("event: message\ndata: ")); {
	case one && r.libraryStreams() && (r.change.answer != nil || r.change.tools != nil):
		err = r.writeEvent(r.change.applyTo(message))
	case r.libraryStreams():
		_, err = r.rw.Write(putBack(p))
	case r.streaming:
		err = r.writeEvent(r.change.applyTo(p))
	default:
		_, err = r.rw.Write(putBack(r.change.applyTo(p))) //nolint:gosec // JSON, and no browser renders it
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

// Unwrap is for http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.rw }

// edit implements answerer.
func (r *response) edit(_ any, e edit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change = e
}
