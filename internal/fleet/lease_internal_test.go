package fleet

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// strictQueue gives one run to a worker whose context ends meanwhile, and refuses values as every queue does.
type strictQueue struct {
	Queue
	end      func()
	saves    int
	last     queue.Progress
	released []queue.Release
}

func (q *strictQueue) Claim(ctx context.Context, _ queue.Worker, _ time.Duration, _ queue.Limits) (*queue.Claim, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	q.end()
	return newClaim(), nil
}

func newClaim() *queue.Claim {
	return &queue.Claim{Entry: queue.Entry{SessionID: session, TaskName: "sign-in", LeaseNo: 1}, Until: time.Now().Add(time.Hour)}
}

func (q *strictQueue) Hold(string, int64) {}

func (q *strictQueue) Renew(context.Context, string, int64, time.Duration) (time.Time, error) {
	return time.Now().Add(time.Hour), nil
}

func (q *strictQueue) Save(_ context.Context, _ string, _ int64, p queue.Progress) error {
	q.saves++
	q.last = p
	return p.Check()
}

func (q *strictQueue) Release(_ context.Context, _ string, _ int64, r queue.Release) error {
	q.released = append(q.released, r)
	return r.Check()
}

// TestRecordTooLarge: a record that no queue takes is offered once, and not as long as the lease is renewed.
func TestRecordTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &strictQueue{}
		l := newLease(q, newClaim(), time.Hour)
		l.signer = newMachine(t, "a")
		err := l.Keep(t.Context(), headless.Record{Data: make([]byte, queue.MaxKept+1)})
		if !fault.Is(err, fault.InvalidArgument) || q.saves != 1 {
			t.Errorf("%v after %d calls", err, q.saves)
		}
	})
}

// TestEndedInAClaim: a worker that is asked to end while the queue gives it a run gives that back.
func TestEndedInAClaim(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	q := &strictQueue{end: end}
	w := Worker{Queue: q, Clones: []Clone{{}}, Lease: time.Hour}
	if _, err := w.Work(ctx, false); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(q.released) != 1 || q.released[0].To != queue.Ready {
		t.Errorf("released as %+v", q.released)
	}
}
