package pgstore_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// TestView: a page gets the runs that are not done, the one it asks for, and the workers; and the counts agree with
// them.
func TestView(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	d := open(t, address)
	q := d.Queue()
	gone, idle := worker, worker
	gone.ID, idle.ID = "w0", "w2"
	end := func(to queue.State) string {
		s := enqueue(t, d, queue.Order{})
		c := claim(t, q, worker, whole)
		must(t, q.Save(ctx, s.SessionID, c.LeaseNo, queue.Progress{Calls: 3, Repeated: 1, Spent: 2_000}))
		must(t, q.Release(ctx, s.SessionID, c.LeaseNo, queue.Release{To: to, Revision: s.Revision, Why: "because"}))
		return s.SessionID
	}
	want := map[queue.State]int{}
	ids := map[queue.State]string{}
	for _, to := range []queue.State{queue.Waiting, queue.Spent, queue.Failed, queue.Done, queue.Cancelled} {
		ids[to], want[to] = end(to), 1
	}
	lost := enqueue(t, d, queue.Order{})
	claim(t, q, gone, whole)
	claimNothing(t, q, idle, queue.Limits{})
	endLease(t, address, lost.SessionID)
	rewrite(t, address, `update queue_worker set seen_at = clock_timestamp() - interval '2 minutes' where worker_id = $1`, gone.ID)
	rewrite(t, address, `update queue_entry set queued_at = queued_at + interval '1 hour' where session_id = $1`, lost.SessionID)
	works := enqueue(t, d, queue.Order{})
	c := claim(t, q, worker, whole)
	must(t, q.Save(ctx, works.SessionID, c.LeaseNo, queue.Progress{Asking: 5, Calls: 4}))
	d.Hold(works.SessionID, c.LeaseNo)
	for id, want := range map[string]bool{ids[queue.Waiting]: false, ids[queue.Failed]: false, lost.SessionID: true, works.SessionID: false, "no id": false} {
		if got, err := d.Store(at).AtWorkers(ctx, id); err != nil || got != want {
			t.Errorf("workers have %s: %v, %v", id, got, err)
		}
	}
	d.Drop(works.SessionID)
	for key, want := range map[string]bool{at.Key: true, "another": false} {
		if got, err := d.Store(store.Place{Key: key}).AtWorkers(ctx, works.SessionID); err != nil || got != want {
			t.Errorf("workers have it in %s: %v, %v", key, got, err)
		}
	}
	ready := enqueue(t, d, queue.Order{Labels: []string{"gpu"}})
	rewrite(t, address, `update queue_entry set changed_at = clock_timestamp() - interval '1 hour' where session_id = $1`, ready.SessionID)
	want[queue.Working], want[queue.Ready] = 1, 1

	v, err := q.View(ctx, ids[queue.Done])
	must(t, err)
	if len(v.Entries) != 8 || v.More || v.Entries[0].SessionID != ids[queue.Done] || v.Entries[3].SessionID != ready.SessionID {
		t.Fatalf("%+v, more %v", v.Entries, v.More)
	}
	if len(v.Workers) != 3 || v.Workers[2].ID != gone.ID || !v.Workers[2].IsGone() || v.Workers[0].IsGone() {
		t.Errorf("%+v", v.Workers)
	}
	for _, e := range v.Entries[1:3] {
		if e.State != queue.Working || e.Lost != (e.SessionID == lost.SessionID) {
			t.Errorf("%+v", e)
		}
	}
	if v, err := q.View(ctx, ""); err != nil || len(v.Entries) != 7 {
		t.Errorf("%d entries without the one that is done, %v", len(v.Entries), err)
	}
	got, err := q.Counts(ctx)
	must(t, err)
	if !maps.Equal(got.Runs, want) || got.Lost != 1 || got.AtWork != 1 || got.Idle != 1 || got.Gone != 1 {
		t.Errorf("%+v, want %v", got, want)
	}
	if got.Calls != 19 || got.Repeated != 5 || got.WorkersLost != 0 || got.SpentToday != 10_000 || got.OldestReady < time.Hour {
		t.Errorf("%+v", got)
	}
	claim(t, q, worker, whole) // the lost run: the one that is ready has a label
	if got, err := q.Counts(ctx); err != nil || got.WorkersLost != 1 || got.Lost != 0 || got.Runs[queue.Working] != 2 {
		t.Errorf("after another worker took the run over: %+v, %v", got, err)
	}
	rewrite(t, address, `update queue_entry
		set calls = 2147483647, spent = 9223372036854775807, changed_at = 'infinity', not_before = '-infinity' where session_id = $1`, ready.SessionID)
	if got, err := q.Counts(ctx); err != nil || got.OldestReady != 0 || got.Calls < 2147483647 {
		t.Errorf("with values of somebody else: %+v, %v", got, err)
	}
	if _, err := q.View(ctx, "no id"); err != nil {
		t.Error(err)
	}
	if got, err := open(t, migrated(t)).Queue().Counts(ctx); err != nil || got.OldestReady != 0 || got.Runs[queue.Ready] != 0 {
		t.Errorf("of an empty queue: %+v, %v", got, err)
	}
}
