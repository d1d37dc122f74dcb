package cli

import (
	"github.com/spf13/cobra"

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
