package look

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// Sync returns the command that writes the documents missing in a checkout.
func Sync(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	return &cobra.Command{
		Use:   "sync",
		Short: "Write the documents that this checkout lacks",
		Long: `Writes the saved documents of all runs, below .claude/specs, and the working copies of
those under way, as far as this checkout lacks them. One that people have edited stays as
it is, and is named.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := tasks.Project()
			if err != nil {
				return err
			}
			done, err := tasks.Engine().Sync(cmd.Context(), project.Address{Cwd: dir})
			if err != nil {
				return err
			}
			if term.JSON {
				if err = term.PrintJSON(done); err == nil && len(done.Failed) > 0 {
					err = terminal.ErrReported
				}
				return err
			}
			for _, name := range done.Written {
				term.Say("written: %s", name)
			}
			for _, name := range done.Edited {
				term.Say("edited, left as it is: %s", name)
			}
			if len(done.Written)+len(done.Failed) == 0 {
				term.Say("Nothing is missing.")
			}
			if len(done.Failed) > 0 {
				err = fault.New(fault.Storage, "%s cannot be written", done.Failed[0]).WithHint("make room for it, and repeat the command")
			}
			return err
		},
	}
}
