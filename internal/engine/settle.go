package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// settlement counts the open questions of a stage by their outcome.
type settlement struct {
	answered, open int
	skipped        []string // ids
}

// settle stores answers with the channel that they came by, and marks each open question with
// its outcome.
func settle(rec *workflow.Record, a gate.Response) settlement {
	if rec.Answers == nil {
		rec.Answers = map[string]string{}
	}
	if rec.AnswerChannels == nil {
		rec.AnswerChannels = map[string]workflow.Channel{}
	}
	var out settlement
	for i := range rec.Questions {
		q := &rec.Questions[i]
		text := a.Answers[q.ID]
		switch {
		case !q.Open():
		case request.Skips(*q, text), text == "" && a.SkipRest:
			q.Status = workflow.QuestionSkipped
			out.skipped = append(out.skipped, q.ID)
		case text == "":
			q.Status = workflow.QuestionLeftOpen
			out.open++
		default:
			q.Status = workflow.QuestionAnswered
			rec.Answers[q.ID], rec.AnswerChannels[q.ID] = text, a.Channel
			out.answered++
		}
	}
	return out
}

// skipQuestions settles the open questions of a document that the person takes, or sends back,
// without answering them.
func (r *run) skipQuestions(ctx context.Context, s *standing.Standing) error {
	if !s.Met() {
		return nil
	}
	rec := s.Current()
	skipped := settle(rec, gate.Response{SkipRest: true}).skipped
	return r.fire(ctx, s, workflow.EventSkipped, workflow.Transition{Iteration: rec.Iteration, Score: rec.Score, Skipped: skipped})
}
