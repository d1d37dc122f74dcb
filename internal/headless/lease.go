package headless

import (
	"context"
	"errors"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Lease is a worker's right to work on a run, and the place of the run's record beyond this machine.
type Lease interface {
	// Number grows with each worker that takes the run over.
	Number() int64
	// Branch returns the branch of the folder of this lease.
	Branch() string
	// Kept returns the record as the worker before has left it; nil if there is none.
	Kept() []byte
	// IsFresh reports whether the folder has only what the record knows of: what another worker had not committed is not here.
	IsFresh() bool
	// Grace is the time of an engine to end once it is asked to: before the end of the lease.
	Grace() time.Duration
	// Keep keeps the record, durably. After an error the run does nothing more.
	Keep(ctx context.Context, r Record) error
}

// Record is the record of a run for another machine.
type Record struct {
	Data []byte
	// Asking is the number of the paid call under way, 0 for none. Calls counts them, Repeated those made twice.
	Asking, Calls, Repeated int
	Spent                   price.Money
	// Commit is the newest commit of the run's branch, "" before the first.
	Commit string
}

// ErrUncommitted is the error of a run whose work could not be committed. The answer that reports the work is kept.
var ErrUncommitted = errors.New("the work of the run is not committed")

// readLease returns the state in the record of a lease, nil if there is none. On a fresh folder it forgets what only the
// folder of the other worker had.
func (o *Options) readLease() (*state, error) {
	data := o.Lease.Kept()
	if len(data) == 0 {
		return nil, nil
	}
	s := &state{}
	if err := workflow.Unmarshal(data, s); err != nil {
		return nil, fault.New(fault.Storage, "the record of the run in the store cannot be read: %w", err).
			WithHint("bmad-mcp queue cancel takes the run from the queue; bmad-mcp run --resume goes on with it here")
	}
	if s.Version > stateVersion {
		return nil, fault.New(fault.Storage, "the record of the run in the store has version %d, and this program reads %d", s.Version, stateVersion).
			WithHint("use the newer bmad-mcp that has written it")
	}
	if !o.Lease.IsFresh() {
		return s, nil
	}
	if s.Answer != nil && len(s.Wrote) > 0 { // it reports work that is not here
		s.Answer, s.Repeated = nil, s.Repeated+1
	}
	s.Before, s.After, s.Wrote, s.Worktree = nil, nil, nil, ""
	if a := s.Attempt; a != nil {
		a.Files, a.Before, a.Obeyed = "", nil, nil
	}
	return s, nil
}

// keepLease keeps the state with the lease, if there is one.
func (r *run) keepLease(ctx context.Context) error {
	if r.Lease == nil {
		return nil
	}
	data, err := workflow.Marshal(r.state)
	if err != nil {
		return err
	}
	out := Record{Data: data, Calls: r.state.Calls, Repeated: r.state.Repeated, Spent: r.budget.Report().Spent, Commit: r.state.Commit}
	if a := r.state.Attempt; a != nil {
		out.Asking = a.Call
	}
	return r.Lease.Keep(ctx, out)
}

// isYielding reports whether the program that runs this ends.
func (r *run) isYielding() bool {
	select {
	case <-r.Yield: // nil blocks
		return true
	default:
		return false
	}
}
