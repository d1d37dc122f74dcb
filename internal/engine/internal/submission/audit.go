package submission

import (
	"context"
	"maps"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
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
	known := audit.Background{Language: s.Language, Objective: s.Session.Objective, Earlier: map[workflow.StageID]string{}, Plan: plan.ID}
	for _, id := range slices.Sorted(maps.Keys(s.Session.Stages)) { // always in the same order
		answers := s.Session.Stages[id].Answers
		for _, q := range slices.Sorted(maps.Keys(answers)) {
			known.Answers = append(known.Answers, answers[q])
		}
	}
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
	for i := range sub.drafts {
		d := &sub.drafts[i]
		d.audit = builtin.Audit(d.read.Document, known)
		if own == nil {
			continue
		}
		// A repository's rubric can only be harder to please than the person's own.
		if theirs := own.Audit(d.read.Document, known); trusted || theirs.Score < d.audit.Score {
			d.audit = theirs
		}
	}
	sub.chooseDraft(s)
	sub.Audit = new(sub.drafts[sub.taken].audit)
	sub.Assessment.Audited(sub.Audit.Score)
	return nil
}
