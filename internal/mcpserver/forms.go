package mcpserver

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
)

const (
	// formKey is the id of a form among the inputs that a result asks for.
	formKey = "form"
	// statePrefix begins the state of a form, folderPrefix that of one about a folder.
	statePrefix, folderPrefix = "form-", "folder-"
	// humanTime is the least time in which a person can read a form and answer it. Some hosts
	// decline forms by themselves, or accept empty ones, within milliseconds.
	humanTime = time.Second
	// maxForms bounds the forms of a client that hold a worker each, so that others stay free.
	maxForms = 8
	// maxRemembered bounds the forms whose answers come with a later call, if ever.
	maxRemembered = 256
)

// forms are the questions on their way to a person. The state that travels with a form is only
// the name of its entry here: the purpose of the answer never leaves the server, and an entry is
// used once.
type forms struct {
	now func() time.Time

	mu   sync.Mutex
	open map[string]*form // by state
	// silent has the clients whose last form was seen by no person, and when that was.
	silent map[string]time.Time
}

// forgetSilence is how long that is remembered of a client without a session: another
// window of the same program on the same machine may show forms.
const forgetSilence = 5 * time.Minute

// form is one question that was sent.
type form struct {
	bound  engine.Bound
	cwd    string
	client string
	asked  time.Time
	limit  time.Duration
	// held is true where the call waits for the answer, and a worker with it.
	held bool
}

func newForms(now func() time.Time) *forms {
	return &forms{now: now, open: map[string]*form{}, silent: map[string]time.Time{}}
}

// add remembers a form and returns its state; "" and the reason where it must not be sent.
func (f *forms) add(n form) (state, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.asked = f.now()
	held, oldest := 0, ""
	for state, other := range f.open {
		switch {
		case n.asked.Sub(other.asked) > other.limit+time.Minute:
			delete(f.open, state)
			continue
		case other.bound == n.bound && other.cwd == n.cwd && other.held:
			return "", "a form with this question is open already"
		}
		if other.held {
			if other.client == n.client {
				held++ // of this client: others are not to wait for its person
			}
		} else if oldest == "" || other.asked.Before(f.open[oldest].asked) {
			oldest = state
		}
	}
	if n.held && held >= maxForms {
		return "", "too many forms are open at once"
	}
	if len(f.open) >= maxRemembered && oldest != "" {
		delete(f.open, oldest)
	}
	state = statePrefix + rand.Text()
	f.open[state] = &n
	return state, ""
}

// take returns the form that a client was sent with a state, once; nil for one that was never
// sent, was sent to another client, or was answered before.
func (f *forms) take(state, client string) *form {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.open[state]
	if found == nil || found.client != client {
		return nil // it stays open for the one who was asked
	}
	delete(f.open, state)
	return found
}

// limit returns how long the form of a state may take.
func (f *forms) limit(state string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if found := f.open[state]; found != nil {
		return found.limit
	}
	return 0
}

func (f *forms) setSilent(client string, silent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.silent, client); silent {
		f.silent[client] = f.now()
	}
}

func (f *forms) isSilent(client string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	since, silent := f.silent[client]
	if silent && mcpwire.Sessionless(client) && f.now().Sub(since) > forgetSilence {
		delete(f.silent, client)
		return false
	}
	return silent
}
