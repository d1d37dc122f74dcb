package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestQueueMetrics: a server with a store reads the queue of the team for each scrape, without a word of an entry; one
// whose store has no queue says so, and one without a store has no figures of it.
func TestQueueMetrics(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	address := server.Database(t)
	d, err := pgstore.Open(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	scrape := func(env ...string) string {
		s := serve(t, t.TempDir(), env, "--metrics")
		_, body := s.send("GET", strings.TrimSuffix(s.url, "/mcp")+"/metrics", "")
		return body
	}
	if body := scrape("BMAD_STORE=" + address); !strings.Contains(body, "\nbmad_queue_up 0\n") || strings.Contains(body, "bmad_queue_runs") {
		t.Errorf("without tables:\n%s", body)
	}
	ctx := t.Context()
	if _, _, err := d.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	const label = `gpu"} 1`
	q := d.Queue()
	for i := range 2 {
		s := workflow.Default().NewSession(fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), "Build a clock", "/p", "test", time.Unix(0, 0).UTC())
		if err := d.Store(store.Place{Key: "clock"}).Enqueuing(queue.Order{Labels: []string{label}}).Create(ctx, s, storetest.Numbered("task")); err != nil {
			t.Fatal(err)
		}
	}
	c, err := q.Claim(ctx, queue.Worker{ID: "secret-worker", Projects: []string{"clock"}, Labels: []string{label}}, time.Hour, queue.Limits{})
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	if err := q.Save(ctx, c.SessionID, c.LeaseNo, queue.Progress{Calls: 5, Repeated: 2, Spent: 1_500_000_000}); err != nil {
		t.Fatal(err)
	}
	body := scrape("BMAD_STORE=" + address)
	for _, line := range []string{
		`# TYPE bmad_queue_runs gauge`, `bmad_queue_runs{state="ready"} 1`, `bmad_queue_runs{state="working"} 1`, `bmad_queue_runs{state="lost"} 0`,
		`bmad_queue_workers{state="working"} 1`, `bmad_queue_workers{state="gone"} 0`, `# TYPE bmad_queue_oldest_ready_seconds gauge`,
		`# TYPE bmad_queue_paid_calls_total counter`, `bmad_queue_paid_calls_total 5`, `bmad_queue_repeated_calls_total 2`, `bmad_queue_workers_lost_total 0`,
		`bmad_queue_spent_usd_today 1.5`, `bmad_queue_up 1`,
	} {
		if !strings.Contains(body, "\n"+line+"\n") {
			t.Errorf("no %s in\n%s", line, body)
		}
	}
	for _, state := range mcpserver.QueueStates() {
		if state != "lost" && !queue.State(state).IsKnown() || !strings.Contains(body, `bmad_queue_runs{state="`+state+`"} `) {
			t.Errorf("%q is no state of a run, or is not shown", state)
		}
	}
	if n := strings.Count(body, "bmad_queue_runs{"); n != len(queue.States())+1 {
		t.Errorf("%d states are shown", n)
	}
	for _, theirs := range []string{"gpu", "secret-worker", "clock"} {
		if strings.Contains(body, theirs) {
			t.Errorf("a word of an entry made a series:\n%s", body)
		}
	}
	if body := scrape(); strings.Contains(body, "bmad_queue") {
		t.Errorf("without a store:\n%s", body)
	}
}
