package headless

import (
	"context"
	"errors"
	"time"

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
	// IsFresh reports whether the folder has only commits that the record knows of, and no uncommitted change of another worker.
	IsFresh() bool
	// Head returns the newest commit whose work the store has, "" before the first.
	Head() string
	// Grace is the time of an engine to end once it is asked to: before the end of the lease.
	Grace() time.Duration
	// Keep keeps the record, durably. After an error the run does nothing more. If only the commit cannot be kept, the record
	// is, and the error matches [ErrUncommitted].
	Keep(ctx context.Context, r Record) error
}

// Record is the record of a run for another machine.
type Record struct {
	Data []byte
	// Asking is the number of the paid call under way, 0 for none. Calls counts them, Repeated the ones made twice.
	Asking, Calls, Repeated int
	Spent                   price.Money
	// Commit is the newest commit of the run's branch, "" before the first.
	Commit string
}

// ErrUncommitted is the error of a run whose work could not be committed. The answer that reports the work is kept.
var ErrUncommitted = errors.New("the work of the run is not committed")
