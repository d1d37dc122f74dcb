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

// The bounds on slow clients. A client at the pace of any network is never near them.
const (
	// maxWaiting is the greatest number of open connections without a whole request.
	maxWaiting = 256
	// slack is the time for a body in addition to its time at minRate, in bytes a second.
	slack   = 10 * time.Second
	minRate = 32 << 10
)

// NewServer returns a server that slow clients cannot hold. The headers of a request may take ten seconds,
// and the body ten seconds more than at 32 kB a second. At most 256 open connections have an awaited or
// unfinished request: another one closes the one waiting longest. A connection does not count while a
// request on it is answered, for example by a stream.
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
				b.extendDeadline()
				// The request itself keeps its body: without it the server would not answer before a large
				// body has come.
				r = r.WithContext(r.Context())
				r.Body = b
			}
			h.ServeHTTP(rw, r)
		}),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ConnState:   w.followState,
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

// followState follows a connection.
func (w *waiting) followState(c net.Conn, s http.ConnState) {
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

// add adds a connection, and returns the one to close for it, if any.
func (w *waiting) add(c net.Conn) (longest net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.at[c]; e != nil { // the handler left the body of the last request unread
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

// extendDeadline sets the time by which more has to come. The writer of a test has no deadlines, and needs none.
func (b *body) extendDeadline() {
	_ = b.limit(b.start.Add(b.slack + time.Duration(b.read)*time.Second/minRate))
}

// Read implements io.Reader. A part left unread by a handler gets no more time.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.read += int64(n); errors.Is(err, io.EOF) {
		_ = b.limit(time.Time{})
		b.whole()
	} else if err == nil {
		b.extendDeadline()
	}
	return n, err
}
