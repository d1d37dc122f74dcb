package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// resume gives the current stage's whole briefing again and changes nothing.
func (r *run) resume(ctx context.Context) (Outcome, error) {
	s, err := r.readStanding(ctx)
	if err != nil {
		return Outcome{}, err
	}
	out, err := r.buildReply(ctx, s, reply.Whole, r.warnOfWorkers(ctx, s)+s.Say("Objective: %s", visible.Fit(s.Session.Objective, 300))+"\n\n"+words.Message(s))
	if out.Reply != nil && !s.Stopped() && s.Session.CurrentState == workflow.Refining && !s.Continuing() {
		out.RolePrompt = words.Refinement(s, out.RolePrompt)
	}
	return out, err
}
