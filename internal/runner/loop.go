package runner

import (
	"context"
	"errors"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// facts gathers the facts that decide about the next step.
func (r *run) facts() facts {
	s, id := r.now.Standing, r.session.CurrentStage
	st, planned := r.plan.stage(id)
	f := facts{
		state: s.CurrentState, wanted: st.Engine != "", passed: !planned, changed: s.Stopped(),
		ordinary: !s.Overrides() && !s.Blocked(), edited: s.CurrentState.Gated() && s.Draft.Edited,
		below: s.BelowFloor(), strict: s.Policy.Gate == workflow.GateStrict, gates: r.Gates, person: r.Person != nil,
		pauses: s.Wants() == standing.WantsStart, worked: r.worked, spent: r.state.Given[id],
		given: planned && st.Engine == "",
	}
	f.kept = r.state.Answer != nil && r.state.Answer.point == r.at()
	open := s.Current().OpenQuestions()
	f.answers = len(open) > 0 && !slices.ContainsFunc(open, func(q workflow.Question) bool { return r.Answers[q.ID] == "" })
	return f
}

// step takes one step, and returns an ending if it was the last.
func (r *run) step(ctx context.Context) (*ending, error) {
	if err := errors.Join(ctx.Err(), r.read(ctx)); err != nil {
		return nil, err
	}
	switch s := next(r.facts()); s {
	case decide, sayYes, askQuestions, fileAnswers:
		return r.person(ctx, s)
	case submitKept:
		_, err := r.submit(ctx) // an answer that is refused is dropped
		return nil, err
	case submitGiven:
		return nil, r.submitGiven(ctx)
	case work:
		return r.work(ctx)
	default:
		return r.stop(s), nil
	}
}

// stop returns the ending that a step stands for.
func (r *run) stop(s step) *ending {
	task, stage := r.state.TaskName, r.session.CurrentStage
	command := ""
	if r.now.Gate != nil {
		command = r.now.Gate.Terminal
	}
	person := func(why lang.Text) *ending { return &ending{Person, why, command} }
	switch s {
	case finish:
		return &ending{reason: Done, why: lang.T("the workflow is complete")}
	case stopStages:
		return &ending{reason: Done, why: lang.T("the stages that were asked for are done; %s would be next", stage)}
	case stopCancelled:
		return &ending{reason: Person, why: lang.T("the session was cancelled")}
	case stopChanged:
		return &ending{Person, lang.T("the session, or a text that you approved, was changed by other hands; only you can accept it as it is"), "bmad-mcp adopt " + task}
	case stopEdited:
		return person(lang.T("the draft was edited since it was scored: decide on it as it is now"))
	case stopQuestions:
		return person(lang.T("the %s has questions for you", r.language.Word(r.stage().Role)))
	case stopPause:
		return person(lang.T("the setting pause has each round wait for your word; to resume the run is this word"))
	case stopFloor:
		return person(lang.T("the audit of %s is %g, below the floor of %g (audit_floor in the settings), which --yes does not pass", stage, r.session.Record(stage).Audit.Score, *r.now.Standing.Policy.AuditFloor))
	case stopRisk:
		if r.session.Record(stage).Spent() {
			return person(lang.T("the report of %s is still incomplete and has no verdict; nobody but you can accept that, or ask for another one", stage))
		}
		return person(lang.T("the work has not passed the gate of %s; nobody but you can accept that, or send it back", stage))
	case stopGiven:
		return person(lang.T("the document that was named for %s does not open its gate, and the run does not work on this stage", stage))
	case stopMissing:
		return person(lang.T("the run does not work on %s; reopen or finish that stage, or resume with --stages", stage))
	default:
		return person(lang.T("the gate of %s waits for your decision", stage))
	}
}
