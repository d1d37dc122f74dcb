package sdkhttp

import (
	"cmp"
	"context"
	"net/http"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Runs are runs of all stages without a host. Errors with a code of package fault become the
// status that fits it.
type Runs interface {
	// Start starts a run in the background.
	Start(ctx context.Context, r RunRequest) (Run, error)
	// Get describes a run.
	Get(ctx context.Context, id string) (Run, error)
	// Events returns the events of a run after one and those to come, until the run is over or ctx
	// ends; the channel is closed then.
	Events(ctx context.Context, id string, after int64) (<-chan RunEvent, error)
}

// RunRequest describes the run that a client asks for.
type RunRequest struct {
	Objective, TaskName, Workflow, Engine string
	// CostLimit is 0 for none.
	CostLimit price.Money
}

// Run describes a run.
type Run struct {
	ID     string `json:"runId"`
	Status string `json:"status"`
	// Result is the run's own description, as JSON.
	Result any `json:"result,omitempty"`
}

// RunEvent is an event of a run.
type RunEvent struct {
	Seq  int64
	Type string
	// Data is the run's own form of the event, as JSON.
	Data any
}

var errNoRuns = refuse(http.StatusNotImplemented, "no_runs", "this server serves agents, and no runs", "use bmad-mcp run on its machine")

func (h *Handler) startRun(c *call) (any, error) {
	return h.o.Runs.Start(c.r.Context(), RunRequest{
		Objective: c.Objective, TaskName: c.TaskName, Workflow: c.Workflow, Engine: c.Engine,
		CostLimit: cmp.Or(c.limit, h.o.CostLimit),
	})
}

func (h *Handler) showRun(c *call) (any, error) { return h.o.Runs.Get(c.r.Context(), c.id()) }

// runEvents streams the events of a run, until it is over.
func (h *Handler) runEvents(c *call) (any, error) {
	from, err := after(c.r)
	if err != nil {
		return nil, err
	}
	events, err := h.o.Runs.Events(c.r.Context(), c.id(), from)
	if err != nil {
		return nil, err
	}
	s, err := h.openStream(c, "run "+c.id())
	if err != nil {
		return nil, err
	}
	defer s.done()
	// The response has begun: an error can only end it.
	_ = pump(c.r.Context(), h, events, s.ping, func(e RunEvent) (bool, error) { return false, s.send(e.Seq, e.Type, e.Data) })
	return nil, nil
}
