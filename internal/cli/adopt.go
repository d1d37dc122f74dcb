package cli

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
)

func adoptCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "adopt [TASK]",
		Short: "Accept a session that was changed by other hands, as it is",
		Long: `Shows how a session differs from this machine's record of it, and from which
entry on, and asks whether to continue from it as it is. Your answer becomes an entry of
the history, with the problem; log keeps showing it. Unvouched entries stay unvouched.
Under the policy strict, every other action is refused before that.

Only a person at a terminal can do it, not a script. To undo the change instead, put
.bmad-task/session-<id>.json back from a backup. Exit code 5: there is nothing to adopt.

` + exitHelp,
		Args: cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := a.request(args)
			if err != nil {
				return err
			}
			return runAdopt(a, cmd, req)
		},
	}
}

func runAdopt(a *app, cmd *cobra.Command, req engine.Request) error {
	ask, err := a.terminal(false, "")
	if err != nil {
		return err
	}
	req.By, req.Ask = "terminal", ask
	reply, err := a.engine.Adopt(cmd.Context(), req)
	a.speakAs(cmd.Context(), req, reply, err)
	if err != nil {
		return err
	}
	if err := a.printReply(reply, false); err != nil {
		return err
	}
	if !a.asJSON && reply.State.Active() {
		a.say("\nNow tell your assistant to go on; it sees the session with status.")
	}
	return nil
}
