package mcpserver

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// limits bound what callers can make the server hold, each by itself and all together. A peer
// is an address: all clients have one token.
type limits struct {
	// sessions take some 15 kB each.
	sessions, peerSessions int
	// streams stay open for hours: the GET streams of sessions, and what listens since protocol
	// 2026-07-28. Each takes some 30 kB and a connection.
	streams, peerStreams int
	// sessionStreams are those of one session. It has one; the ones before may still be ending.
	sessionStreams int
	// bodies is how many bytes of requests are held at once.
	bodies int64
	// write is how long a client may take for what is written at once.
	write time.Duration
}

// defaultLimits leave a team room, and a server with 1 GB too.
var defaultLimits = limits{
	sessions: 2000, peerSessions: 500, streams: 2000, peerStreams: 500, sessionStreams: 4,
	bodies: 64 << 20, write: time.Minute,
}

// errBusy is the error of a request for whose body there is no room now.
var errBusy = errors.New("the server is reading as many large requests as it can hold; send this one again")

// errBodyTooLarge is the error of a body above its limit.
var errBodyTooLarge = errors.New("the body is too large")

// bodies counts the bytes of requests that are held.
type bodies struct {
	most int64

	mu   sync.Mutex
	held int64
}

// take holds n more bytes for a request that has own already. Large requests leave a quarter
// to the small ones, so that no number of them keeps others from being heard.
func (b *bodies) take(n, own int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	most := b.most
	if own+n > maxMessage {
		most -= b.most / 4
	}
	if b.held+n > most {
		return false
	}
	b.held += n
	return true
}

func (b *bodies) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
}

// read reads a body of at most limit bytes, of which declared are announced (-1: unknown).
// What it holds is counted as it comes in, not as it is announced: announcing costs nothing.
// done gives it back.
func (b *bodies) read(body io.Reader, declared, limit int64) (data []byte, done func(), err error) {
	room := min(limit+1, 8<<10)
	if declared >= 0 {
		room = min(room, declared+1) // the one more sees the end
	}
	held := int64(0)
	done = func() { b.give(held); held = 0 }
	grow := func(to int64) bool {
		if !b.take(to-held, held) {
			return false
		}
		data, held = append(make([]byte, 0, to), data...), to
		return true
	}
	if !grow(room) {
		return nil, done, errBusy
	}
	for {
		if len(data) == cap(data) {
			if int64(len(data)) > limit {
				return nil, done, errBodyTooLarge
			}
			next := min(2*int64(cap(data)), limit+1)
			if int64(cap(data)) <= declared && declared < next {
				next = declared + 1
			}
			if !grow(next) {
				return nil, done, errBusy
			}
		}
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, done, errBodyTooLarge
		case errors.Is(err, io.EOF):
			return data, done, nil
		case err != nil:
			return nil, done, err
		}
	}
}

// streams counts what stays open.
type streams struct {
	limits limits

	mu       sync.Mutex
	all      int
	peers    map[string]int
	sessions map[string]int
}

// open counts one more stream of a peer, and of a session if it has one, and reports whether
// there is room for it. done is called when it ends.
func (s *streams) open(peer, session string) (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= s.limits.streams || s.peers[peer] >= s.limits.peerStreams || session != "" && s.sessions[session] >= s.limits.sessionStreams {
		return nil, false
	}
	s.add(peer, session, 1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.add(peer, session, -1)
	}, true
}

func (s *streams) add(peer, session string, n int) {
	s.all += n
	for _, of := range []struct {
		counts map[string]int
		key    string
	}{{s.peers, peer}, {s.sessions, session}} {
		if of.counts[of.key] += n; of.counts[of.key] == 0 {
			delete(of.counts, of.key)
		}
	}
}

// pacedWriter gives a client limited time for each thing that is written to it, so that one
// who does not read holds neither a connection nor what waits behind it for ever.
type pacedWriter struct {
	http.ResponseWriter
	limit time.Duration
	// last closes the connection when the response ends, as that of a stream should be: a
	// client that opens one after the other would otherwise keep them all.
	last bool
}

// arm starts the time anew. It goes on after the last write: what is still in a buffer then is
// written by the library, before it reads the next request.
func (w *pacedWriter) arm() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.limit)) //nolint:forbidigo // a deadline of the network, by the system's clock
}

// WriteHeader implements http.ResponseWriter.
func (w *pacedWriter) WriteHeader(code int) {
	w.arm()
	if w.last {
		w.Header().Set("Connection", "close")
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *pacedWriter) Write(p []byte) (int, error) {
	w.arm()
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (w *pacedWriter) Flush() {
	w.arm()
	_ = http.NewResponseController(w.ResponseWriter).Flush() // an error shows in the context of the request
}

// Unwrap lets an http.ResponseController through.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
