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

// runs returns the runs, or a failure if they are not served.
func (h *Handler) runs() (Runs, error) {
	if h.o.Runs == nil {
		return nil, &failure{status: http.StatusNotImplemented, Code: "no_runs", Message: "this server serves agents, and no runs", Hint: "use bmad-mcp run on its machine"}
	}
	return h.o.Runs, nil
}

func (h *Handler) startRun(w http.ResponseWriter, r *http.Request) error {
	runs, err := h.runs()
	if err != nil {
		return err
	}
	var req RunRequest
	var usd float64
	if err := h.body(w, r, keys{"objective": &req.Objective, "taskName": &req.TaskName, "workflow": &req.Workflow, "engine": &req.Engine, "costLimit": &usd}); err != nil {
		return err
	}
	if err := words("objective", req.Objective); err != nil {
		return err
	}
	if req.CostLimit, err = h.limit(usd); err != nil {
		return err
	}
	req.CostLimit = cmp.Or(req.CostLimit, h.o.CostLimit)
	run, err := runs.Start(r.Context(), req)
	if err != nil {
		return err
	}
	reply(w, http.StatusAccepted, run)
	return nil
}

func (h *Handler) showRun(w http.ResponseWriter, r *http.Request) error {
	runs, err := h.runs()
	if err != nil {
		return err
	}
	run, err := runs.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	reply(w, http.StatusOK, run)
	return nil
}

// runEvents streams the events of a run, until it is over.
func (h *Handler) runEvents(w http.ResponseWriter, r *http.Request) error {
	runs, err := h.runs()
	if err != nil {
		return err
	}
	from, err := after(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.base, cancel)()
	id := r.PathValue("id")
	events, err := runs.Events(ctx, id, from)
	if err != nil {
		return err
	}
	s, done, err := h.openStream(w, r, accepts(r, ndjson), "run "+id)
	if err != nil {
		return err
	}
	defer done()
	// The response has begun: an error can only end it.
	_ = pump(ctx, h.o.Ping, events, s.ping, func(e RunEvent) (bool, error) { return false, s.send(e.Seq, e.Type, e.Data) })
	return nil
}
