package fleet

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Queue is a team's queue, as a worker sees it.
type Queue interface {
	Leases
	// Claim takes a run under a lease, nil if there is none for the worker.
	Claim(ctx context.Context, w queue.Worker, lease time.Duration, l queue.Limits) (*queue.Claim, error)
	// FenceWrites has every write of this process to a session carry the number of the lease.
	FenceWrites(sessionID string, no int64)
}

// Clone is a clone in which a worker works.
type Clone struct {
	// Folder is the project's, Key its name in the store.
	Folder, Key string
}

// Worker takes runs from a queue, one at a time.
type Worker struct {
	Queue  Queue
	As     queue.Worker
	Clones []Clone
	Lease  time.Duration
	Limits queue.Limits
	// Allow has the commands that every run may have an engine run here, of anybody.
	Allow []string
	// OnlyAllowed is true for a worker that follows only orders and records under keys that count here.
	OnlyAllowed bool
	// Open returns the options of a runner in a folder, and the function that closes them.
	Open func(ctx context.Context, folder string, o Order) (headless.Options, func(), error)
	// Vouch returns the say of a key in a run of the project in a folder.
	Vouch func(ctx context.Context, folder, sessionID string, by signature.Key) (engine.Voucher, error)
	// Signer signs the records of runs.
	Signer workflow.Signer
	// Publish offers a finished branch for review, and returns the outcome.
	Publish func(ctx context.Context, folder string, s *workflow.Session) lang.Text
	// Tell, if not nil, is called with news of runs.
	Tell func(task string, what lang.Text)
	// Yield is closed for the worker to end after the call under way.
	Yield <-chan struct{}

	// setbacks counts the tries in a row of each run that could not be worked on here.
	setbacks map[string]int
}

// Outcome is the end of a worker's work on a run.
type Outcome struct {
	Task  string
	State queue.State
	// Lost is true if the lease was lost, so that another worker has the run.
	Lost bool
	Why  string
}

const (
	// pollInterval is the time between two looks at an empty queue.
	pollInterval = 500 * time.Millisecond
	// maxRest bounds the time between two attempts to reach the store.
	maxRest = 10 * time.Second
	// setback is the time after which a run that could not be worked on here is offered again. It doubles with each try in a
	// row, up to maxSetback, since some reasons stay.
	setback    = 15 * time.Second
	maxSetback = 2 * time.Minute // for all workers, also those that could do it
	// maxLost is the number of workers lost at a run after which no other takes it on: its calls could be what ends them.
	maxLost = 25
)

// Work takes runs until the context ends or the worker yields; with once, at most one, which it returns. A store that is not
// reached, or in which another call holds the queue, is waited for, unless once is set.
func (w *Worker) Work(ctx context.Context, once bool) (*Outcome, error) {
	for rest := pollInterval; ; {
		if w.isYielding() {
			return nil, nil
		}
		claim, err := w.Queue.Claim(ctx, w.As, w.Lease, w.Limits)
		isPassing := fault.Is(err, fault.Storage) || fault.Is(err, fault.Conflict)
		isWaitedFor := isPassing && !once
		switch {
		case claim != nil: // also if the context has ended since: workOn gives it back
			rest = pollInterval
			out := w.workOn(ctx, claim)
			w.tell(out.Task, lang.T("%s: %s", out.State, cmp.Or(out.Why, "–")))
			if once {
				return &out, ctx.Err()
			}
			continue
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case isWaitedFor:
			if rest == pollInterval {
				w.tell("", lang.T("the store is not reached: %s; it is tried again", lang.Of(err)))
			}
			rest = min(2*rest, maxRest)
		case err != nil:
			return nil, err
		case once:
			return nil, nil
		default:
			rest = pollInterval
		}
		if w.rest(ctx, rest) != nil {
			return nil, ctx.Err()
		}
	}
}

// rest waits, unless the worker yields before.
func (w *Worker) rest(ctx context.Context, d time.Duration) error {
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	select {
	case <-w.Yield:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
	}
	return nil
}

func (w *Worker) isYielding() bool {
	select {
	case <-w.Yield:
		return true
	default:
		return false
	}
}

func (w *Worker) tell(task string, what lang.Text) {
	if w.Tell != nil {
		w.Tell(task, what)
	}
}

