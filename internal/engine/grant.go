package engine

import (
	"context"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// ask puts a question to the person, who may edit the draft before they answer.
func (r *run) ask(ctx context.Context, s *standing.Standing, q Question) (Response, error) {
	a, err := r.req.Ask.Ask(ctx, q)
	r.disk.Forget(s)
	return a, err
}

// recorded makes the record of an answer, which may have come from anywhere.
func (r *run) recorded(s *standing.Standing, policy workflow.GateMode, b Bound, a Response) (workflow.Grant, error) {
	g := workflow.Grant{
		Channel: a.Channel, Assurance: a.Channel.Assurance(), Decision: a.Decision, Feedback: strings.TrimSpace(a.Feedback),
		Client: r.req.By, At: r.Now(), Stage: s.CurrentStage, Revision: s.Revision, SHA256: b.SHA256, Policy: policy,
	}
	if a.Took > 0 {
		ms := a.Took.Milliseconds()
		g.TookMS = &ms
	}
	return g, request.CheckText("feedback", g.Feedback, MaxFeedback)
}

// granted is the record of a decision at a gate, if the gate takes it.
func (r *run) granted(s *standing.Standing, b Bound, a Response) (workflow.Grant, error) {
	g, err := r.recorded(s, s.Policy.Gate, b, a)
	if err != nil {
		return g, err
	}
	return gate.Granted(s, g)
}
