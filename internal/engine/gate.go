package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Gate returns the question that a session waits with, as a channel would put it to the person;
// for a reopen or cancel, whether the session leaves its stage. It asks nobody, and changes
// nothing. Its error has no language yet.
func (e *Engine) Gate(ctx context.Context, req request.Request) (gate.Question, error) {
	p, id, err := e.Projects().Find(ctx, req.Address)
	if err != nil {
		return gate.Question{}, err
	}
	defer p.Close()
	if req.Action != workflow.ActionReopen && req.Action != workflow.ActionCancel {
		req.Action = workflow.ActionStatus
	}
	return e.run(p, id, req, e.memory.count.Add(1)).question(ctx)
}

func (r *run) question(ctx context.Context) (gate.Question, error) {
	s, err := r.look(ctx)
	if err != nil {
		return gate.Question{}, err
	}
	if err := goesOn(s); err != nil { // nobody would be asked
		return gate.Question{}, err
	}
	if r.req.Language != "" {
		s.Language = r.req.Language
	}
	switch {
	case r.req.Action == workflow.ActionReopen:
		return gate.Leave(s, workflow.DecisionReopen, words.ReopenLabel(workflow.StageID(r.req.Stage)), r.req.Feedback), nil
	case r.req.Action == workflow.ActionCancel:
		return gate.Leave(s, workflow.DecisionCancel, words.CancelLabel, r.req.Feedback), nil
	case s.CurrentState == workflow.Clarifying:
		return gate.AskQuestions(s), nil
	case s.CurrentState.Gated():
		return gate.Ask(s), nil
	}
	return gate.Question{}, words.NothingWaits(s.Session)
}
