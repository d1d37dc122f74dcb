package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Leases are the part of a queue for a run that a worker has.
type Leases interface {
	// Renew prolongs a lease, and returns its end by this machine's clock.
	Renew(ctx context.Context, sessionID string, no int64, lease time.Duration) (time.Time, error)
	// Save keeps how far the run has come.
	Save(ctx context.Context, sessionID string, no int64, p queue.Progress) error
	// Release gives the run back.
	Release(ctx context.Context, sessionID string, no int64, r queue.Release) error
}

// errUnreachable ends a run whose store was not reached before the end of its lease.
var errUnreachable = errors.New("the store was not reached before the lease ended")

const (
	// beatInterval is the longest time between two renewals: a cancelled run is seen as fast.
	beatInterval = time.Second
	// leeway is the time in which an engine that is asked to end is killed.
	leeway = 6 * time.Second
)

// lease is the lease of a claimed run. It implements [headless.Lease].
type lease struct {
	queue  Leases
	claim  *queue.Claim
	length time.Duration
	// folder is the top of the worktree, fresh whether the worker before had another one.
	folder string
	branch string
	fresh  bool
	// order is what the person has allowed the run.
	order  Order
	signer workflow.Signer

	mu    sync.Mutex
	until time.Time
	// head is the newest commit whose work is in the store, work the hash of that. isUnkept is true if the store has refused the
	// newest record, or its commits.
	head, work string
	isUnkept   bool
}

func newLease(q Leases, c *queue.Claim, length time.Duration) *lease {
	return &lease{queue: q, claim: c, length: length, until: c.Until}
}

// Number implements [headless.Lease].
func (l *lease) Number() int64 { return l.claim.LeaseNo }

// Branch implements [headless.Lease].
func (l *lease) Branch() string { return l.branch }

// Kept implements [headless.Lease].
func (l *lease) Kept() []byte { return l.claim.Kept }

// IsFresh implements [headless.Lease].
func (l *lease) IsFresh() bool { return l.fresh }

// Head implements [headless.Lease].
func (l *lease) Head() string { return l.head }

// Keep implements [headless.Lease]. The commits go with the record that knows of them. If they cannot go, the record goes
// alone: the answer in it was paid for.
func (l *lease) Keep(ctx context.Context, r headless.Record) error {
	p := queue.Progress{Asking: r.Asking, Calls: r.Calls, Repeated: r.Repeated, Spent: int64(r.Spent)}
	head, sum := l.head, l.work
	var errWork error
	if r.Commit != "" && r.Commit != l.head {
		if p.Work, errWork = git.Bundle(ctx, l.folder, l.claim.Commit, r.Commit); errWork == nil {
			p.Head, head, sum = r.Commit, r.Commit, ""
		}
		if len(p.Work) > 0 { // none for the commit that the run begins from
			sum = workflow.Hash(p.Work)
		}
	}
	err := l.saveRecord(ctx, p, record{l.claim.SessionID, l.Number(), head, sum, r.Data})
	if err == nil {
		l.head, l.work = head, sum
		err = l.explainWork(errWork)
	}
	l.isUnkept = err != nil && !errors.Is(err, queue.ErrLeaseLost)
	return err
}

// saveRecord signs a record, and has the store keep it with the progress of the run.
func (l *lease) saveRecord(ctx context.Context, p queue.Progress, r record) (err error) {
	if p.Kept, err = writeRecord(r, l.signer); err != nil {
		return err
	}
	return l.persist(ctx, func(ctx context.Context) error { return l.queue.Save(ctx, l.claim.SessionID, l.Number(), p) })
}

// explainWork returns the error for commits that are not in the store because of another one, nil if there is none.
func (l *lease) explainWork(err error) error {
	if err == nil {
		return nil
	}
	err = fault.New(fault.NotAllowed, "the commits of the run are not in the database: %w", err).
		WithHint("they are in the worktree %s of this machine. Take large files out of them there, then bmad-mcp queue retry; another machine pays for the work again", l.folder)
	return errors.Join(err, headless.ErrUncommitted)
}

// persist does something until it succeeds, or the lease has ended: an answer that is lost here is paid for again. It does not
// repeat a call that is refused for good: the lease is renewed meanwhile, so that the repeats would not end.
func (l *lease) persist(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		isFinal := err == nil || errors.Is(err, queue.ErrLeaseLost) || fault.Is(err, fault.InvalidArgument)
		if isFinal || ctx.Err() != nil || l.left() <= 0 {
			return err
		}
		if err := pause(ctx, min(beatInterval, l.length/10)); err != nil {
			return err
		}
	}
}

// left returns the time until the end of the lease.
func (l *lease) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.until)
}

// margin is the time before the end of the lease at which the work ends.
func (l *lease) margin() time.Duration { return min(leeway, l.length/3) }

// Grace implements [headless.Lease].
func (l *lease) Grace() time.Duration { return l.margin() / 2 }

// keepAlive renews the lease until the context ends, and ends the work by end if the lease is lost, or about to end. The alarm
// waits for no call of the store: one may be under way for longer than the lease.
func (l *lease) keepAlive(ctx context.Context, end context.CancelCauseFunc) {
	alarm := time.AfterFunc(l.left()-l.margin(), func() { end(errUnreachable) })
	defer alarm.Stop()
	for pause(ctx, min(beatInterval, l.length/3)) == nil {
		until, err := l.renew(ctx)
		switch {
		case err == nil:
			l.mu.Lock()
			l.until = until
			l.mu.Unlock()
			alarm.Reset(l.left() - l.margin())
		case errors.Is(err, queue.ErrLeaseLost):
			end(err)
			return
		}
	}
}

// renew renews the lease, in the time that is left to end the work.
func (l *lease) renew(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, max(l.left()-l.margin(), time.Millisecond))
	defer cancel()
	return l.queue.Renew(ctx, l.claim.SessionID, l.Number(), l.length)
}

// pause waits for a time, or until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
