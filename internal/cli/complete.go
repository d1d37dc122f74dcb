package cli

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// completeStage completes the name of a stage, of any workflow that the project can use.
func (a *app) completeStage(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return stageIDs(a), cobra.ShellCompDirectiveNoFileComp
}

// stageIDs lists the stages of the workflows that the project can use.
func stageIDs(a *app) []string {
	var definitions []*workflow.Definition
	for _, w := range workflows(a) {
		definitions = append(definitions, w.Definition)
	}
	return workflow.IDsOf(workflow.StagesOf(definitions...))
}

// workflows are those that can be used in the project, or the built-in ones where there is none.
func workflows(a *app) []config.Workflow {
	if a.engine == nil { // for a text of help, which every start of the program makes
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

// completeStages completes the values of --stage.
func (a *app) completeStages(cmd *cobra.Command) {
	// The error is for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("stage", a.completeStage)
}
