package pgstore_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// enough is the number of acknowledged changes between two troubles.
const enough = 40

// load is changes of many writers, two on each session, and what they were told.
type load struct {
	b    store.Backend
	ids  []string
	done atomic.Int64

	mu sync.Mutex
	// acknowledged are the changes by session and revision, repeated the revisions that were acknowledged twice.
	acknowledged map[string]map[int]acknowledged
	repeated     []int
	refused      int
}

type acknowledged struct {
	ref  workflow.ContentRef
	text string
}

func newLoad(t *testing.T, b store.Backend, sessions int) *load {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says which processes belong to the server")
	}
	l := &load{b: b, acknowledged: map[string]map[int]acknowledged{}}
	for range sessions {
		id := create(t, b).SessionID
		l.ids, l.acknowledged[id] = append(l.ids, id), map[int]acknowledged{}
	}
	return l
}

// under starts the writers, and ends them when during returns.
func (l *load) under(t *testing.T, name string, during func()) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	for w := range 2 * len(l.ids) {
		work.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				l.change(ctx, t, l.ids[w%len(l.ids)], fmt.Sprintf("%s %d %d", name, w, n))
			}
		})
	}
	l.goOn()
	during()
}

// change makes one change, of the text and of the history.
func (l *load) change(ctx context.Context, t *testing.T, id, text string) {
	got, err := l.b.Update(ctx, id, func(tx store.Tx, s *workflow.Session) error {
		s.Append(workflow.Transition{At: epoch, To: "po/generating", Feedback: text})
		return step(text)(tx, s)
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		if _, ok := l.acknowledged[id][got.Revision]; ok {
			l.repeated = append(l.repeated, got.Revision)
		} else {
			l.acknowledged[id][got.Revision] = acknowledged{*got.Record(workflow.PO).FinalResultRef, text}
		}
		l.done.Add(1)
	case ctx.Err() == nil:
		time.Sleep(20 * time.Millisecond)                                                 // leaves the server the processors
		if l.refused++; !fault.Is(err, fault.Storage) && !fault.Is(err, fault.Conflict) { // the wait for a lock is bounded
			t.Errorf("got %v", err)
		}
	}
}

// goOn waits for more changes to be acknowledged.
func (l *load) goOn() {
	for until := l.done.Load() + enough; l.done.Load() < until; {
		time.Sleep(time.Millisecond)
	}
}

// lost counts the acknowledged changes whose text or entry of the history is not there.
func (l *load) lost(t *testing.T) (lost int) {
	t.Helper()
	for _, id := range l.ids {
		s, err := l.b.Get(context.Background(), id)
		if fault.Is(err, fault.NotFound) { // with all of its changes
			lost += max(1, len(l.acknowledged[id]))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if v := s.Verify(nil, nil); v.Changed() {
			t.Errorf("the chain of %s: %+v", id, v)
		}
		entries := map[string]bool{}
		for _, entry := range s.History {
			entries[entry.Feedback] = true
		}
		for _, a := range l.acknowledged[id] {
			if body, err := l.b.Read(context.Background(), a.ref); err != nil || body != a.text || !entries[a.text] {
				lost++
			}
		}
	}
	t.Logf("%d acknowledged, %d refused, %d lost", l.done.Load(), l.refused, lost)
	return lost
}

// check has nothing lost, and no revision acknowledged twice.
func (l *load) check(t *testing.T) {
	t.Helper()
	if lost := l.lost(t); lost > 0 || l.repeated != nil {
		t.Errorf("%d acknowledged changes are lost, and the revisions %v were acknowledged twice", lost, l.repeated)
	}
}

// TestKilledServersLoseNothing kills all processes of a server under writers, several times. Every acknowledged change
// is there afterwards, each revision was acknowledged once, and every text is that of its change.
func TestKilledServersLoseNothing(t *testing.T) {
	server := pgtest.Start(t)
	address := server.Database(t)
	migrate(t, address)
	rounds, sessions := 1, 4
	if thorough {
		rounds, sessions = 10, 8
	}
	l := newLoad(t, open(t, address).Store(at), sessions)
	for round := range rounds {
		l.under(t, fmt.Sprint(round), func() {
			server.Kill(t)
			if err := server.Up(); err != nil {
				t.Fatal(err)
			}
			l.goOn()
		})
	}
	l.check(t)
}

// TestLossIsSeen is the control of the tests beside it: a database in which a change cannot ask to be written is killed,
// and what it has acknowledged is lost.
func TestLossIsSeen(t *testing.T) {
	scratch.NeedsTime(t, "the control of other tests kills servers until one has lost something")
	server := pgtest.Start(t, "wal_writer_delay=10s", "wal_writer_flush_after=1GB")
	address := server.Database(t)
	migrate(t, address)
	pgtest.Do(t, address, `create function set_config(name text, value text, local boolean) returns text language sql as
		$$ select case name when 'synchronous_commit' then value else pg_catalog.set_config(name, value, local) end $$`)
	l := newLoad(t, open(t, address+"&search_path=public,pg_catalog&synchronous_commit=off").Store(at), 8)
	for round := range 5 { // what is lost is the last page of the log: now and then nothing on it was acknowledged
		l.under(t, fmt.Sprint(round), func() {
			server.Kill(t)
			if err := server.Up(); err != nil {
				t.Fatal(err)
			}
		})
		if l.lost(t) > 0 {
			return
		}
	}
	t.Error("nothing is lost: a loss would not be seen either")
}

// TestFailover kills a primary under writers, and promotes its synchronous standby. The same process goes on there, and
// nothing that was acknowledged is lost.
func TestFailover(t *testing.T) {
	scratch.NeedsTime(t, "two servers under writers")
	primary := pgtest.Start(t)
	address := primary.Database(t)
	migrate(t, address)
	standby := primary.Standby(t)
	hosts := fmt.Sprintf("127.0.0.1:%d,127.0.0.1:%d/", primary.Port, standby.Port)
	both := strings.Replace(address, fmt.Sprintf("127.0.0.1:%d/", primary.Port), hosts, 1) + "&target_session_attrs=read-write"
	d := open(t, both)
	status, err := d.Status(context.Background())
	if err != nil || status.Standbys != nil || status.Settings["synchronous_standby_names"] != "standby" || !strings.Contains(d.String(), hosts) {
		t.Errorf("got %+v, %v", status, err)
	}
	status, err = open(t, primary.Address("postgres", "postgres")).Status(context.Background())
	if status.Standbys == nil || *status.Standbys != 1 {
		t.Errorf("an account that may see it gets %+v, %v, want a synchronous standby", status, err)
	}
	l := newLoad(t, d.Store(at), 8)
	l.under(t, "both", func() {
		primary.Kill(t)
		standby.Promote(t)
		l.goOn()
	})
	l.check(t)
}
