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
	if !e.mayFollow(p, w) {
		return nil, fault.New(fault.NotAllowed, "the workflow %q comes from the project (%s), and the person has not allowed it as it is: it could leave gates out", w.Name, w.Path).
			WithHint("ask the human to read it and to type `%s allow` in a terminal, in the project; or use one of: %s", e.names.Program, strings.Join(usable(e, p), ", "))
	}
	return w.Definition, nil
}

// mayFollow reports whether a run may follow a workflow: one that the project brings has to be
// allowed as it is.
func (e *Engine) mayFollow(p *project.Project, w config.Workflow) bool {
	return w.By != workflow.SetByProject || e.trust != nil && e.trust.Allowed(workflowAllowance(p, w))
}

// usable lists the workflows that can be started as things are.
func usable(e *Engine, p *project.Project) []string {
	var out []string
	for _, w := range p.Config.Workflows {
		if w.Definition != nil && e.mayFollow(p, w) {
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
	out := make([]WorkflowView, len(p.Config.Workflows))
	for i, w := range p.Config.Workflows {
		out[i] = WorkflowView{Workflow: w, Default: w.Name == p.Config.Workflow, Allowed: w.Definition != nil && e.mayFollow(p, w)}
	}
	return out, nil
}

// Stages lists the stages of all workflows that can be started in a project, each once; where
// there is no project, those of the built-in ones.
func (e *Engine) Stages(req Request) []workflow.Stage {
	views, err := e.Workflows(req)
	if err != nil {
		return workflow.StagesOf(workflow.Builtins()...)
	}
	var usable []*workflow.Definition
	for _, w := range views {
		if w.Allowed {
			usable = append(usable, w.Definition)
		}
	}
	return workflow.StagesOf(usable...)
}
