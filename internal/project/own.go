package project

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

// Prompt returns a stage's role prompt, the project's own if it has one. It is read once.
func (p *Project) Prompt(st workflow.Stage) (prompts.Prompt, error) {
	// Two workflows can have a stage of one id with different prompts.
	key := [2]string{string(st.ID), st.PromptName()}
	if known, ok := p.prompts[key]; ok {
		return known, nil
	}
	own, done, _, err := p.ownFolder(p.Config.Prompts)
	if err != nil {
		return prompts.Prompt{}, err
	}
	defer done()
	read, err := prompts.Load(own, st)
	if err == nil {
		p.prompts[key] = read
	}
	return read, err
}

// CheckPrompts returns the error of the first prompt file that cannot be used for a workflow.
func (p *Project) CheckPrompts(w *workflow.Definition) error {
	for _, st := range w.Stages {
		if _, err := p.Prompt(st); err != nil {
			return err
		}
	}
	return nil
}

// Generic lists the stages of a workflow for which there is no prompt and no rubric of their own, built in or
// in the configured folders: they use those for the stage's kind.
func (p *Project) Generic(w *workflow.Definition) (byPrompt, byRubric []workflow.Stage) {
	has := func(folder, name string) bool {
		own, done, _, err := p.ownFolder(folder)
		if err != nil || own == nil {
			return false
		}
		defer done()
		_, err = fs.Stat(own, name)
		return err == nil
	}
	for _, st := range w.Stages {
		if !prompts.Builtin(st) && !has(p.Config.Prompts, st.PromptName()+".md") {
			byPrompt = append(byPrompt, st)
		}
		if st.Audited() && !audit.Builtin(st) && !has(p.Config.Rubrics, audit.FileName(st)) {
			byRubric = append(byRubric, st)
		}
	}
	return byPrompt, byRubric
}

// Rubric is a stage's rubric from the configured folder.
type Rubric struct {
	stage workflow.Stage
	// Path is the file's, Text its content as it was read.
	Path string
	Text []byte
	// Brought is true if the project contains or names the folder, so that it is not the person's choice.
	Brought bool
}

// Rubric reads the stage's rubric from the configured folder; nil if there is none, or the stage is
// not audited.
func (p *Project) Rubric(st workflow.Stage) (*Rubric, error) {
	if !st.Audited() {
		return nil, nil
	}
	folder, done, inside, err := p.ownFolder(p.Config.Rubrics)
	if err != nil || folder == nil {
		return nil, err
	}
	defer done()
	text, err := audit.Read(folder, st)
	if err != nil || text == nil {
		return nil, err
	}
	brought := inside || p.Config.OwnRubrics || p.contains(p.Config.Rubrics)
	return &Rubric{stage: st, Path: filepath.Join(p.Config.Rubrics, audit.FileName(st)), Text: text, Brought: brought}, nil
}

// Parse returns the rules of the rubric, for a workflow.
func (r *Rubric) Parse(w *workflow.Definition) (audit.Rubric, error) {
	return audit.Parse(filepath.Base(r.Path), w, r.stage, r.Text)
}

// check returns the first problem of a workflow, prompt file or rubric that would make an action fail.
func (p *Project) check() error {
	for _, w := range p.Config.Workflows() {
		switch err := w.Err(); {
		case err != nil && w.Name == p.Config.Workflow:
			return err
		case err != nil:
			continue // it keeps nobody from other work, and the settings' notes name it
		}
		if err := p.CheckPrompts(w.Definition); err != nil {
			return err
		}
		for _, st := range w.Definition.Stages {
			own, err := p.Rubric(st)
			if err == nil && own != nil {
				_, err = own.Parse(w.Definition)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// contains reports whether a folder lies in the project, by any of its paths.
func (p *Project) contains(name string) bool {
	folder, err := filepath.EvalSymlinks(name)
	if err != nil {
		return true // unknown: assume the worst
	}
	project, err := filepath.EvalSymlinks(p.Dir.Path())
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(project, folder)
	return err != nil || filepath.IsLocal(rel)
}

// ownFolder opens a configured folder of prompts or rubrics; nil if it does not exist. One
// inside the project is read through the project, so that no link leads out of it.
func (p *Project) ownFolder(name string) (folder fs.FS, done func(), inside bool, err error) {
	done = func() {}
	rel, relErr := filepath.Rel(p.Dir.Path(), name)
	if relErr == nil && filepath.IsLocal(rel) {
		rel = filepath.ToSlash(rel)
		if !p.absent[name] {
			_, err := p.Dir.Stat(rel)
			p.absent[name] = errors.Is(err, fs.ErrNotExist)
		}
		if p.absent[name] {
			return nil, done, true, nil
		}
		folder, err = fs.Sub(p.Dir.Tree(), rel)
		return folder, done, true, err
	}
	dir, err := p.openOwn(name)
	if err != nil {
		return nil, done, false, nil //nolint:nilerr // there is none
	}
	return dir.Tree(), func() { _ = dir.Close() }, false, nil
}
