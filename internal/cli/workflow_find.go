package cli

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// workflowViews lists the workflows of the project with their origin.
func workflowViews(a *app) ([]engine.Workflow, error) {
	at, err := a.address(nil)
	if err != nil {
		return nil, err
	}
	return a.engine.Workflows(at)
}

// workflowNamed returns the workflow of a name, the default one for "".
func workflowNamed(a *app, name string) (config.Workflow, error) {
	views, err := workflowViews(a)
	if err != nil {
		return config.Workflow{}, err
	}
	var names []string
	for _, w := range views {
		if w.Name == name || name == "" && w.Default {
			return w.Workflow, nil
		}
		names = append(names, w.Name)
	}
	return config.Workflow{}, fault.New(fault.NotFound, "there is no workflow %q", name).
		WithHint("the workflows here are: %s", strings.Join(names, ", ")).Suggest(name, names)
}

// stageIDs lists the stages of the workflows that the project can use.
func stageIDs(a *app) []string {
	var definitions []*workflow.Definition
	for _, w := range workflows(a) {
		definitions = append(definitions, w.Definition)
	}
	return workflow.IDsOf(workflow.StagesOf(definitions...))
}

// workflows returns the usable workflows of the project, else the built-in ones.
func workflows(a *app) []config.Workflow {
	if a.engine == nil { // for a text of help
		return config.Default("").Workflows
	}
	views, err := workflowViews(a)
	if err != nil {
		return config.Default("").Workflows
	}
	var out []config.Workflow
	for _, w := range views {
		if w.Definition != nil {
			out = append(out, w.Workflow)
		}
	}
	return out
}
