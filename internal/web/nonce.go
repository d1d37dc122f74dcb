package web

import (
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// shownFor is the state of a run shown on a page: the page's nonce is good for this state only.
type shownFor struct {
	session  string
	stage    workflow.StageID
	revision int
	sha256   string
}

// showing is a state that a page has shown, and when.
type showing struct {
	of shownFor
	at time.Time
	// used reports whether a decision has taken the nonce, and did not fail.
	used bool
}

// nonces are the nonces of the pages shown last.
type nonces struct {
	mu    sync.Mutex
	of    map[string]*showing
	order []string // the oldest first
}

const (
	// maxNonces bounds the pages open for a decision.
	maxNonces = 512
	// tooFast is the time in which no person can read and decide.
	tooFast = time.Second
)

// add returns a new nonce for a page that shows a document, or a run as a whole. A decision has to name it.
func (n *nonces) add(of shownFor, now time.Time) string {
	name := randomText()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[string]*showing{}
	}
	n.of[name] = &showing{of: of, at: now}
	n.order = append(n.order, name)
	if len(n.order) > maxNonces {
		delete(n.of, n.order[0])
		n.order = n.order[1:]
	}
	return name
}

// take uses a nonce for one decision, and returns the time since the page was shown. release makes the nonce
// good again, for a decision that failed.
func (n *nonces) take(name string, of shownFor, now time.Time) (took time.Duration, release func(), err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.of[name]
	switch {
	case s == nil || s.of != of:
		return 0, nil, fault.New(fault.Conflict, "the page is not the one that was shown for this document, or is too old").
			WithHint("your words are kept: load the page again, read what it shows, and decide then")
	case s.used:
		return 0, nil, fault.New(fault.Conflict, "this decision was sent already").WithHint("the page of the run shows what became of it")
	case now.Sub(s.at) < tooFast:
		return 0, nil, fault.New(fault.GatePending, "nothing was decided: the answer came in under a second, in which nobody reads a document").
			WithHint("read it, and press the button again")
	}
	s.used = true
	return now.Sub(s.at), func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		s.used = false
	}, nil
}
