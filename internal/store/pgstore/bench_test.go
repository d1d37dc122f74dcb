package pgstore_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Benchmark compares a database that waits for its disk with files.
func Benchmark(b *testing.B) {
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
	for name, backend := range map[string]store.Backend{"files": storetest.Files(dir), "database": open(b, address+"&pool_max_conns=40").Store(at)} {
		b.Run(name+"/create", func(b *testing.B) {
			for range b.N {
				create(b, backend)
			}
		})
		s := create(b, backend)
		b.Run(name+"/update", func(b *testing.B) {
			for range b.N {
				if _, err := backend.Update(ctx, s.SessionID, step(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
		var own []*workflow.Session
		for range 64 {
			own = append(own, create(b, backend))
		}
		b.Run(name+"/64 at once", func(b *testing.B) {
			var next atomic.Int64
			b.SetParallelism(32) // on two processors
			b.RunParallel(func(pb *testing.PB) {
				s := own[int(next.Add(1))%len(own)]
				for pb.Next() {
					if _, err := backend.Update(ctx, s.SessionID, step(text)); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
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
