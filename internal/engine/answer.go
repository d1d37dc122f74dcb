package engine

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// answer records the human's answers and begins another round. Questions may be
// left open; the next round then states its assumption.
func (r *run) answer(ctx context.Context) (*Reply, error) {
	var given Response
	left := 0
	s, err := r.change(ctx, func(s *standing.Standing) (err error) {
		if given, err = r.personAnswers(ctx, s); err != nil {
			return err
		}
		return request.CheckAnswers(s.Session, given.Answers)
	}, func(_ store.Tx, s *standing.Standing) error {
		rec := s.Current()
		left = len(rec.Questions) - recordAnswers(rec, given)
		grant, err := r.recorded(s, s.Policy.Gate, gate.Bind(s), given)
		if err != nil {
			return err
		}
		rec.Asked = append(rec.Asked, rec.Questions...)
		rec.Questions = nil
		return r.fire(ctx, s, workflow.EventAnswered, workflow.Transition{Iteration: rec.Iteration, Grant: &grant})
	})
	if err != nil {
		return nil, err
	}
	return r.reply(s, reply.Short, words.Answered(s, len(given.Answers), left, given.Channel)+words.Message(s))
}

// personAnswers returns the answers by the best channel that the call has and the policy takes.
func (r *run) personAnswers(ctx context.Context, s *standing.Standing) (Response, error) {
	strict := s.Policy.Gate == workflow.GateStrict
	relayed := request.Filled(r.req.Answers)
	var note lang.Text
	if r.req.Ask != nil && (r.req.Via == "" || strict || len(r.req.Answers) == 0) {
		a, err := r.ask(ctx, s, openQuestions(s))
		if err != nil {
			return a, err
		}
		if a.Answers = request.Filled(a.Answers); len(a.Answers) > 0 {
			a.Decision = workflow.DecisionAnswer
			return a, nil
		}
		if !a.Silence.Unasked || len(relayed) == 0 {
			return a, &silence{a.Silence}
		}
		note = a.Silence.Why
	}
	if strict && !r.req.Via.Personal() {
		return Response{}, words.NotPersonal(s, r.req.Via, note)
	}
	if err := request.CheckAnswers(s.Session, r.req.Answers); err != nil {
		return Response{}, err
	}
	return Response{Channel: r.req.Via, Decision: workflow.DecisionAnswer, Answers: relayed}, nil
}

// openQuestions returns the form with the open questions of a stage.
func openQuestions(s *standing.Standing) Question {
	q := gate.Ask(s)
	q.Choices, q.Questions = nil, slices.Clone(s.Current().Questions)
	return q
}

// recordAnswers stores answers with the channel that they came by. It returns how many.
func recordAnswers(rec *workflow.Record, a Response) int {
	if rec.Answers == nil {
		rec.Answers = map[string]string{}
	}
	if rec.AnswerChannels == nil {
		rec.AnswerChannels = map[string]workflow.Channel{}
	}
	n := 0
	for _, q := range rec.Questions {
		if text := a.Answers[q.ID]; text != "" {
			rec.Answers[q.ID], rec.AnswerChannels[q.ID] = text, a.Channel
			n++
		}
	}
	return n
}
