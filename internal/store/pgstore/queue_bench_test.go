package pgstore_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// BenchmarkClaim has 8 workers with connections of their own claim from a queue with enough entries, and ask one in
// which all entries need a label that they do not have, on a server that waits for its disk.
func BenchmarkClaim(b *testing.B) {
	ctx := context.Background()
	const workers = 8
	for _, name := range []string{"an entry", "an entry, with a limit", "nothing"} {
		b.Run(name, func(b *testing.B) {
			server := pgtest.Start(b)
			address := server.Database(b)
			migrate(b, address)
			create(b, open(b, address).Store(at))
			const columns = "objective, stage, state, active, created_at, updated_at, version, revision, body"
			entries, labels := max(b.N, 10_000), `'{}'::text[]`
			if name == "nothing" {
				labels = `array['rare']`
			}
			pgtest.Do(b, address, `select set_config('bmad.tenant', '0', false)`,
				`insert into session (tenant_id, project_id, session_id, task_name, `+columns+`) select tenant_id, project_id, gen_random_uuid(), 'task-' || n, `+columns+
					` from session, generate_series(1, `+strconv.Itoa(entries)+`) n`,
				`insert into queue_entry (tenant_id, project_id, session_id, state, labels, run, queued_by, base, remote, call)
					select tenant_id, project_id, session_id, 'ready', `+labels+`, '', '', '', '', '' from session`, `analyze`)
			var queues [workers]*pgstore.Queue
			l := queue.Limits{}
			if name == "an entry, with a limit" {
				l.MaxWorkers = 1 << 30
			}
			for n := range queues {
				queues[n] = open(b, address).Queue()
				if _, err := queues[n].Workers(ctx); err != nil { // it is connected
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			var mu sync.Mutex
			var took []time.Duration
			measure(b, workers, func(client, _ int) error {
				w := worker
				w.ID = fmt.Sprint("w", client)
				begun := time.Now()
				c, err := queues[client].Claim(ctx, w, whole, l)
				mu.Lock()
				took = append(took, time.Since(begun))
				mu.Unlock()
				if err == nil && (c == nil) != (name == "nothing") {
					b.Errorf("claimed %v", c)
				}
				if err == nil && c != nil {
					err = queues[client].Release(ctx, c.SessionID, c.LeaseNo, queue.Release{To: queue.Done})
				}
				return err
			})
			report(b, took) // of the claims alone
		})
	}
}
