package engine

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// chosen returns the definition that a start asks for, if it may be used.
func (e *Engine) chosen(p *project.Project, name string) (*workflow.Definition, error) {
	if name == "" {
		name = p.Config.Workflow
	}
	w, err := p.Config.Find(name)
	if err != nil {
		return nil, err
	}
	if w.By == workflow.SetByProject && (e.trust == nil || !e.trust.Allowed(workflowAllowance(p, w))) {
		return nil, fault.New(fault.NotAllowed, "the workflow %q comes from the project (%s), and the person has not allowed it as it is: it could leave gates out", w.Name, w.Path).
			WithHint("ask the human to read it and to type `%s allow` in a terminal, in the project; or use one of: %s", e.names.Program, strings.Join(usable(e, p), ", "))
	}
	return w.Definition, nil
}

// usable lists the workflows that can be started as things are.
func usable(e *Engine, p *project.Project) []string {
	var out []string
	for _, w := range p.Config.Workflows {
		if w.Definition != nil && (w.By != workflow.SetByProject || e.trust != nil && e.trust.Allowed(workflowAllowance(p, w))) {
			out = append(out, w.Name)
		}
	}
	return out
}

// workflowAllowance is what the person allows by allowing a workflow that a project brings.
func workflowAllowance(p *project.Project, w config.Workflow) trust.Allowance {
	return trust.Allowance{Project: p.Dir.Path(), Kind: trust.KindWorkflow, Text: w.Path, SHA256: workflow.Hash([]byte(w.Text))}
}

// WorkflowView is a workflow in a list.
type WorkflowView struct {
	config.Workflow
	// Default is true for the one of runs that name none, Allowed where it can be started.
	Default bool
	Allowed bool
}

// Workflows lists the workflows of a project, the built-in ones first.
func (e *Engine) Workflows(req Request) ([]WorkflowView, error) {
	p, err := e.projects.At(req.Address())
	if err != nil {
		return nil, err
	}
	defer p.Close()
	usable := usable(e, p)
	var out []WorkflowView
	for _, w := range p.Config.Workflows {
		view := WorkflowView{Workflow: w, Default: w.Name == p.Config.Workflow}
		for _, name := range usable {
			view.Allowed = view.Allowed || name == w.Name
		}
		out = append(out, view)
	}
	return out, nil
}

// Stages lists the stages of all workflows that can be started in a project, each once; where
// there is no project, those of the built-in ones.
func (e *Engine) Stages(req Request) []workflow.Stage {
	views, err := e.Workflows(req)
	if err != nil {
		views = nil
		for _, w := range config.Default("").Workflows {
			views = append(views, WorkflowView{Workflow: w, Allowed: true})
		}
	}
	var out []workflow.Stage
	seen := map[workflow.StageID]bool{}
	for _, w := range views {
		if !w.Allowed {
			continue
		}
		for _, st := range w.Definition.Stages {
			if !seen[st.ID] {
				seen[st.ID] = true
				out = append(out, st)
			}
		}
	}
	return out
}
