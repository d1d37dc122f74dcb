package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// resume gives the current stage's whole briefing again and changes nothing.
func (r run) resume(ctx context.Context) (*Reply, error) {
	s, err := r.get(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.admit(ctx, s); err != nil {
		return nil, err
	}
	r.adoptSprints(ctx, s) // to be shown; nothing is stored
	out, err := r.reply(s, whole, "Objective: "+clip(s.Objective, 300)+"\n\n"+r.message(s))
	if out != nil && !r.stopped() && s.CurrentState == workflow.Refining && !r.continuing(s) {
		out.RolePrompt = refinement(r.stage(s), s.Current(), out.RolePrompt)
	}
	return out, err
}
