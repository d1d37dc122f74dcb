package engine

import (
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Wants lists the things in a project that need the person's permission.
func (e *Engine) Wants(at project.Address) (cwd string, wants []permission.Want, err error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return "", nil, err
	}
	defer p.Close()
	if wants, err = e.person.In(p).Wants(); err != nil {
		return "", nil, err
	}
	return p.Dir.Path(), wants, nil
}

// Workflow is a workflow in a list.
type Workflow struct {
	config.Workflow
	// Default is true for the one of runs that name none, Allowed if it can be started.
	Default bool
	Allowed bool
}

// Workflows lists the workflows of a project, the built-in ones first.
func (e *Engine) Workflows(at project.Address) ([]Workflow, error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	guard, out := e.person.In(p), make([]Workflow, len(p.Config.Workflows))
	for i, w := range p.Config.Workflows {
		out[i] = Workflow{Workflow: w, Default: w.Name == p.Config.Workflow, Allowed: guard.MayFollow(w)}
	}
	return out, nil
}

// Stages lists the stages of all workflows that can be started in a project, each once; if
// there is no project, those of the built-in ones.
func (e *Engine) Stages(at project.Address) []workflow.Stage {
	all, err := e.Workflows(at)
	if err != nil {
		return workflow.StagesOf(workflow.Builtins()...)
	}
	var usable []*workflow.Definition
	for _, w := range all {
		if w.Allowed {
			usable = append(usable, w.Definition)
		}
	}
	return workflow.StagesOf(usable...)
}
