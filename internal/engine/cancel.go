package engine

import (
	"cmp"
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// cancel ends a session for good. Nothing is deleted.
func (r *run) cancel(ctx context.Context) (Outcome, error) {
	var grant *workflow.Grant
	s, err := r.changeSession(ctx, func(s *standing.Standing) (err error) {
		grant, err = r.decideLeaving(ctx, s, workflow.DecisionCancel, words.CancelLabel)
		return err
	}, func(_ store.Tx, s *standing.Standing) error {
		return r.fireEvent(ctx, s, workflow.EventCancelled, workflow.Transition{Feedback: cmp.Or(grant.Feedback, r.req.Feedback), Grant: grant})
	})
	if err != nil {
		return Outcome{}, err
	}
	return r.buildReply(ctx, s, reply.Light, words.Message(s))
}
