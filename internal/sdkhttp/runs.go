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

func (h *Handler) startRun(c *call) error {
	c.run.CostLimit = cmp.Or(c.limit, h.o.CostLimit)
	run, err := h.o.Runs.Start(c.r.Context(), c.run)
	c.reply = run
	return err
}

func (h *Handler) showRun(c *call) error {
	run, err := h.o.Runs.Get(c.r.Context(), c.id())
	c.reply = run
	return err
}

// runEvents streams the events of a run, until it is over.
func (h *Handler) runEvents(c *call) error {
	from, err := after(c.r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	defer context.AfterFunc(h.base, cancel)()
	events, err := h.o.Runs.Events(ctx, c.id(), from)
	if err != nil {
		return err
	}
	s, err := h.openStream(c, "run "+c.id())
	if err != nil {
		return err
	}
	defer s.done()
	// The response has begun: an error can only end it.
	_ = pump(ctx, h.o.Ping, events, s.ping, func(e RunEvent) (bool, error) { return false, s.send(e.Seq, e.Type, e.Data) })
	return nil
}
