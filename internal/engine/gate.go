package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Gate returns the question that a session waits with, as a channel would put it to the person. It
// asks nobody, and changes nothing.
func (e *Engine) Gate(ctx context.Context, req Request) (Question, error) {
	p, id, err := e.Projects().Find(ctx, req.Address())
	if err != nil {
		return Question{}, err
	}
	defer p.Close()
	req.Action = workflow.ActionStatus
	s, err := e.run(p, id, req, e.memory.count.Add(1)).look(ctx)
	switch {
	case err != nil:
		return Question{}, err
	case s.CurrentState == workflow.Clarifying:
		return gate.AskQuestions(s), nil
	case s.CurrentState.Gated():
		return gate.Ask(s), nil
	}
	return Question{}, words.NothingWaits(s.Session)
}
