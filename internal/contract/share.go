package contract

import (
	"context"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// runs are the contracts under way, by project.
type runs struct {
	mu   sync.Mutex
	open map[string]*shared
}

// shared is a contract under way. Its result counts once ended is closed.
type shared struct {
	call Call
	// tree is the fingerprint of the project's files at its start, "" if it is not known.
	tree  string
	ended chan struct{}

	result Result
	err    error
	// givenUp is true if its caller did not wait for the end.
	givenUp bool
}

// share runs a contract, or waits for the one under way in the same project if that checks the
// same: two runs of a build at once disturb each other.
func (r *runs) share(ctx context.Context, p *project.Project, call Call, run func() (Result, error)) (Result, error) {
	key := trust.PathOf(p.Dir.Path())
	for {
		tree, _ := p.Fingerprint(nil, time.Time{})
		mine := &shared{call: call, tree: tree, ended: make(chan struct{}), givenUp: true}
		other := r.enter(key, mine)
		switch {
		case other == nil:
			defer r.leave(key, mine)
			mine.result, mine.err = run()
			mine.givenUp = ctx.Err() != nil
			return mine.result, mine.err
		case other.call != call:
			return Result{}, busy(lang.T("for another stack or folder"))
		case tree == "" || other.tree != tree:
			return Result{}, busy(lang.T("and files have changed since it began"))
		}
		select {
		case <-other.ended:
			if !other.givenUp {
				return other.result, other.err
			}
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}
}

func busy(why lang.Text) error {
	return fault.New(fault.Conflict, "the completion contract runs in this project already, %s", why).
		WithHint("wait until it has ended, then call again")
}

// enter registers a contract as the one under way, or returns the one that is.
func (r *runs) enter(key string, mine *shared) *shared {
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.open[key]; other != nil {
		return other
	}
	if r.open == nil {
		r.open = map[string]*shared{}
	}
	r.open[key] = mine
	return nil
}

// leave ends a contract, also after a panic: its result is then not shared.
func (r *runs) leave(key string, mine *shared) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, key)
	close(mine.ended)
}
