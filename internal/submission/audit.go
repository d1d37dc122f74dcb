package submission

import (
	"context"
	"maps"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/audit"
	"github.com/bmad-mcp/bmad-mcp/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// AuditDocuments audits the documents of the current stage by the built-in rubric, and by the rubric
// of the project, if it has one. Of two it then chooses the one to go on with.
func (sub *Submission) AuditDocuments(ctx context.Context, s *standing.Standing, disk *documents.Disk, guard *permission.Guard) error {
	w, st := s.Workflow, s.Stage
	builtin, err := audit.Load(nil, w, st)
	if err != nil {
		return err
	}
	plan, _ := w.OfKind(workflow.KindPlan)
	known := audit.Background{Language: s.Language, Objective: s.Objective, Answers: answersOf(s.Session), Earlier: map[workflow.StageID]string{}, Plan: plan.ID}
	for _, before := range w.Stages {
		if before.ID == st.ID {
			break
		}
		if doc := s.Document(before); doc != nil {
			if text, err := disk.Text(ctx, s, *doc); err == nil {
				known.Earlier[before.ID] = text
			}
		}
	}
	own, trusted, err := guard.Rubric(w, st)
	if err != nil {
		return err
	}
	audited := func(a score.Assessment) workflow.Audit {
		text := a.Document
		best := builtin.Audit(text, known)
		if own != nil {
			// A rubric that a repository brings can only be harder to please than the person's own.
			if theirs := own.Audit(text, known); trusted || theirs.Score < best.Score {
				best = theirs
			}
		}
		return best
	}
	for i := range sub.drafts {
		sub.drafts[i].audit = audited(sub.drafts[i].read)
	}
	sub.choose(s)
	best := sub.drafts[sub.taken].audit
	sub.Audit = &best
	sub.Assessment.Audited(best.Score)
	return nil
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
