package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/audit"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// audit returns what the server finds in a document of the current stage, before any
// lock is taken.
func (r *run) audit(ctx context.Context, s *standing.Standing, text string) (*workflow.Audit, error) {
	w, st := s.Workflow, s.Stage
	builtin, err := audit.Load(nil, w, st)
	if err != nil {
		return nil, err
	}
	plan, _ := w.OfKind(workflow.KindPlan)
	known := audit.Background{Objective: s.Objective, Answers: answersOf(s.Session), Earlier: map[workflow.StageID]string{}, Plan: plan.ID}
	for _, before := range w.Stages {
		if before.ID == st.ID {
			break
		}
		if doc := s.Document(before); doc != nil {
			if text, err := r.disk.Text(ctx, s, *doc); err == nil {
				known.Earlier[before.ID] = text
			}
		}
	}
	own, trusted, err := r.person.In(r.project).Rubric(w, st)
	if err != nil {
		return nil, err
	}
	var best workflow.Audit
	switch {
	case own == nil:
		best = builtin.Audit(text, known)
	case trusted:
		best = own.Audit(text, known)
	default:
		// What a repository brings can only be harder to please than what the person has.
		best = builtin.Audit(text, known)
		if hard := own.Audit(text, known); hard.Score < best.Score {
			best = hard
		}
	}
	return &best, nil
}

// answersOf returns every answer that the person has given, always in the same order.
func answersOf(s *workflow.Session) []string {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(s.Stages)) {
		answers := s.Stages[id].Answers
		for _, q := range slices.Sorted(maps.Keys(answers)) {
			out = append(out, answers[q])
		}
	}
	return out
}