// workOn works on a claimed run, and gives it back.
func (w *Worker) workOn(ctx context.Context, c *queue.Claim) Outcome {
	w.Queue.FenceWrites(c.SessionID, c.LeaseNo) // for good: a late write of this process is another worker's loss
	w.tell(c.TaskName, lang.T("taken under lease %d", c.LeaseNo))
	l := newLease(w.Queue, c, w.Lease)
	l.signer = w.Signer
	working, end := context.WithCancelCause(ctx)
	defer end(nil)
	beating, stop := context.WithCancel(context.WithoutCancel(ctx)) // a worker that was asked to end gives the run back
	defer stop()
	go l.keepAlive(beating, end)

	r, why := w.runUnder(working, l)
	r.NotBefore = w.delayNext(c.SessionID, r.NotBefore)
	out := Outcome{Task: c.TaskName, State: r.To, Why: r.Why}
	cause := context.Cause(working)
	switch {
	case errors.Is(why, queue.ErrCancelled), errors.Is(cause, queue.ErrCancelled):
		out.State, out.Why = queue.Cancelled, lang.Of(queue.CancelledError(c.TaskName)).String()
		w.removeWorktree(l)
		return out
	case errors.Is(why, queue.ErrLeaseLost), errors.Is(cause, queue.ErrLeaseLost), errors.Is(cause, errUnreachable):
		out.Lost, out.State, out.Why = true, queue.Working, lang.Of(cmp.Or(cause, why)).String()
		return out
	}
	err := l.persist(beating, func(ctx context.Context) error { return w.Queue.Release(ctx, c.SessionID, l.Number(), r) })
	switch {
	case errors.Is(err, queue.ErrCancelled):
		out.State = queue.Cancelled
	case err != nil:
		out.Lost, out.State, out.Why = true, queue.Working, lang.Of(err).String()
		return out
	}
	w.removeWorktree(l)
	return out
}

// runUnder has the run worked on under a lease, and returns how it is given back. The error is that of a lost lease.
func (w *Worker) runUnder(ctx context.Context, l *lease) (queue.Release, error) {
	c := l.claim
	i := slices.IndexFunc(w.Clones, func(clone Clone) bool { return clone.Key == c.Project })
	if i < 0 { // the queue has asked for these projects
		return setBack(fault.New(fault.NotFound, "this worker has no clone of %s", c.Project)), nil
	}
	if err := w.checkClaim(ctx, w.Clones[i].Folder, l); err != nil {
		return w.giveUp(ctx, err)
	}
	folder, err := l.openWorktree(ctx, w.Clones[i])
	isSpoiled := errors.Is(err, errSpoiled)
	if err != nil && !isSpoiled && ctx.Err() == nil { // the clone or the disk of this machine: another one may do it
		return setBack(err), nil
	}
	if err != nil {
		return w.giveUp(ctx, err)
	}
	o, done, err := w.Open(ctx, folder, l.order)
	if err != nil {
		return w.giveUp(ctx, err)
	}
	defer done()
	o.Folder, o.Lease, o.Yield = folder, l, w.Yield
	result, err := headless.New(o).Resume(ctx, c.SessionID)
	if err != nil {
		return w.giveUp(ctx, err)
	}
	r := releaseFor(result)
	if s := result.Session.Standing.Session; r.To != queue.Ready {
		r.Why = l.pushBranch(ctx, s, r.Why)
		if r.To == queue.Done && l.order.Publish && w.Publish != nil {
			r.Why = join(r.Why, w.Publish(ctx, folder, s).String())
		}
	}
	return r, nil
}

