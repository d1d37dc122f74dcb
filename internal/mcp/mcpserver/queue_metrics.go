package mcpserver

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/exposition"
)

// QueueFunc reads the figures of the queue of a team.
type QueueFunc func(ctx context.Context) (QueueFigures, error)

// QueueFigures are sums over the queue of a team. They name no run, worker or label: callers cannot add series.
type QueueFigures struct {
	// Runs are the runs by state, one of [QueueStates], and Workers the workers by state, one of [WorkerStates].
	Runs, Workers map[string]int
	// OldestReady is the longest time for which a run has been ready, 0 if none is.
	OldestReady time.Duration
	// Calls are the paid calls of the runs, Repeated the ones made again, WorkersLost the workers lost at work.
	Calls, Repeated, WorkersLost int64
	// SpentToday is the cost of this day (UTC), in US dollars.
	SpentToday float64
}

// QueueStates returns the states of a run in the queue, as /metrics has them.
func QueueStates() []string {
	return []string{"ready", "working", "lost", "waiting", "spent", "failed", "cancelled", "done"}
}

// WorkerStates returns the states of a worker, as /metrics has them.
func WorkerStates() []string { return []string{"working", "idle", "gone"} }

// queueWait bounds the time in which the queue is read, so that a database that is away holds up no scraper.
const queueWait = 2 * time.Second

// addQueue adds the figures of a queue to a page. If it cannot be read, the page says so, and has none of the others.
func addQueue(ctx context.Context, p *exposition.Page, read QueueFunc) {
	ctx, cancel := context.WithTimeout(ctx, queueWait)
	defer cancel()
	f, err := read(ctx)
	one := func(kind exposition.Kind, name, help string, value float64) {
		p.Add(kind, name, help, exposition.Sample{Value: value})
	}
	if err != nil {
		one(exposition.Gauge, "bmad_queue_up", queueUp, 0)
		return
	}
	one(exposition.Gauge, "bmad_queue_up", queueUp, 1)
	byState := func(name, help string, states []string, counts map[string]int) {
		var samples []exposition.Sample
		for _, state := range states {
			samples = append(samples, exposition.Sample{Labels: []string{"state", state}, Value: float64(counts[state])})
		}
		p.Add(exposition.Gauge, name, help, samples...)
	}
	byState("bmad_queue_runs", "Runs in the queue by state; lost are those whose worker is gone.", QueueStates(), f.Runs)
	byState("bmad_queue_workers", "Workers by state; gone are those not seen for a minute.", WorkerStates(), f.Workers)
	one(exposition.Gauge, "bmad_queue_oldest_ready_seconds", "How long the run that has been ready longest waits for a worker; 0 without one.", f.OldestReady.Seconds())
	one(exposition.Counter, "bmad_queue_paid_calls_total", "Paid calls of the runs that the queue has.", float64(f.Calls))
	one(exposition.Counter, "bmad_queue_repeated_calls_total", "Paid calls that were made again after a worker was lost.", float64(f.Repeated))
	one(exposition.Counter, "bmad_queue_workers_lost_total", "Workers lost at work on the runs that the queue has.", float64(f.WorkersLost))
	one(exposition.Gauge, "bmad_queue_spent_usd_today", "What the runs have cost on this day (UTC), in US dollars.", f.SpentToday)
}

const queueUp = "Whether the queue could be read: 1, or 0 without the other figures of it."
