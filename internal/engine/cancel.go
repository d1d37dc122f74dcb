package engine

import (
	"context"
	"strings"

	"bmad-mcp/internal/workflow"
)

// cancel ends a session for good. Nothing is deleted.
func (r run) cancel(ctx context.Context) (*Reply, error) {
	s, err := r.change(ctx, nil, func(s *workflow.Session) error {
		return r.fire(ctx, s, workflow.EventCancelled, workflow.Transition{Feedback: strings.TrimSpace(r.req.Feedback)})
	})
	if err != nil {
		return nil, err
	}
	return r.reply(s, light, r.message(s))
}