// checkClaim refuses the order, the record and the work of a run that this worker must not follow. Everything in the database
// can be written by all who have its password; signatures show by whom it is.
func (w *Worker) checkClaim(ctx context.Context, folder string, l *lease) error {
	c := l.claim
	if c.WorkersLost > maxLost {
		return fault.New(fault.NotAllowed, "%d workers were lost at the run", c.WorkersLost).
			WithHint("see why on their machines: each may have paid for a call anew. bmad-mcp queue retry then goes on with it")
	}
	order, by, err := ReadOrder(c.SessionID, c.Run)
	if err != nil {
		return err
	}
	vouch := func(key signature.Key) (engine.Voucher, error) {
		v, err := w.Vouch(ctx, folder, c.SessionID, key)
		if err == nil && w.OnlyAllowed && !v.Counts {
			err = fault.New(fault.NotAllowed, "the run is by a key that does not count on this worker, and the worker follows only keys that count").
				WithHint("type bmad-mcp allow in the worker's clone; then bmad-mcp queue retry")
		}
		return v, err
	}
	v, err := vouch(by)
	if err == nil {
		err = order.checkOrder(v, c.Commit, w.Allow)
	}
	if err != nil {
		return err
	}
	l.order = order
	kept, by, err := readRecord(c)
	if err != nil || kept == nil {
		return err
	}
	if v, err = vouch(by); err != nil {
		return err
	}
	if err := checkRecord(v, order, w.Allow); err != nil {
		return err
	}
	c.Kept, l.head = kept, c.Head
	if len(c.Work) > 0 {
		l.work = workflow.Hash(c.Work)
	}
	return nil
}

// checkRecord refuses the record and the commits of a worker whose key does not count here, by its say: anybody can make a key,
// and an opened gate or a command that runs on the commits would be theirs. allowed are the commands of every run here.
func checkRecord(v engine.Voucher, o Order, allowed []string) error {
	runsMore := slices.ContainsFunc(o.Flags.Commands, func(command string) bool { return !slices.Contains(allowed, command) })
	switch {
	case v.Counts:
	case v.Strict:
		return fault.New(fault.NotAllowed, "the record of the run is by a worker whose key does not count here, and a gate of the run is strict").
			WithHint("type bmad-mcp allow in the worker's clone; then bmad-mcp queue retry")
	case runsMore:
		return fault.New(fault.NotAllowed, "the commits of the run are by a worker whose key does not count here, and the run may run commands on them").
			WithHint("type bmad-mcp allow in the worker's clone; then bmad-mcp queue retry")
	}
	return nil
}

// releaseFor returns how a run is given back after a result.
func releaseFor(r *headless.Result) queue.Release {
	out := queue.Release{Why: r.Why, Revision: r.Session.Standing.Session.Revision}
	switch r.Reason {
	case headless.Done:
		out.To = queue.Done
	case headless.Person:
		out.To = queue.Waiting
		if r.Session.Standing.Session.CurrentState == workflow.Cancelled {
			out.To = queue.Cancelled
		}
	case headless.Spent:
		out.To = queue.Spent
	case headless.Yielded:
		out.To = queue.Ready
	default:
		out.To = queue.Failed
	}
	return out
}

// giveUp returns how a run is given back after an error, or the error of a lost lease. If this machine lacks something,
// another may have it: the run is offered again.
func (w *Worker) giveUp(ctx context.Context, err error) (queue.Release, error) {
	switch {
	case errors.Is(err, queue.ErrLeaseLost), errors.Is(err, errUnreachable):
		return queue.Release{To: queue.Ready}, err
	case ctx.Err() != nil:
		return queue.Release{To: queue.Ready, Why: "the worker was ended"}, nil
	case errors.Is(err, headless.ErrUncommitted), fault.Is(err, fault.InvalidArgument), fault.Is(err, fault.NotAllowed): // another try could cost as much again
		return queue.Release{To: queue.Failed, Why: describeError(err)}, nil
	}
	return setBack(err), nil
}

func setBack(err error) queue.Release {
	return queue.Release{To: queue.Ready, Why: describeError(err), NotBefore: setback}
}

// delayNext returns the time after which a run is offered again, from that after a first setback; 0 is for a run that was worked on.
func (w *Worker) delayNext(sessionID string, wait time.Duration) time.Duration {
	if wait == 0 {
		delete(w.setbacks, sessionID)
		return 0
	}
	if w.setbacks == nil {
		w.setbacks = map[string]int{}
	}
	w.setbacks[sessionID]++
	for range w.setbacks[sessionID] - 1 {
		wait = min(2*wait, maxSetback)
	}
	return wait
}

// describeError returns an error with its remedy, for the queue.
func describeError(err error) string {
	f := fault.From(err)
	return join(f.Error(), f.Hint)
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
