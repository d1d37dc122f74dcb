package pgstore_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// cutCall is a call of the queue over a connection that is cut, and the check of what it has left.
type cutCall struct {
	name string
	// prepare and check are called while nothing is cut.
	prepare func(t *testing.T)
	do      func() error
	check   func(t *testing.T)
}

// cutCalls returns the calls: each is done wholly, once, although its connection is cut at some byte.
func cutCalls(t *testing.T, straight, cut *pgstore.Database) []cutCall {
	t.Helper()
	ctx := context.Background()
	q, over := straight.Queue(), cut.Queue()
	b := cut.Store(at)
	var c *queue.Claim
	var id string
	var revision int
	var n int
	take := func(t *testing.T) {
		if c != nil && get(t, q, c.SessionID).State == queue.Working {
			must(t, over.Release(ctx, c.SessionID, c.LeaseNo, queue.Release{To: queue.Done}))
		}
		s := enqueue(t, straight, queue.Order{})
		id, revision = s.SessionID, s.Revision
		if c = claim(t, over, worker, whole); c.SessionID != id {
			t.Fatalf("claimed %+v", c)
		}
		n++
	}
	spent := func(t *testing.T) int64 {
		spent, err := q.SpentToday(ctx)
		must(t, err)
		return spent
	}
	var before int64
	var got *queue.Claim
	few := store.Place{Key: "few", Dir: at.Dir}
	for range 3 {
		create(t, straight.Store(few))
	}
	named, err := straight.Store(few).TaskNames(ctx)
	must(t, err)
	var names []string
	return []cutCall{
		{"names", func(*testing.T) { names = nil }, func() (err error) {
			names, err = cut.Store(few).TaskNames(ctx)
			return err
		}, func(t *testing.T) {
			if !slices.Equal(names, named) || len(named) != 3 {
				t.Errorf("the names are %q, want %q", names, named)
			}
		}},
		{"save", func(t *testing.T) { take(t); before = spent(t) }, func() error {
			return over.Save(ctx, id, c.LeaseNo, queue.Progress{Kept: []byte("kept"), Calls: 7, Spent: 11, Work: []byte("work")})
		}, func(t *testing.T) {
			if e := get(t, q, id); e.Calls != 7 || e.Spent != 11 || spent(t) != before+11 {
				t.Errorf("saved as %+v, with %d", e, spent(t)-before)
			}
		}},
		{"release", take, func() error {
			return over.Release(ctx, id, c.LeaseNo, queue.Release{To: queue.Failed, Why: "why"})
		}, func(t *testing.T) {
			if e := get(t, q, id); e.State != queue.Failed || e.Worker != "" || e.Why != "why" {
				t.Errorf("released as %+v", e)
			}
		}},
		{"update", func(t *testing.T) { take(t); cut.Hold(id, c.LeaseNo) }, func() error {
			defer cut.Drop(id)
			_, err := b.Update(ctx, id, step(fmt.Sprint("text ", n)))
			return err
		}, func(t *testing.T) {
			s, err := straight.Store(at).Get(ctx, id)
			must(t, err)
			if s.Revision != revision+1 || s.ReworkCount != 1 {
				t.Errorf("revision %d, with %d texts", s.Revision, s.ReworkCount)
			}
		}},
		{"create", func(*testing.T) {}, func() error {
			s := newSession()
			id = s.SessionID
			return b.Enqueuing(queue.Order{By: "anna"}).Create(ctx, s, storetest.Numbered("task"))
		}, func(t *testing.T) {
			if e := get(t, q, id); e.State != queue.Ready || e.By != "anna" {
				t.Errorf("created as %+v", e)
			}
			must(t, q.Cancel(ctx, id))
		}},
		{"add", func(t *testing.T) { id = create(t, straight.Store(at)).SessionID }, func() error {
			return over.Add(ctx, at.Key, id, queue.Order{})
		}, func(t *testing.T) { must(t, q.Cancel(ctx, id)) }},
		{"retry", func(t *testing.T) { take(t); must(t, q.Cancel(ctx, id)) }, func() error {
			return over.Retry(ctx, id, nil)
		}, func(t *testing.T) {
			if e := get(t, q, id); e.State != queue.Ready {
				t.Errorf("tried again as %+v", e)
			}
			must(t, q.Cancel(ctx, id))
		}},
		{"claim", func(t *testing.T) {
			id = enqueue(t, straight, queue.Order{}).SessionID
			enqueue(t, straight, queue.Order{})
		}, func() (err error) {
			got, err = over.Claim(ctx, worker, whole, queue.Limits{})
			return err
		}, func(t *testing.T) {
			all, err := q.List(ctx, []queue.State{queue.Working})
			must(t, err)
			if got == nil || len(all) != 1 || all[0].SessionID != id || got.SessionID != id || got.LeaseNo != 1 {
				t.Fatalf("claimed %+v, and at work is %+v", got, all)
			}
			all, err = q.List(ctx, []queue.State{queue.Working, queue.Ready})
			must(t, err)
			for _, e := range all {
				must(t, q.Cancel(ctx, e.SessionID))
			}
		}},
	}
}

