package pgstore_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// BenchmarkLoad compares a database that waits for its disk with files; .ci/load makes a table of it.
func BenchmarkLoad(b *testing.B) {
	ctx := context.Background()
	server := pgtest.Start(b)
	address := server.Database(b)
	migrate(b, address)
	dir, err := durable.OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	text := strings.Repeat("a line of a document\n", 1000)
	const each = 40 // changes of one session before the next: more than a run has
	database := open(b, address+"&pool_max_conns=40")
	backends := map[string]store.Backend{"files": storetest.Files(dir), "database": database.Store(at)}
	var own [64]map[string]string
	for i := range own {
		own[i] = map[string]string{}
		for name, backend := range backends {
			own[i][name] = create(b, backend).SessionID
		}
	}
	for _, row := range []struct {
		name    string
		clients int
		do      func(backend store.Backend, ids [64]string, client, n int) error
	}{
		{"create", 1, func(backend store.Backend, _ [64]string, _, _ int) error {
			return backend.Create(ctx, newSession(), storetest.Numbered("task"))
		}},
		{"update", 1, func(backend store.Backend, ids [64]string, _, n int) error {
			_, err := backend.Update(ctx, ids[n/each%64], step(text))
			return err
		}},
		{"64 clients, own sessions", 64, func(backend store.Backend, ids [64]string, client, _ int) error {
			_, err := backend.Update(ctx, ids[client], step(text))
			return err
		}},
		{"64 clients, one session", 64, func(backend store.Backend, ids [64]string, _, n int) error {
			_, err := backend.Update(ctx, ids[n/each%64], step(text))
			return err
		}},
	} {
		for name, backend := range backends {
			var ids [64]string
			for i := range own {
				ids[i] = own[i][name]
			}
			b.Run(row.name+"/"+name, func(b *testing.B) {
				before := revisions(b, backend, ids)
				done := measure(b, row.clients, func(client, n int) error { return row.do(backend, ids, client, n) })
				if after := revisions(b, backend, ids); row.name != "create" && after-before != done {
					b.Errorf("%d changes were acknowledged, and %d are stored", done, after-before)
				}
			})
		}
	}
	b.Run("commit to a listener, 100 a second/database", func(b *testing.B) { listen(b, database, open(b, address)) })
}

func revisions(b *testing.B, backend store.Backend, ids [64]string) (sum int) {
	for _, id := range ids {
		s, err := backend.Get(context.Background(), id)
		if err != nil {
			b.Fatal(err)
		}
		sum += s.Revision
	}
	return sum
}

// measure has clients do b.N things together, and reports how fast they were; a conflict counts as refused.
func measure(b *testing.B, clients int, do func(client, n int) error) (done int) {
	var next atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var work sync.WaitGroup
	refused := 0
	for client := range clients {
		work.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				begun := time.Now()
				err := do(client, int(n))
				mu.Lock()
				switch {
				case err == nil:
					took = append(took, time.Since(begun))
				case fault.Is(err, fault.Conflict):
					refused++
				default:
					b.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	report(b, took)
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "a-second")
	b.ReportMetric(float64(refused), "refused")
	return len(took)
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	for name, share := range map[string]int{"p50-ms": 50, "p99-ms": 99} {
		b.ReportMetric(float64(took[(len(took)-1)*share/100].Microseconds())/1000, name)
	}
}

// listen measures the time from the end of a change in one process until another hears of it.
func listen(b *testing.B, writer, listener *pgstore.Database) {
	ctx, stop := context.WithCancel(context.Background())
	s := create(b, writer.Store(at))
	if _, err := listener.Store(at).Get(ctx, s.SessionID); err != nil {
		b.Fatal(err)
	}
	var mu sync.Mutex
	var waiting []time.Time
	var took []time.Duration
	heard := make(chan struct{}, 1)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	work.Go(func() {
		listener.Watch(ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			for _, at := range waiting {
				took = append(took, time.Since(at))
			}
			waiting = nil
			select {
			case heard <- struct{}{}:
			default:
			}
		})
	})
	<-heard
	b.ResetTimer()
	rhythm := time.NewTicker(10 * time.Millisecond)
	defer rhythm.Stop()
	for range b.N {
		<-rhythm.C
		if _, err := writer.Store(at).Update(ctx, s.SessionID, step("text")); err != nil {
			b.Fatal(err)
		}
		mu.Lock()
		waiting = append(waiting, time.Now())
		mu.Unlock()
	}
	for left := b.N; left > 0; {
		<-heard
		mu.Lock()
		left = len(waiting)
		mu.Unlock()
	}
	report(b, took)
}

// BenchmarkList lists 20,000 sessions.
func BenchmarkList(b *testing.B) {
	ctx := context.Background()
	address := migrated(b)
	s := open(b, address).Store(at)
	create(b, s)
	const columns = "objective, stage, state, active, created_at, updated_at, version, revision, body"
	pgtest.Do(b, address, `select set_config('bmad.tenant', '0', false)`,
		`insert into session (tenant_id, project_id, session_id, task_name, `+columns+`) select tenant_id, project_id, gen_random_uuid(), 'task-' || n, `+columns+
			` from session, generate_series(1, 20000) n`, `analyze session`)
	for name, q := range map[string]store.Query{"all": {}, "a page": {Limit: 100}} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if page, err := s.List(ctx, q); err != nil || page.Total != 20001 {
					b.Fatal(page.Total, err)
				}
			}
		})
	}
}
