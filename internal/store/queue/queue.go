// Package queue has the words for a team's queue of runs, which workers on many machines take from; package pgstore
// keeps it. It is pure.
//
// An entry is about one session. A worker takes it for a time, its lease, and prolongs that while it works. Each
// lease of an entry has a higher number than the one before: a write under an earlier number is refused, so that a
// worker that was thought to be gone cannot write over the work of the next. All times are by the clock of the store.
package queue

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// State is the state of an entry.
type State string

// The states.
const (
	// Ready waits for a worker.
	Ready State = "ready"
	// Working is with a worker; the worker is lost if the lease has ended.
	Working State = "working"
	// Waiting has stopped for a person. The next change of the session makes it Ready.
	Waiting State = "waiting"
	// Spent has stopped because its budget or its time is up. The next decision of a person makes it Ready.
	Spent State = "spent"
	// Done, Failed and Cancelled are ends.
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// States returns all states, in the order of a run.
func States() []State { return []State{Ready, Working, Waiting, Spent, Done, Failed, Cancelled} }

// IsKnown reports whether a state is one of [States].
func (s State) IsKnown() bool { return slices.Contains(States(), s) }

// Order says how a run is to be worked on.
type Order struct {
	// Labels are what a worker needs to have; it may have more.
	Labels []string
	// Run has the flags of the run as JSON, which the queue does not read.
	Run []byte
	// By names the person who queued it.
	By string
	// Commit is the commit the work begins from, and Remote the repository that has it.
	Commit, Remote string
}

// Entry is an entry as lists show it.
type Entry struct {
	SessionID string
	// Project is the key of the project, TaskName the name of the run in it.
	Project, TaskName string
	State             State
	// Lost is true if the entry is Working, and its lease has ended.
	Lost               bool
	Labels             []string
	By, Commit, Remote string
	// QueuedAt and ChangedAt are by the clock of the store, as are Age, the time since QueuedAt, and InState, the
	// time since ChangedAt.
	QueuedAt, ChangedAt time.Time
	Age, InState        time.Duration
	// Worker is the id of the worker that has the lease, or had it and did not give it back.
	Worker string
	// LeaseNo is the number of the last lease, 0 before the first. LeaseLeft is the time left of it, 0 if it has ended.
	LeaseNo   int64
	LeaseLeft time.Duration
	// Asking is the number of the paid call under way, 0 if there is none.
	Asking int
	// Calls are the paid calls so far, Repeated those that were made again, WorkersLost the leases that ended
	// without a release.
	Calls, Repeated, WorkersLost int
	// Spent is in nano-dollars.
	Spent int64
	// Why says why the entry is in its state, as the worker put it.
	Why string
	// Stage and SessionState are those of the session.
	Stage, SessionState string
	// Note names the problem of an entry whose row somebody has changed, "" if there is none.
	Note string
}

// Worker is a worker that has asked for entries.
type Worker struct {
	// ID is the worker's own, Host the name of its machine.
	ID, Host string
	// Labels are what it has, Projects the keys of the projects that it works on.
	Labels, Projects []string
	// Version is that of the program.
	Version string
	// SeenAgo is the time since it was seen last.
	SeenAgo time.Duration
	// SessionID and TaskName are those of the run it is at work on, "" if there is none.
	SessionID, TaskName string
}

// Limits are limits of a team; with 0 there is none.
type Limits struct {
	// MaxWorkers is the largest number of runs at work at a time.
	MaxWorkers int
	// MaxCostPerDay is in nano-dollars: once as much was spent on a day (UTC), no run is begun or taken over.
	MaxCostPerDay int64
}

// Claim is an entry that was given to a worker.
type Claim struct {
	Entry
	// Run are the flags of the order.
	Run []byte
	// Kept is the record of the run, nil at first, as [Progress] had it.
	Kept []byte
	// Head is the commit of the work so far, and Work a git bundle with it, nil if there is none.
	Head string
	Work []byte
	// Until is the end of the lease by this machine's monotonic clock: not later than the store's end of it.
	Until time.Time
}

// Progress is how far a worker has come.
type Progress struct {
	// Kept is the record of the run; nil leaves the stored one.
	Kept []byte
	// Asking is the number of the paid call under way, 0 if there is none.
	Asking int
	// Calls and Repeated count the paid calls of the run, Spent their price in nano-dollars. The stored price never
	// falls.
	Calls, Repeated int
	Spent           int64
	// Head is the commit of the work, "" leaves the stored one. Work is a git bundle with it, nil leaves the stored one.
	Head string
	Work []byte
}

// Release gives an entry back.
type Release struct {
	// To is the next state, any but Working, and Why the reason for people.
	To  State
	Why string
	// Revision is the session's, as the worker knows it. If the session has another by now, somebody has changed it
	// meanwhile, and the entry becomes Ready instead of Waiting.
	Revision int
	// NotBefore is the time for which an entry that becomes Ready is not given to a worker.
	NotBefore time.Duration
}

// The limits of what an entry keeps, in bytes, and of lists.
const (
	MaxRun  = 1 << 20
	MaxKept = 8 << 20
	MaxWork = 32 << 20
	// MaxName bounds a label, a name, an id and a key.
	MaxName = 500
	// MaxWords bounds a reason, which is cut.
	MaxWords = 2000
	// MaxLabels bounds the labels of an order or a worker, and the projects of a worker.
	MaxLabels = 100
	// MaxMoney bounds an amount, in nano-dollars.
	MaxMoney = 1 << 60
)

// Errors of a worker whose lease does not count any more. Each error that matches ErrCancelled matches ErrLeaseLost.
var (
	ErrLeaseLost = errors.New("the lease is lost")
	ErrCancelled = fmt.Errorf("the run was taken from the queue: %w", ErrLeaseLost)
)

// LeaseLost returns the error for a write under a lease that another worker's has followed, or that was given back.
// It matches [ErrLeaseLost].
func LeaseLost(id string, no int64) error {
	e := fault.New(fault.Conflict, "lease %d of run %s does not count any more", no, id).
		WithHint("stop the work on it: another worker may have it; nothing was changed")
	e.Err = ErrLeaseLost
	return e
}

// CancelledError returns the error for a write under the lease of an entry that somebody has cancelled. It matches
// [ErrCancelled].
func CancelledError(id string) error {
	e := fault.New(fault.Conflict, "run %s was taken from the queue", id).
		WithHint("stop the work on it; nothing was changed")
	e.Err = ErrCancelled
	return e
}
