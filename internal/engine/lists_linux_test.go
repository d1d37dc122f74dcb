package engine_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// cpuTime returns the processor time of this process so far.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkLists measures the actions that list sessions, in projects of ordinary session files: the
// CPU time of a list in a process that has read nothing, of one after it, and how the latter compares
// with that in a project of 20 sessions.
func BenchmarkLists(b *testing.B) {
	sizes := []int{20, 1_000, 20_000}
	if testing.Short() {
		sizes = sizes[:2]
	}
	few := map[string]time.Duration{}
	for _, n := range sizes {
		bench := newBench(b)
		var kept *filestore.Summaries
		bench.backend = func(place store.Place) (store.Backend, error) { return kept.Store(place.Dir), nil }
		// An hour later, so that the new files have settled.
		forget := func() { kept = filestore.NewSummaries(func() time.Time { return time.Now().Add(time.Hour) }) }
		forget()
		storetest.Ordinary(b, bench.dir, n)
		bench.restart()
		at := project.Address{Cwd: bench.dir}
		for name, list := range map[string]func() error{
			"status": func() error {
				_, err := bench.engine.Do(ctx, request.Request{Action: workflow.ActionStatus, Address: project.Address{Cwd: bench.dir}})
				return err
			},
			"resource":   func() error { _, _, err := bench.engine.Resource(ctx, at, engine.ViewSessions); return err },
			"all":        func() error { _, _, _, err := bench.engine.Sessions(ctx, at); return err },
			"completion": func() error { _, _, err := bench.engine.Known(ctx, at); return err },
		} {
			b.Run(fmt.Sprintf("sessions=%d/list=%s", n, name), func(b *testing.B) {
				once := func() time.Duration {
					before := cpuTime(b)
					if err := list(); err != nil {
						b.Fatal(err)
					}
					return cpuTime(b) - before
				}
				forget()
				cold := once()
				once() // from which on the system notes changes
				var warm []time.Duration
				for b.Loop() {
					warm = append(warm, once())
				}
				slices.Sort(warm)
				median := warm[len(warm)/2]
				if n == sizes[0] {
					few[name] = median
				}
				b.ReportMetric(float64(cold.Microseconds())/1000, "cold-cpu-ms")
				b.ReportMetric(float64(median.Microseconds())/1000, "warm-cpu-ms")
				if few[name] > 0 {
					b.ReportMetric(float64(median)/float64(few[name]), "x-of-20-sessions")
				}
			})
		}
	}
}
