package runner

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// yesWords are the words of a decision that the command line has taken beforehand.
const yesWords = "--yes of the command line"

// person takes a step that is a person's: it asks them, or uses their words of before.
func (r *run) person(ctx context.Context, s step) (*ending, error) {
	at := r.at()
	req := request.Request{Address: project.Address{Session: r.state.SessionID, Cwd: r.project.Dir.Path()}, Caller: request.Caller{By: r.By}, Revision: &at.Revision}
	yes := true
	switch s {
	case askQuestions, fileAnswers:
		req.Action = workflow.ActionAnswer
		r.tell(Event{Type: Questioned, Stage: at.Stage, State: r.session.CurrentState, Questions: r.now.Questions}, true)
	default:
		req.Action = workflow.ActionConfirm
		if r.session.CurrentState == workflow.AwaitingApproval {
			req.Action = workflow.ActionApprove
		}
		r.tell(r.gateEvent(), true)
	}
	switch s {
	case fileAnswers:
		req.Via, req.Answers = workflow.ChannelScript, map[string]string{}
		for _, q := range r.now.Questions {
			req.Answers[q.ID] = r.Answers[q.ID]
		}
	case sayYes:
		req.Via, req.Feedback = workflow.ChannelScript, yesWords
		req.Yes = &yes
	default:
		req.Ask = r.Person
	}
	out, err := r.Engine.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	if out.Silence != nil {
		return &ending{Person, lang.T("no decision was taken: %s", out.Silence.Why), out.Gate.Terminal}, nil
	}
	return nil, r.tellDecision(ctx, at.Stage)
}

// gateEvent describes the gate that the session waits at.
func (r *run) gateEvent() Event {
	e := Event{Type: GateReached, Stage: r.session.CurrentStage, Round: r.now.Iteration, State: r.session.CurrentState, Score: r.now.Score, Verdict: r.now.Verdict}
	if r.now.Audit != nil {
		e.Audit = &r.now.Audit.Score
	}
	if r.now.Draft != nil {
		e.Draft = r.now.Draft.Path
	}
	if r.now.Gate != nil {
		e.Command = r.now.Gate.Terminal
	}
	return e
}

// tellDecision reports a person's decision, as rework if it sends work back.
func (r *run) tellDecision(ctx context.Context, from workflow.StageID) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	last := r.session.Last()
	if g := last.Grant; g != nil && (last.Event == workflow.EventSentBack || last.Event == workflow.EventChangesRequested) {
		r.tell(Event{Type: Rework, Stage: r.session.CurrentStage, State: r.session.CurrentState,
			Decision: g.Decision, Channel: g.Channel, Text: clip(g.Feedback, 300), Why: string(from)}, true)
	} else if g != nil {
		r.tell(Event{Type: GateReached, Stage: from, State: r.session.CurrentState, Decision: g.Decision, Channel: g.Channel}, true)
	}
	return nil
}
