package web

import (
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestWaitOfQueued: a run that workers have does not wait for the person, whatever an earlier record says, and one that
// they do not go on with does, until somebody else goes on with it.
func TestWaitOfQueued(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	stopped := &headless.Kept{At: at}
	for _, tt := range []struct {
		state workflow.State
		entry queue.State
		later time.Duration
		want  wait
	}{
		{workflow.Generating, queue.Ready, 0, ""},
		{workflow.Generating, queue.Working, 0, ""},
		{workflow.Generating, queue.Waiting, 0, waitStopped},
		{workflow.Generating, queue.Spent, 0, waitStopped},
		{workflow.Generating, queue.Failed, 0, waitStopped},
		{workflow.Generating, queue.Cancelled, 0, waitStopped},
		{workflow.Generating, queue.Cancelled, time.Minute, ""},
		{workflow.Generating, queue.Done, 0, waitStopped}, // as its record says
		{workflow.Generating, "unheard-of", 0, waitStopped},
		{workflow.AwaitingApproval, queue.Failed, 0, waitDecision},
		{workflow.Clarifying, queue.Working, 0, waitQuestions},
		{workflow.Completed, queue.Failed, 0, ""},
	} {
		s := workflow.Summary{CurrentState: tt.state, UpdatedAt: at.Add(tt.later)}
		if got := waitOf(&s, stopped, &queue.Entry{State: tt.entry, ChangedAt: at}); got != tt.want {
			t.Errorf("%s, %s: got %q, want %q", tt.state, tt.entry, got, tt.want)
		}
	}
}

// TestHeadsOf: each state of a run in the queue has words of its own, and failed work of a stage is not a failed worker.
func TestHeadsOf(t *testing.T) {
	t.Parallel()
	here := []queue.Worker{{ID: "w1", Projects: []string{"p"}}}
	seen := map[string]bool{kindWords[waitFailed].In(lang.English): true}
	for _, tt := range []struct {
		entry        queue.Entry
		workers      []queue.Worker
		head, reason string
	}{
		{queue.Entry{State: queue.Ready, InState: time.Minute}, here, "Dev", "in the queue for 1 minute"},
		{queue.Entry{State: queue.Ready}, nil, "Dev", "in the queue; no worker with a clone of p was seen lately"},
		{queue.Entry{State: queue.Ready, Labels: []string{"gpu"}}, here, "Dev", "in the queue; no worker with its labels was seen lately"},
		{queue.Entry{State: queue.Working, Worker: "w1", InState: time.Hour, Asking: 4}, here, "Dev", "worker w1, for 1 hour, at call 4"},
		{queue.Entry{State: queue.Working, Worker: "w1", InState: time.Hour}, here, "Dev", "worker w1, for 1 hour"},
		{queue.Entry{State: queue.Working, Worker: "w1", Lost: true}, here, "Dev", "worker w1 is lost; another one takes the run over"},
		{queue.Entry{State: queue.Failed, Why: "no key"}, here, "The worker failed", "no key"},
		{queue.Entry{State: queue.Spent, Spent: 2_500_000_000}, here, "Budget or time used up", "$2.50 spent, Dev"},
		{queue.Entry{State: queue.Cancelled}, here, "Taken from the queue", "$0.00 spent, Dev"},
		{queue.Entry{State: queue.Waiting, Why: "a conflict"}, here, "The worker waits for you", "a conflict"},
	} {
		tt.entry.Project = "p"
		head, reason := headsOf(lang.English, &tt.entry, "Dev", tt.workers)
		if head != tt.head || reason != tt.reason {
			t.Errorf("%s: %q, %q; want %q, %q", tt.entry.State, head, reason, tt.head, tt.reason)
		}
		if seen[head+reason] {
			t.Errorf("two states are both %q, %q", head, reason)
		}
		seen[head+reason] = true
	}
	for _, s := range queue.States() {
		if goesOn(&queue.Entry{State: s}) {
			continue
		}
		if stoppedWords[s].In(lang.English) == "" {
			t.Errorf("%s has no words", s)
		}
	}
}
