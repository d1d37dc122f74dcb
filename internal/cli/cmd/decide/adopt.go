package decide

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
)

// Adopt returns the command that accepts changes made by other hands.
func Adopt(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	restore := false
	cmd := tasks.OfTask(&cobra.Command{
		Use:   "adopt",
		Short: "Accept a run or an approved text that was changed by other hands, as it is",
		Long: `Shows how a run differs from this machine's record of it, and from which
entry on, or which approved texts were edited or deleted since, and asks whether to
continue from it as it is. Your answer becomes an entry of the history, with the problem;
log keeps showing it. Entries that are not confirmed stay so. Under the policy strict, every
other action is refused before that.

Only a person at a terminal can do it, not a script. To undo the change instead, put
.bmad-task/session-<id>.json back from a backup, and approved texts with --restore, which
keeps the edited one beside it and needs no person. A run that was copied from
another folder is adopted the same way. Exit code 5: there is nothing to adopt.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAdopt(cmd.Context(), term, tasks, args, restore)
		},
	})
	cmd.Flags().BoolVar(&restore, "restore", false, "put the approved texts back as they were approved")
	return cmd
}

func runAdopt(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, args []string, restore bool) error {
	at, err := tasks.Address(args)
	if err != nil {
		return err
	}
	req := request.Request{Address: at, Caller: request.Caller{By: "terminal"}}
	req.Restore = restore
	if !restore {
		ask, err := term.Person()
		if err != nil {
			return err
		}
		req.Ask = ask
	}
	out, err := tasks.Engine().Adopt(ctx, req)
	tasks.SpeakAs(ctx, req.Address, out, err)
	if err != nil {
		return err
	}
	return printReply(term, out, false, true)
}
