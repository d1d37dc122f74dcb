package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/workflow"
)

// answer records the human's answers and begins another round. Questions may be
// left open; the next round then states its assumption.
func (r run) answer(ctx context.Context) (*Reply, error) {
	answered, left := 0, 0
	s, err := r.change(ctx, r.checkAnswers, func(s *workflow.Session) error {
		rec := s.Current()
		if rec.Answers == nil {
			rec.Answers = map[string]string{}
		}
		for _, q := range rec.Questions {
			if text := given(r.req.Answers[q.ID]); text != "" {
				rec.Answers[q.ID] = text
				answered++
			} else {
				left++
			}
		}
		rec.Asked = append(rec.Asked, rec.Questions...)
		rec.Questions = nil
		return r.fire(ctx, s, workflow.EventAnswered, workflow.Transition{Iteration: rec.Iteration})
	})
	if err != nil {
		return nil, err
	}
	said := count(answered, "answer") + " recorded"
	if left > 0 {
		said += fmt.Sprintf(", %d left open", left)
	}
	return r.reply(s, short, said+".\n\n"+r.message(s))
}

// given returns an answer without the "…" that next_call puts where text is due.
func given(text string) string {
	if text = strings.TrimSpace(text); text == "…" {
		return ""
	}
	return text
}

func (r run) checkAnswers(s *workflow.Session) error {
	var open []string
	for _, q := range s.Current().Questions {
		open = append(open, q.ID)
	}
	some := false
	for id, text := range r.req.Answers {
		if !slices.Contains(open, id) {
			return fault.New(fault.InvalidArgument, "there is no open question %q", id).
				WithHint("the open questions are: %s", strings.Join(open, ", "))
		}
		if err := checkText("the answer to "+id, text, MaxAnswer); err != nil {
			return err
		}
		some = some || given(text) != ""
	}
	if !some {
		return fault.New(fault.InvalidArgument, "all answers are empty").
			WithHint("pass the human's words for at least one of: %s", strings.Join(open, ", "))
	}
	return nil
}
