// Package method has the commands that read the installed BMAD method.
package method

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// Command groups the commands that read the installed BMAD method.
func Command(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "method",
		Short: "List, show and search the agents, workflows and tasks of the installed BMAD method",
		Long: `Reads the BMAD method that is installed in the project, in your home, or in the git
repositories that you have added.

` + terminal.ExitHelp,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(Commands(a)...)
	return cmd
}

// Commands returns the subcommands of method, which have names at the top too.
func Commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{
		itemsCommand(a, catalog.Agent, "agents"),
		itemsCommand(a, catalog.Workflow, "workflows"),
		itemsCommand(a, catalog.Task, "tasks"),
		readCommand(a),
		searchCommand(a),
		sourcesCommand(a),
	}
}
