package fleet

import (
	"context"
	"errors"
	"strings"
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

func (q *strictQueue) FenceWrites(string, int64) {}

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

// busyQueue refuses some claims, as a store does in which another call holds the queue.
type busyQueue struct {
	strictQueue
	refused []fault.Code
}

func (q *busyQueue) Claim(ctx context.Context, w queue.Worker, lease time.Duration, l queue.Limits) (*queue.Claim, error) {
	if len(q.refused) > 0 {
		code := q.refused[0]
		q.refused = q.refused[1:]
		return nil, fault.New(code, "it is in use")
	}
	return q.strictQueue.Claim(ctx, w, lease, l)
}

// TestBusyQueue: a worker waits for a store that will take its calls again, and for nothing else.
func TestBusyQueue(t *testing.T) {
	for code, want := range map[fault.Code]int{fault.Conflict: 1, fault.Storage: 1, fault.InvalidArgument: 0} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			q := &busyQueue{strictQueue{end: end}, []fault.Code{code, code}}
			w := Worker{Queue: q, Clones: []Clone{{}}, Lease: time.Hour}
			if _, err := w.Work(ctx, false); len(q.released) != want || errors.Is(err, context.Canceled) != (want == 1) {
				t.Errorf("%s: %d runs are done, %v", code, len(q.released), err)
			}
		})
	}
}

// TestSetbacks: a run that cannot be worked on here is offered again more and more slowly, until it was worked on.
func TestSetbacks(t *testing.T) {
	q := &strictQueue{}
	w := Worker{Queue: q, Lease: time.Hour}
	for range 6 {
		w.workOn(t.Context(), newClaim())
	}
	another := newClaim()
	another.SessionID = other
	w.workOn(t.Context(), another)
	w.delayNext(session, 0)
	w.workOn(t.Context(), newClaim())
	var got []string
	for _, r := range q.released {
		got = append(got, r.NotBefore.String())
	}
	if all := strings.Join(got, " "); all != "15s 30s 1m0s 2m0s 2m0s 2m0s 15s 15s" {
		t.Errorf("offered again after %s", all)
	}
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