// TestEveryCutOfTheQueue cuts the connection of each call after some bytes, or after every one, in both directions. The
// call is done, once, over another connection.
func TestEveryCutOfTheQueue(t *testing.T) {
	address := migrated(t)
	straight := open(t, address)
	p, cutAddress := through(t, address)
	cut := open(t, cutAddress)
	every := 307
	if thorough {
		every = 1
	}
	for _, call := range cutCalls(t, straight, cut) {
		t.Run(call.name, func(t *testing.T) {
			call.prepare(t)
			must(t, call.do()) // which prepares the statements
			call.check(t)
			for direction, left := range map[string]interface {
				Store(int64)
				Swap(int64) int64
			}{"to the server": &p.up, "from the server": &p.down} {
				cuts := 0
				for n := 0; ; n += every {
					call.prepare(t)
					left.Store(int64(n))
					err := call.do()
					wasCut := left.Swap(-1) < 0
					if err != nil {
						t.Fatalf("%s, byte %d: got %v, and another connection could be had", direction, n, err)
					}
					if call.check(t); t.Failed() {
						t.Fatalf("%s, byte %d", direction, n)
					}
					if !wasCut {
						break
					}
					cuts++
				}
				if cuts == 0 {
					t.Errorf("%s: the cuts show nothing", direction)
				}
			}
		})
	}
}

// TestSlowSave: while the work of a run is on its way to the server, its lease is renewed.
func TestSlowSave(t *testing.T) {
	ctx := context.Background()
	p, address := through(t, migrated(t))
	d := open(t, address)
	q := d.Queue()
	s := enqueue(t, d, queue.Order{})
	c := claim(t, q, worker, whole)
	must(t, q.Save(ctx, s.SessionID, c.LeaseNo, queue.Progress{})) // which prepares the statements
	slow := newStall(4 << 20)
	p.stallUp.Store(slow)
	var saving sync.WaitGroup
	saving.Go(func() {
		if err := q.Save(ctx, s.SessionID, c.LeaseNo, queue.Progress{Spent: 5, Work: make([]byte, 8<<20)}); err != nil {
			t.Error(err)
		}
	})
	<-slow.reached
	if _, err := q.Renew(ctx, s.SessionID, c.LeaseNo, whole); err != nil {
		t.Errorf("renewed meanwhile: %v", err)
	}
	close(slow.end)
	saving.Wait()
	if e := get(t, q, s.SessionID); e.Spent != 5 {
		t.Errorf("saved as %+v", e)
	}
}

