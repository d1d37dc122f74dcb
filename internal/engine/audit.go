package engine

import (
	"errors"
	"io/fs"
	"path/filepath"

	"bmad-mcp/internal/audit"
	"bmad-mcp/internal/durable"
	"bmad-mcp/internal/trust"
	"bmad-mcp/internal/workflow"
)

// audit returns what the server finds in a document of the current stage, before any
// lock is taken.
func (r run) audit(s *workflow.Session, st workflow.Stage, document string) (*workflow.Audit, error) {
	builtin, err := audit.Load(nil, st.ID)
	if err != nil {
		return nil, err
	}
	earlier := map[workflow.StageID]string{}
	for _, before := range r.project.cfg.Workflow.Stages {
		if before.ID == st.ID {
			break
		}
		if doc := r.document(s, before, s.Record(before.ID).FinalResultRef); doc != nil {
			if data, err := r.project.dir.ReadFile(doc.Path); err == nil {
				earlier[before.ID] = string(data)
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
		best = builtin.Audit(document, earlier)
	case trusted:
		best = own.Audit(document, earlier)
	default:
		// What a repository brings can only be harder to please than what the person has.
		best = builtin.Audit(document, earlier)
		if hard := own.Audit(document, earlier); hard.Score < best.Score {
			best = hard
		}
	}
	return &best, nil
}

// rubric returns the stage's rubric from the configured folder, or nil. It is trusted
// where it is the person's own, or they have allowed it as it is.
func (p *Project) rubric(id workflow.StageID, t Trust) (own *audit.Rubric, trusted bool, err error) {
	folder, done, _, err := p.ownFolder(p.cfg.Rubrics)
	if err != nil || folder == nil {
		return nil, false, err
	}
	defer done()
	if _, err := fs.Stat(folder, rubricName(id)); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	rubric, err := audit.Load(folder, id)
	if err != nil {
		return nil, false, err
	}
	file, err := p.rubricFile(id)
	return &rubric, file == nil || t != nil && t.Allowed(*file), err
}

func rubricName(id workflow.StageID) string { return string(id) + ".yaml" }

// rubricFile describes the rubric that the project itself brings for a stage, or names;
// nil if there is none, or it is the person's own.
func (p *Project) rubricFile(id workflow.StageID) (*trust.Allowance, error) {
	folder, done, inside, err := p.ownFolder(p.cfg.Rubrics)
	if err != nil || folder == nil {
		return nil, err
	}
	defer done()
	if !inside && !p.cfg.OwnRubrics && !p.contains(p.cfg.Rubrics) {
		return nil, nil
	}
	data, err := fs.ReadFile(folder, rubricName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &trust.Allowance{Project: p.dir.Path(), Kind: trust.KindRubric, Text: filepath.Join(p.cfg.Rubrics, rubricName(id)), SHA256: workflow.Hash(data)}, nil
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
	dir, err := durable.OpenDir(name)
	if err != nil {
		return nil, done, false, nil //nolint:nilerr // there is none
	}
	return dir.Tree(), func() { _ = dir.Close() }, false, nil
}
