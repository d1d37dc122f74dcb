package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
)

// completeTasks completes the task names of the project in a shell.
func (a *app) completeTasks(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || a.setUp() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, err := a.project()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	sessions, _, _, err := a.engine.Sessions(cmd.Context(), engine.Request{Cwd: dir})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, s := range sessions {
		names = append(names, cobra.CompletionWithDesc(s.TaskName, string(s.CurrentStage)+", "+string(s.CurrentState)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

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
