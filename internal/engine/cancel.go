package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// cancel ends a session for good. Nothing is deleted.
func (r run) cancel(ctx context.Context) (*Reply, error) {
	var grant *workflow.Grant
	s, err := r.change(ctx, func(s *workflow.Session) (err error) {
		grant, err = r.leave(ctx, s, workflow.DecisionCancel, "Cancel this run")
		return err
	}, func(_ store.Tx, s *workflow.Session) error {
		return r.fire(ctx, s, workflow.EventCancelled, workflow.Transition{Feedback: grant.Feedback, Grant: grant})
	})
	if err != nil {
		return nil, err
	}
	return r.reply(s, light, r.message(s))
}
