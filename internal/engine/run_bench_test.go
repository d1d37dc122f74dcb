package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/specimen"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// BenchmarkRun makes whole runs of six stages on documents of about 20 kB: how long the
// submission of each stage takes, and how many times the cheapest the dearest one takes.
func BenchmarkRun(b *testing.B) {
	for name, write := range map[string]func(uint64, int) string{
		"repeated": func(_ uint64, size int) string { return specimen.Repeated(size) },
		"varied":   specimen.English,
		"chinese":  specimen.Chinese,
	} {
		b.Run("documents="+name, func(b *testing.B) {
			stages := workflow.Default().IDs()
			took := map[string]time.Duration{}
			run := uint64(0)
			for b.Loop() {
				b.StopTimer()
				bench := newBench(b)
				b.StartTimer()
				reply := bench.do(start("Build a relay that stores webhooks and delivers them again"))
				var owed []string // the reply has the first of many
				for i, stage := range stages {
					b.StopTimer()
					text := write(100*run+uint64(i), 20<<10) + "\n## Sprint 1: relay\n\n- S1-1 Store webhooks\n\nQuality Score: 95/100\n"
					if workflow.StageID(stage) == workflow.Review || workflow.StageID(stage) == workflow.QA {
						text = specimen.Report(text, owed)
					} else if i == 0 {
						owed = verdict.ReadCriteria(verdict.Sources{Requirements: []string{text}}).Owed()
					}
					b.StartTimer()
					began := specimen.Processor()
					reply = bench.do(submit(workflow.StageID(stage), text))
					took[stage] += specimen.Processor() - began
					reply = pass(bench, reply)
				}
				if reply.State != workflow.Completed {
					b.Fatalf("the run is %s, not complete", reply.State)
				}
				run++
			}
			var times []time.Duration
			for _, stage := range stages {
				times = append(times, took[stage])
				b.ReportMetric(float64(took[stage].Microseconds())/float64(run)/1000, stage+"-ms")
			}
			b.ReportMetric(float64(slices.Max(times))/float64(slices.Min(times)), "dearest/cheapest")
		})
	}
}

// pass opens the gate that a submission leads to, if it leads to one, and returns the last reply.
func pass(b *bench, reply *reply.Reply) *reply.Reply {
	b.t.Helper()
	switch reply.State {
	case workflow.AwaitingConfirmation:
		return pass(b, b.do(confirm(true)))
	case workflow.AwaitingApproval:
		return b.do(approve(true, ""))
	}
	return reply
}
