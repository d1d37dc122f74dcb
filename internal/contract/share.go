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

// runs are the contracts under way: a *shared for the path of each project.
type runs struct{ open sync.Map }

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
		found, isRunning := r.open.LoadOrStore(key, mine)
		other := found.(*shared)
		switch {
		case !isRunning:
			defer func() { // also after a panic, whose result is not shared
				r.open.Delete(key)
				close(mine.ended)
			}()
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
