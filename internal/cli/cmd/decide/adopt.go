package decide

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
)

// adoptOptions are those of adopt.
type adoptOptions struct {
	*app.App
	restore bool
}

// Adopt returns the command that accepts what other hands have changed.
func Adopt(a *app.App) *cobra.Command {
	o := adoptOptions{App: a}
	cmd := a.OfTask(&cobra.Command{
		Use:   "adopt",
		Short: "Accept a session or an approved text that was changed by other hands, as it is",
		Long: `Shows how a session differs from this machine's record of it, and from which
entry on, or which approved texts were edited or deleted since, and asks whether to
continue from it as it is. Your answer becomes an entry of the history, with the problem;
log keeps showing it. Unvouched entries stay unvouched. Under the policy strict, every
other action is refused before that.

Only a person at a terminal can do it, not a script. To undo the change instead, put
.bmad-task/session-<id>.json back from a backup, and approved texts with --restore, which
keeps the edited one beside it and needs no person. A session that was copied from
another folder is adopted the same way. Exit code 5: there is nothing to adopt.

` + terminal.ExitHelp,
		RunE: o.run,
	})
	cmd.Flags().BoolVar(&o.restore, "restore", false, "put the approved texts back as they were approved")
	return cmd
}

func (o *adoptOptions) run(cmd *cobra.Command, args []string) error {
	at, err := o.Address(args)
	if err != nil {
		return err
	}
	req := request.Request{Address: at, Caller: request.Caller{By: "terminal"}}
	req.Restore = o.restore
	if !o.restore {
		ask, err := o.Person()
		if err != nil {
			return err
		}
		req.Ask = ask
	}
	out, err := o.Engine().Adopt(cmd.Context(), req)
	o.SpeakAs(cmd.Context(), req.Address, out, err)
	if err != nil {
		return err
	}
	if err := printReply(o.App, out, false, o.Pretty()); err != nil {
		return err
	}
	if !o.JSON && out.State.Active() {
		o.Say("\nNow tell your assistant to go on; it sees the session with status.")
	}
	return nil
}
