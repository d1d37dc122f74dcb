package headless_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// BenchmarkBareEngine takes the steps of BenchmarkWholeRun as an assistant does, without a runner:
// the difference is the cost of the runner itself.
func BenchmarkBareEngine(b *testing.B) {
	yes := true
	for b.Loop() {
		b.StopTimer()
		bench := newBench(b, nil)
		acts := wholeRun()
		b.StartTimer()
		id := bench.do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "Build a to-do list"}}).SessionID
		for _, stage := range []string{"po", "architect", "sm", "dev", "review", "qa"} {
			if file := acts[stage][0].file; file != "" {
				if err := os.WriteFile(filepath.Join(bench.dir, file), []byte(stage), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			bench.do(request.Request{Action: workflow.ActionResume, Address: project.Address{Session: id}, Caller: request.Caller{Inline: true}})
			switch out := bench.do(submitRequest(workflow.StageID(stage), acts[stage][0].text)); out.State {
			case workflow.AwaitingConfirmation:
				bench.do(request.Request{Action: workflow.ActionConfirm, Address: project.Address{Session: id}, Decision: request.Decision{Yes: &yes, Feedback: "yes"}, Caller: request.Caller{Via: workflow.ChannelScript}})
			case workflow.AwaitingApproval:
				bench.do(request.Request{Action: workflow.ActionApprove, Address: project.Address{Session: id}, Decision: request.Decision{Yes: &yes, Feedback: "yes"}, Caller: request.Caller{Via: workflow.ChannelScript}})
			}
		}
		if s := bench.session(); s.CurrentState != workflow.Completed {
			b.Fatalf("it ends at %s/%s", s.CurrentStage, s.CurrentState)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/6, "ms/stage")
}
