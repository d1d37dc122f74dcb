package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
)

// completeStage completes the name of a stage, of any workflow that the project can use.
func (a *app) completeStage(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return stageIDs(a), cobra.ShellCompDirectiveNoFileComp
}

// stageIDs lists the stages of the workflows that the project can use.
func stageIDs(a *app) []string {
	var out []string
	for _, w := range workflows(a) {
		for _, id := range w.Definition.IDs() {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// workflows are those that can be used in the project, or the built-in ones where there is none.
func workflows(a *app) []config.Workflow {
	req, err := a.request(nil)
	if err != nil || a.engine == nil {
		return config.Default("").Workflows
	}
	views, err := a.engine.Workflows(req)
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

// completeStages completes the values of --stage.
func (a *app) completeStages(cmd *cobra.Command) {
	// The error is for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("stage", a.completeStage)
}
