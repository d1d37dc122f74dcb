package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// worker is the worker of these tests, and whole a lease that does not end within one.
var worker = queue.Worker{ID: "w1", Host: "h", Projects: []string{at.Key}, Version: "1"}

const whole = time.Hour

// enqueue makes a session with an entry.
func enqueue(t testing.TB, d *pgstore.Database, o queue.Order) *workflow.Session {
	t.Helper()
	return create(t, d.Store(at).Enqueuing(o))
}

// claim claims an entry, which has to be there.
func claim(t testing.TB, q *pgstore.Queue, w queue.Worker, lease time.Duration) *queue.Claim {
	t.Helper()
	c, err := q.Claim(context.Background(), w, lease, queue.Limits{})
	if err != nil || c == nil {
		t.Fatalf("claimed %v, %v", c, err)
	}
	return c
}

// claimNothing claims an entry, of which there is none.
func claimNothing(t testing.TB, q *pgstore.Queue, w queue.Worker, l queue.Limits) {
	t.Helper()
	if c, err := q.Claim(context.Background(), w, whole, l); err != nil || c != nil {
		t.Errorf("claimed %+v, %v", c, err)
	}
}

// get returns the entry of a session.
func get(t testing.TB, q *pgstore.Queue, ref string) queue.Entry {
	t.Helper()
	e, err := q.Get(context.Background(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// endLease has the lease of an entry end.
func endLease(t testing.TB, address, id string) {
	t.Helper()
	rewrite(t, address, `update queue_entry set lease_until = clock_timestamp() - interval '1 second' where session_id = $1`, id)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// isLost checks that a write under a lease that does not count was refused.
func isLost(t testing.TB, what string, err error) {
	t.Helper()
	if !errors.Is(err, queue.ErrLeaseLost) || !fault.Is(err, fault.Conflict) {
		t.Errorf("%s: %v", what, err)
	}
}

// TestOneWorker walks one entry from its order to its end.
func TestOneWorker(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	d := open(t, address)
	q := d.Queue()
	claimNothing(t, q, worker, queue.Limits{})
	o := queue.Order{Labels: []string{"gpu"}, Run: []byte(`{"budget":"5"}`), By: "anna", Commit: "abc", Remote: "git@host:o/n"}
	s := enqueue(t, d, o)
	e := get(t, q, s.TaskName)
	if e.State != queue.Ready || e.SessionID != s.SessionID || e.Project != at.Key || e.By != "anna" || e.Commit != "abc" || e.Remote != o.Remote ||
		!slices.Equal(e.Labels, o.Labels) || e.Stage != "po" || e.SessionState != "generating" || e.LeaseNo != 0 || e.Lost || e.Note != "" || e.QueuedAt.Year() < 2000 {
		t.Errorf("queued as %+v", e)
	}
	claimNothing(t, q, worker, queue.Limits{}) // it has no such label
	able := worker
	able.Labels = []string{"gpu", "big"}
	begun := time.Now()
	c := claim(t, q, able, whole)
	if c.SessionID != s.SessionID || c.LeaseNo != 1 || c.Kept != nil || c.Work != nil || string(c.Run) != string(o.Run) ||
		c.Until.Before(begun.Add(whole)) || c.State != queue.Working || c.LeaseLeft <= 0 || c.Worker != "w1" {
		t.Errorf("claimed %+v", c)
	}
	claimNothing(t, q, able, queue.Limits{})
	if until, err := q.Renew(ctx, s.SessionID, 1, whole); err != nil || until.Before(c.Until) {
		t.Errorf("renewed until %s, %v, after %s", until, err, c.Until)
	}
	must(t, q.Save(ctx, s.SessionID, 1, queue.Progress{Kept: []byte("kept"), Asking: 3, Calls: 2, Repeated: 1, Spent: 70, Head: "def", Work: []byte("bundle")}))
	must(t, q.Save(ctx, s.SessionID, 1, queue.Progress{Kept: []byte("kept on"), Calls: 3, Repeated: 1, Spent: 100}))
	if e := get(t, q, s.SessionID); e.Calls != 3 || e.Asking != 0 || e.Spent != 100 || e.Repeated != 1 {
		t.Errorf("saved as %+v", e)
	}
	if spent, err := q.SpentToday(ctx); err != nil || spent != 100 {
		t.Errorf("spent %d today, %v", spent, err)
	}
	workers, err := q.Workers(ctx)
	if err != nil || len(workers) != 1 || workers[0].SessionID != s.SessionID || workers[0].TaskName != s.TaskName || !slices.Equal(workers[0].Labels, able.Labels) {
		t.Errorf("the workers are %+v, %v", workers, err)
	}
	must(t, q.Release(ctx, s.SessionID, 1, queue.Release{To: queue.Spent, Why: "the budget\nis up", Revision: s.Revision}))
	if e := get(t, q, s.SessionID); e.State != queue.Spent || e.Worker != "" || !strings.Contains(e.Why, "the budget") || strings.Contains(e.Why, "\n") {
		t.Errorf("released as %+v", e)
	}
	if c, err := q.GetWhole(ctx, s.SessionID); err != nil || c.State != queue.Spent || string(c.Kept) != "kept on" || c.Head != "def" || string(c.Work) != "bundle" || c.LeaseNo != 1 {
		t.Errorf("left as %+v, %v", c, err)
	}
	must(t, q.Release(ctx, s.SessionID, 1, queue.Release{To: queue.Spent})) // as after a lost answer
	claimNothing(t, q, able, queue.Limits{})
	must(t, q.Retry(ctx, s.SessionID, []byte(`{"budget":"9"}`)))
	c = claim(t, q, able, whole)
	if string(c.Run) != `{"budget":"9"}` || string(c.Kept) != "kept on" || c.Head != "def" || string(c.Work) != "bundle" || c.LeaseNo != 2 {
		t.Errorf("claimed %+v", c)
	}
	must(t, q.Release(ctx, s.SessionID, 2, queue.Release{To: queue.Done}))
	for what, err := range map[string]error{"cancelled": q.Cancel(ctx, s.SessionID), "tried again": q.Retry(ctx, s.SessionID, nil)} {
		if !fault.Is(err, fault.NotAllowed) {
			t.Errorf("one that is done is %s: %v", what, err)
		}
	}
	must(t, q.Add(ctx, at.Key, s.SessionID, queue.Order{}))
	if err := q.Add(ctx, at.Key, s.SessionID, queue.Order{}); !fault.Is(err, fault.NotAllowed) {
		t.Errorf("queued twice: %v", err)
	}
	if c = claim(t, q, worker, whole); string(c.Kept) != "kept on" || c.Calls != 3 || c.Repeated != 1 || string(c.Work) != "bundle" || c.LeaseNo != 3 {
		t.Errorf("queued anew as %+v", c)
	}
	must(t, q.Save(ctx, s.SessionID, 3, queue.Progress{Calls: 4, Repeated: 1, Spent: 120}))
	if spent, err := q.SpentToday(ctx); err != nil || spent != 120 {
		t.Errorf("costs of the order before count again: %d today, %v", spent, err)
	}
	must(t, q.Cancel(ctx, s.SessionID))
	must(t, q.Cancel(ctx, s.SessionID))
	_, err = q.Renew(ctx, s.SessionID, 3, whole)
	if isLost(t, "a renewal", err); !errors.Is(err, queue.ErrCancelled) {
		t.Errorf("it is not said to be cancelled: %v", err)
	}
	for _, ref := range []string{"none", "", "\x00", "7d444840-9dc0-11d1-b245-5ffdce74fad2"} {
		if _, err := q.Get(ctx, ref); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", ref, err)
		}
		for what, err := range map[string]error{
			"cancel": q.Cancel(ctx, ref), "retry": q.Retry(ctx, ref, nil), "add": q.Add(ctx, at.Key, ref, o),
		} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s %q: %v", what, ref, err)
			}
		}
	}
	must(t, q.RemoveWorker(ctx, "w1"))
	if workers, err := q.Workers(ctx); err != nil || len(workers) != 0 {
		t.Errorf("the workers are %+v, %v", workers, err)
	}
	for _, seen := range []struct{ id, ago string }{{"killed", "25 hours"}, {"w1", "23 hours"}, {"w2", "0"}} {
		w := worker
		w.ID = seen.id
		claimNothing(t, q, w, queue.Limits{})
		rewrite(t, address, `update queue_worker set seen_at = clock_timestamp() - $2::text::interval where worker_id = $1`, seen.id, seen.ago)
	}
	if workers, err := q.Workers(ctx); err != nil || len(workers) != 2 || workers[0].ID != "w2" || workers[0].SessionID != "" {
		t.Errorf("the workers are %+v, %v", workers, err)
	}
}

// TestManyWorkers: of many entries none is lost, and none is given to two of the workers.
func TestManyWorkers(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	d := open(t, address)
	const entries, workers = 100, 8
	for range entries {
		enqueue(t, d, queue.Order{})
	}
	var mu sync.Mutex
	done := map[string]int{}
	var work sync.WaitGroup
	for n := range workers {
		q := open(t, address).Queue()
		w := worker
		w.ID = fmt.Sprint("w", n)
		work.Go(func() {
			for {
				c, err := q.Claim(ctx, w, whole, queue.Limits{})
				if err != nil || c == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				for _, err := range []error{
					q.Save(ctx, c.SessionID, c.LeaseNo, queue.Progress{Calls: 1, Spent: 10}),
					q.Release(ctx, c.SessionID, c.LeaseNo, queue.Release{To: queue.Done, Revision: 1}),
				} {
					if err != nil {
						t.Error(err)
					}
				}
				mu.Lock()
				done[c.SessionID]++
				mu.Unlock()
			}
		})
	}
	work.Wait()
	all, err := d.Queue().List(ctx, []queue.State{queue.Done})
	if err != nil || len(all) != entries || len(done) != entries {
		t.Errorf("%d are done of %d, by the workers %d, %v", len(all), entries, len(done), err)
	}
	for _, e := range all {
		if done[e.SessionID] != 1 || e.LeaseNo != 1 {
			t.Errorf("%s was done %d times, with %d leases", e.SessionID, done[e.SessionID], e.LeaseNo)
		}
	}
	if !slices.IsSortedFunc(all, func(a, b queue.Entry) int { return a.QueuedAt.Compare(b.QueuedAt) }) {
		t.Error("the list is not in order")
	}
	if spent, err := d.Queue().SpentToday(ctx); err != nil || spent != 10*entries {
		t.Errorf("spent %d, %v", spent, err)
	}
}

// TestLateWorkersAreRefused: once another worker has an entry, the one before can write nothing of it, also not into the
// session; and the other can. It is told so before its change is made. That holds too if a fail-over has lost its claim, so
// that the lease of the other has the same number.
func TestLateWorkersAreRefused(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	late, next := open(t, address), open(t, address)
	for _, how := range []string{"taken over", "claimed on a standby", "cancelled"} {
		s := enqueue(t, late, queue.Order{})
		c := claim(t, late.Queue(), worker, whole)
		late.Hold(strings.ToUpper(s.SessionID), c.LeaseNo)
		if _, err := late.Store(at).Update(ctx, s.SessionID, step("in time")); err != nil {
			t.Fatal(err)
		}
		must(t, late.Queue().Save(ctx, s.SessionID, c.LeaseNo, queue.Progress{Kept: []byte("in time"), Spent: 5}))
		var last int64
		switch how {
		case "cancelled":
			must(t, next.Queue().Cancel(ctx, s.SessionID))
		case "claimed on a standby":
			rewrite(t, address, `update queue_entry set state = 'ready', lease_no = 0, worker = '', call = 'that of the order' where session_id = $1`, s.SessionID)
			if last = claim(t, next.Queue(), worker, whole).LeaseNo; last != c.LeaseNo {
				t.Fatalf("lease %d follows %d", last, c.LeaseNo)
			}
		default:
			endLease(t, address, s.SessionID)
			if e := get(t, next.Queue(), s.SessionID); !e.Lost || e.LeaseLeft != 0 || e.State != queue.Working {
				t.Errorf("a lost one is %+v", e)
			}
			w := worker
			w.ID = "w2"
			c := claim(t, next.Queue(), w, whole)
			if c.SessionID != s.SessionID || c.WorkersLost != 1 || c.LeaseNo != 2 || string(c.Kept) != "in time" {
				t.Errorf("taken over as %+v", c)
			}
			last = c.LeaseNo
		}
		if last > 0 {
			next.Hold(s.SessionID, last)
		}
		before, err := next.Store(at).Stored(ctx, s.SessionID)
		must(t, err)
		spent, err := next.Queue().SpentToday(ctx)
		must(t, err)
		_, err = late.Queue().Renew(ctx, s.SessionID, c.LeaseNo, whole)
		isLost(t, "renew", err)
		isLost(t, "save", late.Queue().Save(ctx, s.SessionID, c.LeaseNo, queue.Progress{Kept: []byte("late"), Spent: 500}))
		isLost(t, "release", late.Queue().Release(ctx, s.SessionID, c.LeaseNo, queue.Release{To: queue.Done}))
		runs := 0
		_, err = late.Store(at).Update(ctx, s.SessionID, func(tx store.Tx, s *workflow.Session) error { runs++; return step("late")(tx, s) })
		if isLost(t, "update", err); runs > 0 {
			t.Error("the change has run")
		}
		p, err := late.Store(at).Take(ctx, s.SessionID)
		must(t, err)
		isLost(t, "bring", late.Store(at).Bring(ctx, p, workflow.Hash(p.Session)))
		after, err := next.Store(at).Stored(ctx, s.SessionID)
		if err != nil || string(after) != string(before) {
			t.Errorf("a late worker has changed the session, %v", err)
		}
		if now, err := next.Queue().SpentToday(ctx); err != nil || now != spent {
			t.Errorf("a late worker has spent %d, %v", now-spent, err)
		}
		if _, err := next.Store(at).Update(ctx, s.SessionID, step("next")); err != nil {
			t.Error(err)
		}
		if last > 0 {
			must(t, next.Queue().Release(ctx, s.SessionID, last, queue.Release{To: queue.Done}))
		}
		late.Drop(s.SessionID)
		if _, err := late.Store(at).Update(ctx, s.SessionID, step("as anybody")); err != nil {
			t.Error(err)
		}
	}
}

// TestLostInTheMiddle has a lease lost between the begin of a change and its end: nothing of it is stored, also if the
// connection breaks then, and the commit is sent again.
func TestLostInTheMiddle(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	p, proxied := through(t, address)
	d, other := open(t, proxied), open(t, address)
	for _, isCut := range []bool{false, true} {
		s := enqueue(t, d, queue.Order{})
		c := claim(t, d.Queue(), worker, whole)
		d.Hold(s.SessionID, c.LeaseNo)
		_, err := d.Store(at).Update(ctx, s.SessionID, func(tx store.Tx, s *workflow.Session) error {
			endLease(t, address, s.SessionID)
			claim(t, other.Queue(), worker, whole)
			err := step("late")(tx, s)
			if isCut {
				p.up.Store(0)
			}
			return err
		})
		isLost(t, "the change", err)
		if got, err := other.Store(at).Get(ctx, s.SessionID); err != nil || got.Revision != s.Revision {
			t.Errorf("cut %v: revision %d, %v", isCut, got.Revision, err)
		}
		if left := p.up.Load(); left >= 0 {
			t.Error("nothing was cut")
		}
	}
}

// TestRenewal: a lease that has ended, and that nobody has taken over, can begin again.
func TestRenewal(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	q := open(t, address).Queue()
	s := enqueue(t, open(t, address), queue.Order{})
	c := claim(t, q, worker, whole)
	endLease(t, address, s.SessionID)
	must(t, q.Save(ctx, s.SessionID, c.LeaseNo, queue.Progress{Calls: 1}))
	if _, err := q.Renew(ctx, s.SessionID, c.LeaseNo, whole); err != nil {
		t.Error(err)
	}
	claimNothing(t, q, worker, queue.Limits{})
	endLease(t, address, s.SessionID)
	must(t, q.SetLimits(ctx, queue.Limits{MaxWorkers: 1}))
	if _, err := q.Renew(ctx, s.SessionID, c.LeaseNo, whole); err != nil {
		t.Errorf("within the limit: %v", err)
	}
	rewrite(t, address, `update queue_entry
		set lease_until = clock_timestamp() - interval '1 second', queued_at = clock_timestamp() + interval '1 hour' where session_id = $1`, s.SessionID)
	enqueue(t, open(t, address), queue.Order{})
	claim(t, q, worker, whole)
	_, err := q.Renew(ctx, s.SessionID, c.LeaseNo, whole)
	isLost(t, "beyond the limit", err)
}

// TestSchemaBefore: a program of the next schema does everything but the queue in a database of the one before, and has
// the queue once the owner has migrated, without being started again.
func TestSchemaBefore(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	pgtest.Do(t, address, `drop table queue_entry, queue_worker, queue_limit, queue_day`, `delete from goose_db_version where version_id > 1`)
	d := open(t, address)
	b, q := d.Store(at), d.Queue()
	s := create(t, b)
	if _, err := b.Update(ctx, s.SessionID, step("text")); err != nil {
		t.Fatal(err)
	}
	p, err := b.Take(ctx, s.SessionID)
	must(t, err)
	must(t, b.Bring(ctx, p, workflow.Hash(p.Session)))
	_, claimErr := q.Claim(ctx, worker, whole, queue.Limits{})
	_, listErr := q.List(ctx, nil)
	_, workersErr := q.Workers(ctx)
	_, limitsErr := q.Limits(ctx)
	_, viewErr := q.View(ctx, "")
	_, countsErr := q.Counts(ctx)
	for call, err := range map[string]error{
		"claim": claimErr, "list": listErr, "workers": workersErr, "limits": limitsErr, "view": viewErr, "counts": countsErr, "set limits": q.SetLimits(ctx, queue.Limits{}),
		"add": q.Add(ctx, at.Key, s.SessionID, queue.Order{}), "cancel": q.Cancel(ctx, s.SessionID),
		"create": b.Enqueuing(queue.Order{}).Create(ctx, newSession(), storetest.Numbered("task")),
	} {
		if !fault.Is(err, fault.Storage) || !strings.Contains(fault.From(err).Hint, "bmad-mcp store migrate") {
			t.Errorf("%s: %v", call, err)
		}
	}
	migrate(t, address)
	other := open(t, address).Queue()
	must(t, other.Add(ctx, at.Key, s.SessionID, queue.Order{}))
	c := claim(t, other, worker, whole)
	must(t, other.Release(ctx, s.SessionID, c.LeaseNo, queue.Release{To: queue.Waiting, Revision: s.Revision + 1}))
	if e := get(t, other, s.SessionID); e.State != queue.Waiting {
		t.Fatalf("it is %s", e.State)
	}
	if _, err := b.Update(ctx, s.SessionID, step("decided")); err != nil {
		t.Fatal(err)
	}
	if e := get(t, q, s.SessionID); e.State != queue.Ready {
		t.Errorf("a program that was there before the queue has left it %s", e.State)
	}
}
