package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/integrity"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// run is one action on one session.
type run struct {
	*Engine
	project *project.Project
	id      string
	req     Request
	// call is when the call came in, by the engine's memory.
	call  int64
	check *integrity.Check
	disk  *documents.Disk
}

func (e *Engine) run(p *project.Project, id string, req Request, call int64) *run {
	return &run{Engine: e, project: p, id: id, req: req, call: call, check: e.keeper.Of(p, id), disk: documents.On(p)}
}

// fire moves the session by one event of this action.
func (r *run) fire(ctx context.Context, s *standing.Standing, event workflow.Event, note workflow.Transition) error {
	return s.Workflow.Fire(ctx, s.Session, workflow.Firing{
		Event: event, Action: r.req.Action, By: r.req.By, At: r.Now(),
		Stage: workflow.StageID(r.req.Stage), Note: note,
	})
}

// silence is the error of a question that brought no decision.
type silence struct{ Silence }

func (s *silence) Error() string { return "no decision was taken: " + s.Why }
