package mcpserver

import (
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// httpSession is a client's session over HTTP.
type httpSession struct {
	// page is true where a web page opened it. Neither kind of client can use a session of
	// the other: what was shown to a program, no page answers, and no program lends a page
	// the forms of its host.
	page bool
	used time.Time
}

// sessionIDs gives out the ids of HTTP sessions and knows the ones that are open. One it
// does not know is answered with 404, on which clients begin anew.
type sessionIDs struct {
	now func() time.Time

	mu   sync.Mutex
	seen map[string]*httpSession
}

// ResolveSessionIdManager implements server.SessionIdManagerResolver. The library calls it
// without a request when it ends sessions by itself.
func (m *sessionIDs) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	if r == nil {
		return visitorSessions{m, visitor{}}
	}
	return visitorSessions{m, visitorOf(r)}
}

// visitorSessions are the sessions as one visitor has them.
type visitorSessions struct {
	all *sessionIDs
	who visitor
}

// Generate returns a new id.
func (m visitorSessions) Generate() string {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	id := rand.Text()
	m.all.seen[id] = &httpSession{page: m.who.page, used: m.all.now()}
	return id
}

// Validate refuses an id that is not open.
func (m visitorSessions) Validate(id string) (isTerminated bool, err error) {
	if !m.all.open(id, m.who) {
		return false, errors.New("no such session")
	}
	return false, nil
}

// Terminate ends a session.
func (m visitorSessions) Terminate(id string) (isNotAllowed bool, err error) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	delete(m.all.seen, id)
	return false, nil
}

// full reports whether no more sessions may be opened.
func (m *sessionIDs) full() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.seen) >= maxSessions
}

// open reports whether a visitor has a session of an id, and that it is in use.
func (m *sessionIDs) open(id string, who visitor) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.seen[id]
	if s == nil || s.page != who.page {
		return false
	}
	s.used = m.now()
	return true
}
