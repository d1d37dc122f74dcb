package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/audit"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
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
	known := audit.Background{Language: s.Language, Objective: s.Objective, Answers: answersOf(s.Session), Earlier: map[workflow.StageID]string{}, Plan: plan.ID}
	for _, before := range w.Stages {
		if before.ID == st.ID {
			break
		}
		if doc := s.Document(before); doc != nil {
			if text, err := r.disk.documentText(ctx, s, *doc); err == nil {
				known.Earlier[before.ID] = text
			}
		}
	}
	own, trusted, err := r.rubric(r.project, w, st)
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

// documentText reads the document of an earlier stage: the saved artifact, or its last round.
func (d *disk) documentText(ctx context.Context, s *standing.Standing, doc standing.Document) (string, error) {
	if ref := s.Record(doc.Stage).FinalResultRef; ref != nil && doc.Path == ref.FilePath {
		return d.text(ctx, *ref)
	}
	f := d.read(doc.Path, doc.Size)
	return string(f.data), f.err
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

// rubric returns the stage's rubric from the configured folder, or nil. It is trusted if it
// is the person's own, or they have allowed it with this content.
func (e *Engine) rubric(p *project.Project, w *workflow.Definition, st workflow.Stage) (rules *audit.Rubric, trusted bool, err error) {
	own, err := p.Rubric(st)
	if err != nil || own == nil {
		return nil, false, err
	}
	parsed, err := own.Parse(w)
	if err != nil {
		return nil, false, err
	}
	// The text that was parsed is the one that is asked about: the file may change meanwhile.
	return &parsed, !own.Brought || e.trust != nil && e.trust.Allowed(rubricAllowance(p, own)), nil
}

// rubricAllowance is what the person allows by allowing a rubric.
func rubricAllowance(p *project.Project, own *project.Rubric) trust.Allowance {
	return trust.Allowance{Project: p.Dir.Path(), Kind: trust.KindRubric, Text: own.Path, SHA256: workflow.Hash(own.Text)}
}
