package mcpwire

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
)

// askedPrefix begins the ids of our own requests, to tell their answers from those to the library's
// requests, which have numbers.
const askedPrefix = "bmad-"

// asks are our own requests to legacy clients over HTTP that have no answer yet. The library
// sends its requests on a session's GET stream only, which many clients do not open; ours go out
// with the answer to the call that needs them.
type asks struct {
	mu   sync.Mutex
	open map[string]asked // by id
}

type asked struct {
	session string
	answer  chan json.RawMessage // takes one without waiting
}

// begin notes a new request to the client of a session. end forgets it.
func (a *asks) begin(session string) (id string, answer <-chan json.RawMessage, end func()) {
	id, q := askedPrefix+rand.Text(), asked{session, make(chan json.RawMessage, 1)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open[id] = q
	return id, q.answer, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.open, id)
	}
}

// answered passes on the answer to one of these requests, and reports whether it was one. It
// has to come over the session that was asked.
func (a *asks) answered(session string, id, result json.RawMessage) bool {
	var name string
	if json.Unmarshal(id, &name) != nil || !strings.HasPrefix(name, askedPrefix) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	q, ok := a.open[name]
	if !ok || q.session != session {
		return false
	}
	delete(a.open, name)
	q.answer <- result
	return true
}
