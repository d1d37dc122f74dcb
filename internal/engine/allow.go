package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Want is something in a project that counts only once the person has allowed it.
type Want = permission.Want

// Wants lists the things in a project that need the person's permission.
func (e *Engine) Wants(req Request) (cwd string, wants []Want, err error) {
	p, err := e.projects.At(req.Address())
	if err != nil {
		return "", nil, err
	}
	defer p.Close()
	if wants, err = e.person.In(p).Wants(); err != nil {
		return "", nil, err
	}
	return p.Dir.Path(), wants, nil
}

// Allow records that the person allows something, with its files as they were shown.
func (e *Engine) Allow(ctx context.Context, w Want) error { return e.person.Allow(ctx, w) }

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
	guard, out := e.person.In(p), make([]WorkflowView, len(p.Config.Workflows))
	for i, w := range p.Config.Workflows {
		out[i] = WorkflowView{Workflow: w, Default: w.Name == p.Config.Workflow, Allowed: guard.MayFollow(w)}
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
