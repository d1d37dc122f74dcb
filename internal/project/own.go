package project

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
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
	own, err := p.ownFolder(config.PromptFolder)
	if err != nil {
		return prompts.Prompt{}, err
	}
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
// in the project: they use those for the stage's kind.
func (p *Project) Generic(w *workflow.Definition) (byPrompt, byRubric []workflow.Stage) {
	has := func(folder, name string) bool { return p.Home.Exists(folder + "/" + name) }
	for _, st := range w.Stages {
		if !prompts.Builtin(st) && !has(config.PromptFolder, st.PromptName()+".md") {
			byPrompt = append(byPrompt, st)
		}
		if st.Audited() && !audit.Builtin(st) && !has(config.RubricFolder, audit.FileName(st)) {
			byRubric = append(byRubric, st)
		}
	}
	return byPrompt, byRubric
}

// Rubric is a project's rubric of a stage.
type Rubric struct {
	stage workflow.Stage
	// Path is the file's, Text its content as it was read.
	Path string
	Text []byte
}

// Rubric reads the project's rubric of a stage; nil if there is none, or the stage is not audited.
func (p *Project) Rubric(st workflow.Stage) (*Rubric, error) {
	if !st.Audited() {
		return nil, nil
	}
	folder, err := p.ownFolder(config.RubricFolder)
	if err != nil || folder == nil {
		return nil, err
	}
	text, err := audit.Read(folder, st)
	if err != nil || text == nil {
		return nil, err
	}
	return &Rubric{stage: st, Path: p.Home.Join(config.RubricFolder + "/" + audit.FileName(st)), Text: text}, nil
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

// ownFolder opens the folder of prompts or rubrics; nil if it does not exist. It is read through the project, so that no
// link leads out of it.
func (p *Project) ownFolder(name string) (fs.FS, error) {
	if !p.absent[name] {
		_, err := p.Home.Stat(name)
		p.absent[name] = errors.Is(err, fs.ErrNotExist)
	}
	if p.absent[name] {
		return nil, nil
	}
	return fs.Sub(p.Home.Tree(), name)
}
