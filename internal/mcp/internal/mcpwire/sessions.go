package mcpwire

import (
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
)

// limits bound the sessions and the memory that callers can take.
type limits struct {
	httpguard.Limits
	// sessions take some 15 kB each.
	sessions, peerSessions int
}

// defaultLimits leave a team room, and a server with 1 GB too.
var defaultLimits = limits{
	Limits:   httpguard.Limits{Streams: 2000, PeerStreams: 500, SessionStreams: 4, Bodies: 64 << 20, Write: time.Minute},
	sessions: 2000, peerSessions: 500,
}

// httpSession is a client's session over HTTP.
type httpSession struct {
	peer string
	// page is true if a web page opened it. Neither kind of client can use a session of
	// the other: a page does not answer a program's form, and a program does not lend a page
	// the forms of its host.
	page bool
	// called is true once it was used for more than the handshake; last is the time at which its last
	// request began or ended, and busy the number of those at work.
	called bool
	last   time.Time
	busy   int
}

// sessionIDs gives out the ids of HTTP sessions and knows the open ones. A request with an unknown id is
// answered with 404, after which clients start a new session.
type sessionIDs struct {
	now    func() time.Time
	limits limits
	// ended is called with each session that had to make room, so that the library forgets it.
	ended func(id string)

	mu   sync.Mutex
	open map[string]*httpSession
}

func newSessionIDs(now func() time.Time, l limits) *sessionIDs {
	return &sessionIDs{now: now, limits: l, open: map[string]*httpSession{}}
}

// begin opens a session for a visitor, whose first request ends with leave. If there are too many, of
// this peer or in all, another makes room, so that nobody is kept out by ever more sessions.
func (m *sessionIDs) begin(who httpguard.Visitor) (id string, leave func()) {
	m.mu.Lock()
	var gone []string
	ofPeer := 0
	for _, s := range m.open {
		if s.peer == who.Address {
			ofPeer++
		}
	}
	if ofPeer >= m.limits.peerSessions {
		gone = append(gone, m.makeRoom(who.Address))
	}
	if len(m.open) >= m.limits.sessions {
		gone = append(gone, m.makeRoom(""))
	}
	id = rand.Text()
	s := &httpSession{peer: who.Address, page: who.Page, busy: 1, last: m.now()}
	m.open[id] = s
	m.mu.Unlock()
	for _, id := range gone {
		m.ended(id)
	}
	return id, func() { m.leave(s) }
}

// leave ends a request over a session.
func (m *sessionIDs) leave(s *httpSession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.busy--
	s.last = m.now()
}

// makeRoom ends the session of a peer, or of anyone if peer is "", that will be missed least: the
// oldest that was never used, else the one that is idle for longest, else one that is at work.
func (m *sessionIDs) makeRoom(peer string) string {
	least, found := "", (*httpSession)(nil)
	for id, s := range m.open {
		if peer != "" && s.peer != peer {
			continue
		}
		if found == nil || s.before(found) {
			least, found = id, s
		}
	}
	delete(m.open, least)
	return least
}

// before reports whether a session is missed less than another.
func (s *httpSession) before(other *httpSession) bool {
	if s.worth() != other.worth() {
		return s.worth() < other.worth()
	}
	return s.last.Before(other.last)
}

func (s *httpSession) worth() int {
	switch {
	case s.busy > 0:
		return 2
	case s.called:
		return 1
	}
	return 0
}

// enter begins a request of a visitor over a session, and reports whether the session is theirs. leave
// ends the request.
func (m *sessionIDs) enter(id string, who httpguard.Visitor) (leave func(), ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.open[id]
	if s == nil || s.page != who.Page {
		return nil, false
	}
	s.busy++
	s.last = m.now()
	return func() { m.leave(s) }, true
}

// noteCall notes that a session is used for more than the handshake.
func (m *sessionIDs) noteCall(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.open[id]; s != nil {
		s.called = true
	}
}

// has reports whether a visitor has a session.
func (m *sessionIDs) has(id string, who httpguard.Visitor) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.open[id]
	return s != nil && s.page == who.Page
}

// newSessionKey is the key of the id of the session that a request opens, in its context.
type newSessionKey struct{}

// ResolveSessionIdManager implements server.SessionIdManagerResolver. The library calls it
// without a request when it ends sessions by itself.
func (m *sessionIDs) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	out := requestSessions{all: m}
	if r != nil {
		out.begun, _ = r.Context().Value(newSessionKey{}).(string)
		out.who = httpguard.VisitorOf(r)
	}
	return out
}

// requestSessions has the sessions that one request can use.
type requestSessions struct {
	all   *sessionIDs
	who   httpguard.Visitor
	begun string
}

// Generate returns the id of the session that the request opens.
func (v requestSessions) Generate() string { return v.begun }

// Validate refuses an id that is not open.
func (v requestSessions) Validate(id string) (isTerminated bool, err error) {
	if !v.all.has(id, v.who) {
		return false, errors.New("no such session")
	}
	return false, nil
}

// Terminate ends a session.
func (v requestSessions) Terminate(id string) (isNotAllowed bool, err error) {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	delete(v.all.open, id)
	return false, nil
}