// TestSlowClaim: while the work of a run is on its way to a slow worker, others claim runs under a limit of workers, and
// the lease goes on for the time that this takes.
func TestSlowClaim(t *testing.T) {
	ctx := context.Background()
	straight := migrated(t)
	p, address := through(t, straight)
	d, others := open(t, address), open(t, straight)
	const size = 16 << 20
	q := others.Queue()
	must(t, q.SetLimits(ctx, queue.Limits{MaxWorkers: 5}))
	s := enqueue(t, others, queue.Order{})
	c := claim(t, q, worker, whole)
	must(t, q.Save(ctx, s.SessionID, c.LeaseNo, queue.Progress{Work: make([]byte, size)}))
	must(t, q.Release(ctx, s.SessionID, c.LeaseNo, queue.Release{To: queue.Ready}))
	enqueue(t, others, queue.Order{})
	slow := newStall(4 << 20)
	p.stallDown.Store(slow)
	var claiming sync.WaitGroup
	claiming.Go(func() {
		begun := time.Now()
		c, err := d.Queue().Claim(ctx, worker, time.Second, queue.Limits{})
		if err != nil || c.SessionID != s.SessionID || len(c.Work) != size || c.Until.Before(begun.Add(time.Minute)) {
			t.Errorf("claimed %+v, %v", c, err)
		}
	})
	<-slow.reached
	if e := get(t, q, s.SessionID); e.State != queue.Working || e.LeaseLeft < time.Minute {
		t.Errorf("it is %s, for %s", e.State, e.LeaseLeft)
	}
	other := worker
	other.ID = "w2"
	claim(t, q, other, whole)
	close(slow.end)
	claiming.Wait()
}

// TestKilledServersLoseNoEntry kills a server under workers, and stops it at once. Each entry is done in the end, and no
// two workers are told that they have done it.
func TestKilledServersLoseNoEntry(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says which processes belong to the server")
	}
	ctx := context.Background()
	server := pgtest.Start(t)
	address := server.Database(t)
	migrate(t, address)
	const entries, workers = 60, 4
	d := open(t, address)
	for range entries {
		enqueue(t, d, queue.Order{})
	}
	var mu sync.Mutex
	done := map[string]int{}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(done)
	}
	var work sync.WaitGroup
	for n := range workers {
		own := open(t, address)
		w := worker
		w.ID = fmt.Sprint("w", n)
		work.Go(func() {
			for {
				if left, err := own.Queue().List(ctx, []queue.State{queue.Ready, queue.Working}); err == nil && len(left) == 0 {
					return
				}
				if id, ok := doNext(t, own, w); ok {
					mu.Lock()
					done[id]++
					mu.Unlock()
				}
			}
		})
	}
	for _, part := range []int{entries / 4, entries / 2} {
		for count() < part {
			time.Sleep(time.Millisecond)
		}
		if part == entries/4 {
			server.Kill(t)
		} else {
			server.StopAtOnce()
		}
		must(t, server.Up())
	}
	work.Wait()
	all, err := d.Queue().List(ctx, nil)
	must(t, err)
	for _, e := range all {
		s, err := d.Store(at).Get(ctx, e.SessionID)
		must(t, err)
		if e.State != queue.Done || done[e.SessionID] > 1 || e.Calls != 1 || s.ReworkCount == 0 {
			t.Errorf("done %d times, with %d texts: %+v", done[e.SessionID], s.ReworkCount, e)
		}
	}
	if len(all) != entries {
		t.Errorf("%d entries are left of %d", len(all), entries)
	}
	t.Logf("the workers were told of %d", len(done))
}

// doNext does the next entry, if there is one, and reports whether it was told that it is done.
func doNext(t *testing.T, d *pgstore.Database, w queue.Worker) (id string, ok bool) {
	ctx := context.Background()
	q := d.Queue()
	c, err := q.Claim(ctx, w, 2*time.Second, queue.Limits{})
	if c == nil || err != nil {
		time.Sleep(20 * time.Millisecond) // until a lease has ended, or the server is there
		return "", false
	}
	d.Hold(c.SessionID, c.LeaseNo)
	defer d.Drop(c.SessionID)
	_, err = d.Store(at).Update(ctx, c.SessionID, step("text"))
	if err == nil {
		err = q.Save(ctx, c.SessionID, c.LeaseNo, queue.Progress{Calls: 1})
	}
	if err == nil {
		err = q.Release(ctx, c.SessionID, c.LeaseNo, queue.Release{To: queue.Done})
	}
	if err != nil && !fault.Is(err, fault.Storage) && !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
	return c.SessionID, err == nil
}
