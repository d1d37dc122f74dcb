// Package method has the commands to read the installed BMAD method.
package method

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/project/sources"
)

// library has the installations of the method, and the git repositories of some.
type library interface {
	Shelf(ctx context.Context) (*method.Snapshot, error)
	Repositories() sources.Repositories
}

// Command returns the commands to read the installed BMAD method.
func Command(term *terminal.Terminal, workspace *app.Workspace, lib library) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "method",
		Short: "List, show and search the agents, workflows and tasks of the installed BMAD method",
		Long: `Reads the BMAD method that is installed in the project, in your home, or in the git
repositories that you have added.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(listCommand(term, lib), showCommand(term, workspace, lib), searchCommand(term, lib), sourcesCommand(term, workspace, lib))
	return cmd
}
