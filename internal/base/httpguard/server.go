package httpguard

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// The bounds on slow clients. A client that sends a request at the pace of any network is never near
// them.
const (
	// maxWaiting is the number of connections that may be open without a whole request.
	maxWaiting = 256
	// slack is the time that a body may take in addition to its time at minRate, in bytes a second.
	slack   = 10 * time.Second
	minRate = 32 << 10
)

// NewServer returns a server that slow clients cannot hold. The headers of a request may take ten
// seconds, and its body ten seconds more than at 32 kB a second. At most 256 connections are open on
// which a request is awaited or under way: another one closes the one that has waited longest. A
// connection does not count if its request is answered, for example by a stream.
func NewServer(h http.Handler) *http.Server { return newServer(h, maxWaiting, slack) }

func newServer(h http.Handler, most int, slack time.Duration) *http.Server {
	w := &waiting{most: most, at: map[net.Conn]*list.Element{}}
	return &http.Server{
		Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			conn, _ := r.Context().Value(connKey{}).(net.Conn)
			whole := func() { w.remove(conn) }
			if r.Body == nil || r.Body == http.NoBody {
				whole()
			} else {
				b := &body{
					ReadCloser: r.Body, whole: whole, slack: slack,
					start: time.Now(), //nolint:forbidigo // a deadline of the network, by the system's clock
					limit: http.NewResponseController(rw).SetReadDeadline,
				}
				b.extend()
				// The request itself keeps its body: the server answers before one that is large has
				// come only if it knows the body.
				r = r.WithContext(r.Context())
				r.Body = b
			}
			h.ServeHTTP(rw, r)
		}),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ConnState:   w.state,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
}

// connKey is the key of a request's connection.
type connKey struct{}

// waiting are the connections without a whole request.
type waiting struct {
	most  int
	mu    sync.Mutex
	order list.List // of net.Conn; the longest wait comes first
	at    map[net.Conn]*list.Element
}

// state follows a connection.
func (w *waiting) state(c net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew, http.StateIdle:
		if longest := w.add(c); longest != nil {
			_ = longest.Close()
		}
	case http.StateHijacked, http.StateClosed:
		w.remove(c)
	case http.StateActive: // it is removed when the request is whole
	}
}

// add adds a connection, and returns the one that has to go for it, if any.
func (w *waiting) add(c net.Conn) (longest net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.at[c]; e != nil { // its handler left the body of the last request unread
		w.order.MoveToBack(e)
		return nil
	}
	if len(w.at) >= w.most {
		longest = w.order.Remove(w.order.Front()).(net.Conn)
		delete(w.at, longest)
	}
	w.at[c] = w.order.PushBack(c)
	return longest
}

func (w *waiting) remove(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.at[c]; e != nil {
		w.order.Remove(e)
		delete(w.at, c)
	}
}

// body is the body of a request, which has to keep a pace.
type body struct {
	io.ReadCloser
	slack time.Duration
	start time.Time
	read  int64
	limit func(time.Time) error
	whole func()
}

// extend sets the time by which more has to come. The writer of a test has no deadlines, and needs none.
func (b *body) extend() {
	_ = b.limit(b.start.Add(b.slack + time.Duration(b.read)*time.Second/minRate))
}

// Read implements io.Reader. If a handler leaves a part unread, that part gets no more time.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.read += int64(n); errors.Is(err, io.EOF) {
		_ = b.limit(time.Time{})
		b.whole()
	} else if err == nil {
		b.extend()
	}
	return n, err
}
