package httpguard

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Limits bound the streams and bytes of callers, of each one and of all together. Peers differ by address:
// all clients share one token.
type Limits struct {
	// Streams stay open for hours. Each takes some 30 kB and a connection.
	Streams, PeerStreams int
	// SessionStreams bounds the streams of one session. It has one; earlier ones may still be ending.
	SessionStreams int
	// Bodies is the number of bytes of requests held at once, SmallBody the size up to which a request may
	// use all of them: larger requests leave a quarter to the small ones.
	Bodies, SmallBody int64
	// Write is the time for a client to read each piece of a response.
	Write time.Duration
}

var (
	// ErrBusy is the error of a request without room for its body now.
	ErrBusy = lang.Errorf("the server is reading as many large requests as it can hold; send this one again")
	// ErrTooLarge is the error of a body above the limit.
	ErrTooLarge = lang.Errorf("the body is too large")
)

// Limiter counts the streams and bytes of callers.
type Limiter struct {
	limits Limits

	mu       sync.Mutex
	held     int64
	streams  int
	peers    map[string]int // numbers of streams
	sessions map[string]int // numbers of streams
}

// NewLimiter returns a limiter.
func NewLimiter(l Limits) *Limiter {
	return &Limiter{limits: l, peers: map[string]int{}, sessions: map[string]int{}}
}

// Held returns the number of held bytes of requests, and the number of open streams.
func (l *Limiter) Held() (bytes int64, streams int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held, l.streams
}

// takeBytes holds n more bytes for a request with own bytes already.
func (l *Limiter) takeBytes(n, own int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.limits.Bodies
	if own+n > l.limits.SmallBody {
		most -= l.limits.Bodies / 4
	}
	if l.held+n > most {
		return false
	}
	l.held += n
	return true
}

func (l *Limiter) giveBytes(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= n
}

// Read reads the body of a request of at most limit bytes. declared is the announced size (-1 if unknown).
// It counts bytes as they come in, so a client cannot take room by announcing them. done gives them back.
func (l *Limiter) Read(body io.Reader, declared, limit int64) (data []byte, done func(), err error) {
	room := min(limit+1, 8<<10)
	if declared >= 0 {
		room = min(room, declared+1) // one more, to see the end
	}
	held := int64(0)
	done = func() { l.giveBytes(held); held = 0 }
	grow := func(to int64) bool {
		if !l.takeBytes(to-held, held) {
			return false
		}
		data, held = append(make([]byte, 0, to), data...), to
		return true
	}
	if !grow(room) {
		return nil, done, ErrBusy
	}
	for {
		if len(data) == cap(data) {
			if int64(len(data)) > limit {
				return nil, done, ErrTooLarge
			}
			next := min(2*int64(cap(data)), limit+1)
			if int64(cap(data)) <= declared && declared < next {
				next = declared + 1
			}
			if !grow(next) {
				return nil, done, ErrBusy
			}
		}
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, done, ErrTooLarge
		case errors.Is(err, io.EOF):
			return data, done, nil
		case err != nil:
			return nil, done, err
		}
	}
}

// Stream counts one more stream of a peer, and of a session if it has one, and reports whether
// there is room for it. done is called when it ends.
func (l *Limiter) Stream(peer, session string) (done func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sessionIsFull := session != "" && l.sessions[session] >= l.limits.SessionStreams
	if sessionIsFull || l.streams >= l.limits.Streams || l.peers[peer] >= l.limits.PeerStreams {
		return nil, false
	}
	l.addStreams(peer, session, 1)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.addStreams(peer, session, -1)
	}, true
}

func (l *Limiter) addStreams(peer, session string, n int) {
	l.streams += n
	if l.peers[peer] += n; l.peers[peer] == 0 {
		delete(l.peers, peer)
	}
	if l.sessions[session] += n; l.sessions[session] == 0 {
		delete(l.sessions, session)
	}
}

// Pace gives a client limited time for each piece of a response, so an idle reader cannot hold a
// connection, or the work behind it, for ever. With last, the connection closes when the response ends, as
// it should after a stream: otherwise a client with one stream after the other would keep all their
// connections.
func (l *Limiter) Pace(w http.ResponseWriter, last bool) http.ResponseWriter {
	paced := &pacedWriter{ResponseWriter: w, limit: l.limits.Write, last: last}
	paced.restartTime()
	return paced
}

// pacedWriter is a response writer with the limit of Pace.
type pacedWriter struct {
	http.ResponseWriter
	limit time.Duration
	last  bool
}

// restartTime restarts the time. It keeps running after the last write: net/http writes the rest of the buffer
// then, before it reads the next request.
func (w *pacedWriter) restartTime() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.limit)) //nolint:forbidigo // a deadline of the network, by the system's clock
}

// WriteHeader implements http.ResponseWriter.
func (w *pacedWriter) WriteHeader(code int) {
	w.restartTime()
	if w.last {
		w.Header().Set("Connection", "close")
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *pacedWriter) Write(p []byte) (int, error) {
	w.restartTime()
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (w *pacedWriter) Flush() {
	w.restartTime()
	_ = http.NewResponseController(w.ResponseWriter).Flush() // an error shows in the context of the request
}

// Unwrap lets an http.ResponseController through.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
