package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestDecisionsAreNotMissed: whether a decision comes before a release or after it, the entry is Ready afterwards. Without
// one it waits.
func TestDecisionsAreNotMissed(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	d, person := open(t, address), open(t, address).Store(at)
	q := d.Queue()
	s := enqueue(t, d, queue.Order{})
	for n := range 200 {
		c := claim(t, q, worker, whole)
		now, err := person.Get(ctx, s.SessionID)
		must(t, err)
		isDecided := n%10 > 0
		var work sync.WaitGroup
		if isDecided {
			work.Go(func() {
				if _, err := person.Update(ctx, s.SessionID, step(fmt.Sprint(n))); err != nil {
					t.Error(err)
				}
			})
		}
		if err := q.Release(ctx, s.SessionID, c.LeaseNo, queue.Release{To: queue.Waiting, Why: "asks", Revision: now.Revision}); err != nil {
			t.Fatal(err)
		}
		work.Wait()
		e := get(t, q, s.SessionID)
		if want := map[bool]queue.State{true: queue.Ready, false: queue.Waiting}[isDecided]; e.State != want {
			t.Fatalf("round %d: the entry is %s, want %s", n, e.State, want)
		}
		if !isDecided {
			claimNothing(t, q, worker, queue.Limits{})
			if _, err := person.Update(ctx, s.SessionID, step("later")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestNothingIsStoredAfterATakeover has an entry taken over while the worker before it stores a change: whatever the next
// one finds is what stays.
func TestNothingIsStoredAfterATakeover(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	late, next := open(t, address), open(t, address)
	s := enqueue(t, late, queue.Order{})
	text := strings.Repeat("a line of a document\n", 5000)
	stored := 0
	for range 100 {
		c := claim(t, late.Queue(), worker, whole)
		late.Hold(s.SessionID, c.LeaseNo)
		var work sync.WaitGroup
		work.Go(func() {
			_, err := late.Store(at).Update(ctx, s.SessionID, step(text))
			if err == nil {
				stored++
			} else if !errors.Is(err, queue.ErrLeaseLost) {
				t.Error(err)
			}
		})
		endLease(t, address, s.SessionID)
		var taken *queue.Claim
		for taken == nil {
			var err error
			taken, err = next.Queue().Claim(ctx, worker, whole, queue.Limits{})
			must(t, err)
		}
		found, err := next.Store(at).Get(ctx, s.SessionID)
		must(t, err)
		work.Wait()
		if left, err := next.Store(at).Get(ctx, s.SessionID); err != nil || left.Revision != found.Revision {
			t.Fatalf("revision %d came after the takeover at %d, %v", left.Revision, found.Revision, err)
		}
		must(t, next.Queue().Release(ctx, s.SessionID, taken.LeaseNo, queue.Release{To: queue.Ready}))
	}
	t.Logf("%d changes were in time", stored)
}

// TestEntriesFollowSessions: a change of a session wakes an entry that waits, a decision of a person also one that is spent,
// and the end of a run by a person that of the entry, whatever state it is in but Done. Other entries stay.
func TestEntriesFollowSessions(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	d := open(t, address)
	q := d.Queue()
	person := open(t, address).Store(at)
	other := enqueue(t, d, queue.Order{Labels: []string{"none has it"}})
	for _, state := range queue.States() {
		for _, change := range []struct {
			name  string
			by    workflow.Channel
			wakes bool
		}{{"submitted", "", false}, {"yes of a flag", workflow.ChannelScript, false}, {"decided", workflow.ChannelRelayed, true}, {"cancelled", workflow.ChannelTerminal, true}} {
			s := enqueue(t, d, queue.Order{})
			want := state
			switch {
			case change.name == "cancelled" && state != queue.Done:
				want = queue.Cancelled
			case state == queue.Waiting, state == queue.Spent && change.wakes:
				want = queue.Ready
			}
			rewrite(t, address, `update queue_entry set state = $2, lease_until = clock_timestamp() + interval '1 hour' where session_id = $1`, s.SessionID, string(state))
			_, err := person.Update(ctx, s.SessionID, func(tx store.Tx, s *workflow.Session) error {
				if change.name == "cancelled" {
					s.CurrentState = workflow.Cancelled
				}
				if change.by != "" {
					s.Append(workflow.Transition{Grant: &workflow.Grant{Channel: change.by}})
				}
				return step("text")(tx, s)
			})
			must(t, err)
			if e := get(t, q, s.SessionID); e.State != want {
				t.Errorf("%s, %s: it is %s, want %s", state, change.name, e.State, want)
			}
		}
	}
	if e := get(t, q, other.SessionID); e.State != queue.Ready {
		t.Errorf("another is %s", e.State)
	}
	s := enqueue(t, d, queue.Order{})
	rewrite(t, address, `update queue_entry set state = 'waiting' where session_id = $1`, s.SessionID)
	p, err := person.Take(ctx, s.SessionID)
	must(t, err)
	must(t, person.Bring(ctx, p, workflow.Hash(p.Session)))
	if e := get(t, q, s.SessionID); e.State != queue.Ready {
		t.Errorf("a session that was brought leaves it %s", e.State)
	}
	rewrite(t, address, `update queue_entry set state = 'working', lease_no = 1 where session_id = $1`, s.SessionID)
	rewrite(t, address, `delete from session where session_id = $1`, s.SessionID)
	_, err = q.Renew(ctx, s.SessionID, 1, whole)
	isLost(t, "renewed without its session", err)
	if _, err := q.Get(ctx, s.SessionID); !fault.Is(err, fault.NotFound) {
		t.Errorf("a session that is removed leaves its entry: %v", err)
	}
}

// claimAtOnce has several workers claim together, and returns what they got.
func claimAtOnce(t *testing.T, address string, workers int, l queue.Limits) (out []*queue.Claim) {
	t.Helper()
	var mu sync.Mutex
	var work sync.WaitGroup
	for n := range workers {
		q := open(t, address).Queue()
		w := worker
		w.ID = fmt.Sprint("w", n)
		work.Go(func() {
			c, err := q.Claim(context.Background(), w, whole, l)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			} else if c != nil {
				out = append(out, c)
			}
		})
	}
	work.Wait()
	return out
}

// TestLimits: the stricter limit counts, exactly, however many workers claim at once.
func TestLimits(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	d := open(t, address)
	q := d.Queue()
	for range 20 {
		enqueue(t, d, queue.Order{})
	}
	for _, tt := range []struct{ team, own, want int }{{3, 0, 3}, {0, 2, 2}, {3, 1, 1}, {1, 5, 1}, {0, 0, 8}} {
		must(t, q.SetLimits(ctx, queue.Limits{MaxWorkers: tt.team}))
		if l, err := q.Limits(ctx); err != nil || l.MaxWorkers != tt.team {
			t.Errorf("the limits are %+v, %v", l, err)
		}
		got := claimAtOnce(t, address, 8, queue.Limits{MaxWorkers: tt.own})
		if len(got) != tt.want {
			t.Errorf("with %d of the team and %d of the worker %d got something, want %d", tt.team, tt.own, len(got), tt.want)
		}
		for _, c := range got {
			must(t, q.Cancel(ctx, c.SessionID))
			must(t, q.Retry(ctx, c.SessionID, nil))
		}
	}
	must(t, q.SetLimits(ctx, queue.Limits{MaxCostPerDay: 100}))
	c := claim(t, q, worker, whole)
	for n, tt := range []struct {
		spent, own int64
		fits       bool
	}{{50, 0, true}, {50, 50, false}, {50, 51, true}, {99, 0, true}, {80, 500, true}, {100, 0, false}, {100, 500, false}} {
		must(t, q.Save(ctx, c.SessionID, c.LeaseNo, queue.Progress{Spent: tt.spent}))
		got, err := q.Claim(ctx, worker, whole, queue.Limits{MaxCostPerDay: tt.own})
		if err != nil || (got != nil) != tt.fits {
			t.Errorf("%d: with %d spent: %v, %v", n, tt.spent, got, err)
		}
		if got != nil {
			must(t, q.Release(ctx, got.SessionID, got.LeaseNo, queue.Release{To: queue.Ready}))
		}
	}
	rewrite(t, address, `update queue_day set day = day - 1`)
	claim(t, q, worker, whole)
}

// TestWaits: a released entry waits as long as it is to, and the oldest comes first.
func TestWaits(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	d := open(t, address)
	q := d.Queue()
	first, second := enqueue(t, d, queue.Order{}), enqueue(t, d, queue.Order{})
	c := claim(t, q, worker, whole)
	if c.SessionID != first.SessionID {
		t.Error("the oldest is not the first")
	}
	must(t, q.Release(ctx, c.SessionID, c.LeaseNo, queue.Release{To: queue.Ready, NotBefore: whole}))
	if c := claim(t, q, worker, whole); c.SessionID != second.SessionID {
		t.Error("it does not wait")
	}
	claimNothing(t, q, worker, queue.Limits{})
	elsewhere := worker
	elsewhere.Projects = []string{"host/owner/other"}
	rewrite(t, address, `update queue_entry set not_before = clock_timestamp() where session_id = $1`, first.SessionID)
	claimNothing(t, q, elsewhere, queue.Limits{})
	claimNothing(t, q, queue.Worker{ID: "w"}, queue.Limits{}) // of no project
	if c := claim(t, q, worker, whole); c.SessionID != first.SessionID {
		t.Errorf("claimed %+v", c)
	}
}

// TestQueuesAreApart: another tenant sees nothing of a queue, and changes nothing in it.
func TestQueuesAreApart(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	d, other := open(t, address), open(t, address+"&bmad.tenant=7").Queue()
	q := d.Queue()
	s := enqueue(t, d, queue.Order{})
	c := claim(t, q, worker, whole)
	must(t, q.Save(ctx, s.SessionID, c.LeaseNo, queue.Progress{Spent: 9}))
	must(t, q.SetLimits(ctx, queue.Limits{MaxWorkers: 5}))
	all, err := other.List(ctx, nil)
	workers, workersErr := other.Workers(ctx)
	limits, limitsErr := other.Limits(ctx)
	spent, spentErr := other.SpentToday(ctx)
	for _, err := range []error{err, workersErr, limitsErr, spentErr, other.RemoveWorker(ctx, worker.ID), other.SetLimits(ctx, queue.Limits{MaxWorkers: 1})} {
		must(t, err)
	}
	if len(all) > 0 || len(workers) > 0 || limits != (queue.Limits{}) || spent != 0 {
		t.Errorf("another tenant sees %v, %v, %v, %d", all, workers, limits, spent)
	}
	claimNothing(t, other, worker, queue.Limits{})
	_, getErr := other.Get(ctx, s.SessionID)
	_, renewErr := other.Renew(ctx, s.SessionID, c.LeaseNo, whole)
	for what, err := range map[string]error{
		"get": getErr, "cancel": other.Cancel(ctx, s.SessionID), "add": other.Add(ctx, at.Key, s.SessionID, queue.Order{}),
	} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	isLost(t, "renew", renewErr)
	isLost(t, "save", other.Save(ctx, s.SessionID, c.LeaseNo, queue.Progress{}))
	isLost(t, "release", other.Release(ctx, s.SessionID, c.LeaseNo, queue.Release{To: queue.Done}))
	limits, err = q.Limits(ctx)
	if workers, workersErr := q.Workers(ctx); err != nil || workersErr != nil || len(workers) != 1 || limits.MaxWorkers != 5 {
		t.Errorf("there are %v, %v, %v", workers, limits, err)
	}
}
