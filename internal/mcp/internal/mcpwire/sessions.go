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

// limits bound the sessions and the memory of callers.
type limits struct {
	httpguard.Limits
	// sessions take some 15 kB each.
	sessions, peerSessions int
}

// defaultLimits suit a team on a server with 1 GB.
var defaultLimits = limits{
	Limits:   httpguard.Limits{Streams: 2000, PeerStreams: 500, SessionStreams: 4, Bodies: 64 << 20, Write: time.Minute},
	sessions: 2000, peerSessions: 500,
}

// httpSession is a client's session over HTTP.
type httpSession struct {
	peer string
	// page reports whether a web page opened the session. Pages and programs cannot use each other's
	// sessions: a page must not answer a program's form, and gets no forms of a program's host.
	page bool
	// called reports whether the session was used for more than the handshake. last is the time of the last
	// begin or end of a request, and busy the number of requests at work.
	called bool
	last   time.Time
	busy   int
}

// sessionIDs makes the ids of HTTP sessions and knows the open ones. A request with an unknown id gets 404,
// and then clients start a new session.
type sessionIDs struct {
	now    func() time.Time
	limits limits
	// ended is called with each session ended by openSession to make room.
	ended func(id string)

	mu   sync.Mutex
	open map[string]*httpSession
}

func newSessionIDs(now func() time.Time, l limits) *sessionIDs {
	return &sessionIDs{now: now, limits: l, open: map[string]*httpSession{}}
}

// openSession opens a session for a visitor; leave ends the first request. Beyond the limit of the peer, or
// of all peers, another session is ended, so that nobody can keep others out by opening sessions.
func (m *sessionIDs) openSession(who httpguard.Visitor) (id string, leave func()) {
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
	return id, func() { m.endRequest(s) }
}

// endRequest records the end of a request over a session.
func (m *sessionIDs) endRequest(s *httpSession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.busy--
	s.last = m.now()
}

// makeRoom ends one session of a peer, or of anyone if peer is "": the oldest never used, else the longest
// idle, else one at work.
func (m *sessionIDs) makeRoom(peer string) string {
	least, found := "", (*httpSession)(nil)
	for id, s := range m.open {
		if peer != "" && s.peer != peer {
			continue
		}
		if found == nil || s.isMissedLess(found) {
			least, found = id, s
		}
	}
	delete(m.open, least)
	return least
}

// isMissedLess reports whether a session is to be ended before another.
func (s *httpSession) isMissedLess(other *httpSession) bool {
	if s.rankOfUse() != other.rankOfUse() {
		return s.rankOfUse() < other.rankOfUse()
	}
	return s.last.Before(other.last)
}

func (s *httpSession) rankOfUse() int {
	switch {
	case s.busy > 0:
		return 2
	case s.called:
		return 1
	}
	return 0
}

// beginRequest begins a request of a visitor over a session. ok reports whether the visitor has the session;
// leave ends the request.
func (m *sessionIDs) beginRequest(id string, who httpguard.Visitor) (leave func(), ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.open[id]
	if s == nil || s.page != who.Page {
		return nil, false
	}
	s.busy++
	s.last = m.now()
	return func() { m.endRequest(s) }, true
}

// noteCall records that a session is used for more than the handshake.
func (m *sessionIDs) noteCall(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.open[id]; s != nil {
		s.called = true
	}
}

// hasSession reports whether a visitor has a session.
func (m *sessionIDs) hasSession(id string, who httpguard.Visitor) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.open[id]
	return s != nil && s.page == who.Page
}

// newSessionKey is the context key of the id of the session opened by a request.
type newSessionKey struct{}

// ResolveSessionIdManager implements server.SessionIdManagerResolver. The library passes no request when it
// ends a session by itself.
func (m *sessionIDs) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	out := requestSessions{all: m}
	if r != nil {
		out.begun, _ = r.Context().Value(newSessionKey{}).(string)
		out.who = httpguard.VisitorOf(r)
	}
	return out
}

// requestSessions is the library's view of the sessions, for one request.
type requestSessions struct {
	all   *sessionIDs
	who   httpguard.Visitor
	begun string
}

// Generate returns the id of the session opened by the request.
func (v requestSessions) Generate() string { return v.begun }

// Validate returns an error for an id without an open session.
func (v requestSessions) Validate(id string) (isTerminated bool, err error) {
	if !v.all.hasSession(id, v.who) {
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
