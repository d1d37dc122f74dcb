package engine

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/audit"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// audit returns what the server finds in a document of the current stage, before any
// lock is taken.
func (r run) audit(ctx context.Context, s *workflow.Session, st workflow.Stage, document string) (*workflow.Audit, error) {
	builtin, err := audit.Load(nil, st.ID)
	if err != nil {
		return nil, err
	}
	known := audit.Background{Objective: s.Objective, Answers: answersOf(s), Earlier: map[workflow.StageID]string{}}
	for _, before := range r.project.cfg.Workflow.Stages {
		if before.ID == st.ID {
			break
		}
		if doc := r.document(s, before, s.Record(before.ID).FinalResultRef); doc != nil {
			if text, err := r.documentText(ctx, s, *doc); err == nil {
				known.Earlier[before.ID] = text
			}
		}
	}
	own, trusted, err := r.project.rubric(st.ID, r.trust)
	if err != nil {
		return nil, err
	}
	var best workflow.Audit
	switch {
	case own == nil:
		best = builtin.Audit(document, known)
	case trusted:
		best = own.Audit(document, known)
	default:
		// What a repository brings can only be harder to please than what the person has.
		best = builtin.Audit(document, known)
		if hard := own.Audit(document, known); hard.Score < best.Score {
			best = hard
		}
	}
	return &best, nil
}

// documentText reads the document of an earlier stage: the saved artifact, or its last round.
func (r run) documentText(ctx context.Context, s *workflow.Session, doc Document) (string, error) {
	if ref := s.Record(doc.Stage).FinalResultRef; ref != nil && doc.Path == ref.FilePath {
		return r.project.texts.Read(ctx, *ref)
	}
	data, err := r.project.dir.ReadFile(doc.Path, durable.TextLimit(doc.Size))
	return string(data), err
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

// rubric returns the stage's rubric from the configured folder, or nil. It is trusted
// where it is the person's own, or they have allowed it as it is.
func (p *Project) rubric(id workflow.StageID, t Trust) (own *audit.Rubric, trusted bool, err error) {
	data, brought, err := p.ownRubric(id)
	if err != nil || data == nil {
		return nil, false, err
	}
	rubric, err := audit.Parse(rubricName(id), id, data)
	if err != nil {
		return nil, false, err
	}
	// The text that was parsed is the one that is asked about: the file may change meanwhile.
	return &rubric, !brought || t != nil && t.Allowed(p.rubricAllowance(id, data)), nil
}

func rubricName(id workflow.StageID) string { return string(id) + ".yaml" }

// ownRubric reads the stage's rubric from the configured folder; nil if there is none.
// brought is true where the project brings or names it, and not the person.
func (p *Project) ownRubric(id workflow.StageID) (data []byte, brought bool, err error) {
	folder, done, inside, err := p.ownFolder(p.cfg.Rubrics)
	if err != nil || folder == nil {
		return nil, false, err
	}
	defer done()
	if data, err = audit.Read(folder, id); err != nil || data == nil {
		return nil, false, err
	}
	return data, inside || p.cfg.OwnRubrics || p.contains(p.cfg.Rubrics), nil
}

// rubricAllowance is what the person allows by allowing a rubric.
func (p *Project) rubricAllowance(id workflow.StageID, data []byte) trust.Allowance {
	return trust.Allowance{Project: p.dir.Path(), Kind: trust.KindRubric, Text: filepath.Join(p.cfg.Rubrics, rubricName(id)), SHA256: workflow.Hash(data)}
}

// contains reports whether a folder is one of the project by any of its names.
func (p *Project) contains(name string) bool {
	folder, err := filepath.EvalSymlinks(name)
	if err != nil {
		return true // it cannot be told
	}
	project, err := filepath.EvalSymlinks(p.dir.Path())
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(project, folder)
	return err != nil || filepath.IsLocal(rel)
}

// ownFolder opens a configured folder of prompts or rubrics; nil if it is not there. One
// inside the project is read through it, so that a link in it leads nowhere else.
func (p *Project) ownFolder(name string) (folder fs.FS, done func(), inside bool, err error) {
	done = func() {}
	rel, relErr := filepath.Rel(p.dir.Path(), name)
	if relErr == nil && filepath.IsLocal(rel) {
		folder, err = fs.Sub(p.dir.Tree(), filepath.ToSlash(rel))
		return folder, done, true, err
	}
	dir, err := p.openOwn(name)
	if err != nil {
		return nil, done, false, nil //nolint:nilerr // there is none
	}
	return dir.Tree(), func() { _ = dir.Close() }, false, nil
}
