package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/exposition"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// metrics count the actions of the server, for Prometheus.
type metrics struct {
	actions *exposition.Vector
	seconds *exposition.Vector
}

// maxScrapes is the most requests for metrics at a time.
const maxScrapes = 2

func newMetrics() *metrics {
	return &metrics{
		actions: exposition.NewVector("bmad_actions_total",
			"Calls of the tools by action and outcome: done, asked (a form went to the person), or the code of the refusal.",
			nil, "action", "outcome"),
		seconds: exposition.NewVector("bmad_action_seconds",
			"How long an action took, without the time that a person took to answer a form.",
			[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 300}, "action"),
	}
}

// countAction counts one action. All unknown actions have one name, so that callers cannot add series.
func (m *metrics) countAction(action workflow.Action, took time.Duration, outcome string) {
	if !slices.Contains(workflow.Actions(), action) {
		action = "unknown"
	}
	m.actions.Add(1, string(action), outcome)
	m.seconds.Add(took.Seconds(), string(action))
}

// outcomeName names the outcome of an action.
func outcomeName(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, request.ErrAsked):
		return "asked"
	}
	return string(fault.From(err).Code)
}

// handler serves the counts, and the figures of the queue of a team, if there is one.
func (m *metrics) handler(queue QueueFunc) http.Handler {
	return exposition.Handler(maxScrapes, func(ctx context.Context, p *exposition.Page) {
		m.actions.AddTo(p)
		m.seconds.AddTo(p)
		if queue != nil {
			addQueue(ctx, p, queue)
		}
	})
}
