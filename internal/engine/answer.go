package engine

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// answer records the human's answers and begins another round. Questions may be left open or skipped; the next
// round then states an assumption. If all are skipped and the document has reached the gate, it waits there.
func (r *run) answer(ctx context.Context) (Outcome, error) {
	var given gate.Response
	var settled settlement
	var taken gate.Bound // the gate at which the person takes the document instead
	s, err := r.changeSession(ctx, func(s *standing.Standing) (err error) {
		if given, err = r.personAnswers(ctx, s); err != nil {
			return err
		}
		if given.Decision == workflow.DecisionApprove {
			taken = gate.Bind(s.AtGate())
			return errTaken
		}
		return request.CheckAnswers(s.Session, given.Answers, given.SkipRest)
	}, func(_ store.Tx, s *standing.Standing) error {
		grant, err := r.newGrant(ctx, s, s.Policy.Gate, gate.Bind(s), given)
		if err != nil {
			return err
		}
		event, met := workflow.EventAnswered, s.Met()
		rec := s.Session.Current()
		on := workflow.ChangeRequest{Stage: s.Session.CurrentStage, Round: rec.Iteration}
		if rec.FinalResultRef != nil {
			on.SHA256 = rec.FinalResultRef.SHA256
		}
		if settled = settleQuestions(rec, given); met && settled.answered+settled.open+len(grant.Comments)+len(rec.LaterQuestions()) == 0 {
			event = workflow.EventSkipped
		}
		if err := r.fireEvent(ctx, s, event, workflow.Transition{Iteration: rec.Iteration, Grant: &grant, Skipped: settled.skipped}); err != nil {
			return err
		}
		addChangeRequests(s, grant, on)
		return nil
	})
	if errors.Is(err, errTaken) {
		return r.decide(ctx, func(ctx context.Context, s *standing.Standing) (workflow.Grant, error) {
			switch {
			case gate.Bind(s) != taken: // it is not as the person saw it
				return workflow.Grant{}, r.lostRace(ctx, s.Session)
			case s.Draft.Edited && s.Draft.Edit == nil:
				return workflow.Grant{}, words.EditedDraft(s)
			}
			return r.newGateGrant(ctx, s, taken, given)
		})
	}
	if err != nil {
		return Outcome{}, err
	}
	return r.buildReply(ctx, s, reply.Short, words.Answered(s, settled.answered, len(settled.skipped), settled.open, given.Channel)+words.Message(s))
}

// errTaken ends an answer by which the person takes the document instead.
var errTaken = errors.New("the document is taken without answers")

// personAnswers returns the answers by the best channel that the call has and the policy accepts, or a decision to
// approve the document as it is.
func (r *run) personAnswers(ctx context.Context, s *standing.Standing) (gate.Response, error) {
	strict := s.Policy.Gate == workflow.GateStrict
	relayed := request.Filled(r.req.Answers)
	var note lang.Text
	wantsPerson := r.req.Via == "" || strict || len(r.req.Answers) == 0
	if r.req.Ask != nil && wantsPerson {
		a, err := r.putQuestion(ctx, s, gate.AskQuestions(s))
		if err != nil {
			return a, err
		}
		a.Answers = request.Filled(a.Answers)
		switch {
		case len(a.Answers) > 0, a.SkipRest:
			a.Decision = workflow.DecisionAnswer
			return a, nil
		case a.Decision == workflow.DecisionApprove && s.Met():
			return a, nil
		case !a.Silence.Unasked || len(relayed) == 0:
			return a, &a.Silence
		}
		note = a.Silence.Why
	}
	if strict && !r.req.Via.Personal() {
		return gate.Response{}, words.NotPersonal(s, r.req.Via, note)
	}
	if err := request.CheckAnswers(s.Session, r.req.Answers, false); err != nil {
		return gate.Response{}, err
	}
	return gate.Response{Channel: r.req.Via, Decision: workflow.DecisionAnswer, Answers: relayed, Comments: r.req.Comments}, nil
}
