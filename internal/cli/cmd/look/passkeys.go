package look

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Passkeys returns the commands of passkeys.
func Passkeys(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "passkeys",
		Short: "List or remove the passkeys that sign your decisions in the dashboard",
		Long: `A passkey signs a decision in the dashboard, after its device has asked for your PIN,
finger or face. It signs the run, its revision, the hash of the document, the choice,
your words and comments: bmad-mcp log --verify checks them against the signature again.
Answers to questions are kept by the signatures of the history.

Passkeys are added in the dashboard. The first one needs your word at a terminal too, a
later one the signature of one in use. A removed passkey signs nothing any more; its
earlier signatures can still be checked.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listPasskeys(term, tasks) },
	}
	cmd.AddCommand(
		terminal.Subcommand("remove ID", "Take a passkey out of use, by its name or the beginning of its id", cobra.ExactArgs(1),
			func(ctx context.Context, args []string) error { return removePasskey(ctx, term, tasks, args[0]) }),
	)
	return cmd
}

// openPasskeys returns the person's passkeys, to list and to check with.
func openPasskeys(tasks *app.Tasks) (*passkey.Keys, error) {
	return passkey.New(passkey.Options{Folder: app.StateFolder(), Now: tasks.Engine().Clock})
}

func listPasskeys(term *terminal.Terminal, tasks *app.Tasks) error {
	keys, err := openPasskeys(tasks)
	if err != nil {
		return err
	}
	list, err := keys.List()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, key := range list {
		by := term.Lang.Say("allowed at a terminal")
		if id, ok := key.Allower(); ok {
			by = term.Lang.Say("allowed by %s", id)
		}
		rows = append(rows, []string{key.Short(), key.Name, term.Since(key.Added), by, term.Since(key.Used)})
	}
	return term.List(term.JSON, map[string]any{"passkeys": append([]passkey.Key{}, list...)},
		lang.T("None. A passkey is added in the dashboard: bmad-mcp dashboard."), term.Header("ID\tNAME\tADDED\tBY\tUSED"), rows)
}

// removePasskey takes a passkey out of use for the person at this terminal.
func removePasskey(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, name string) error {
	if _, err := term.Person(); err != nil {
		return err
	}
	keys, err := openPasskeys(tasks)
	if err != nil {
		return err
	}
	key, err := keys.Remove(ctx, name)
	if err != nil {
		return err
	}
	return term.Conclude(map[string]any{"removed": key},
		"The passkey %q is removed: it signs nothing any more. Delete it on its device too.", key.Name)
}

// signatures are the checks of a session's decisions signed by passkeys.
type signatures []passkey.Checked

func checkSignatures(tasks *app.Tasks, s *workflow.Session) (signatures, error) {
	keys, err := openPasskeys(tasks)
	if err != nil {
		return nil, err
	}
	return keys.Verify(s)
}

// hasFailed reports whether the signature of an entry, counted from 1, does not hold.
func (s signatures) hasFailed(entry int) bool {
	for _, c := range s {
		if c.Entry == entry {
			return c.Status.Fails()
		}
	}
	return false
}

// addTo adds the signatures, if any, to the JSON about a session.
func (s signatures) addTo(out map[string]any) {
	if len(s) > 0 {
		out["passkeys"] = s
	}
}

// verdictAfter returns the error of a verification of the signatures. A person has accepted the entries up to
// adopted.
func (s signatures) verdictAfter(adopted int) error {
	var err error
	for _, c := range s {
		switch {
		case c.Entry <= adopted:
		case c.Status.Fails():
			return terminal.ErrReported
		case c.Status != passkey.Holds:
			err = terminal.ErrUnvouched
		}
	}
	return err
}

// printSignatures prints the result of each signature; valid ones only if all is true.
func (s signatures) printSignatures(term *terminal.Terminal, all bool) {
	var good []string
	for _, c := range s {
		switch c.Status {
		case passkey.Holds:
			good = append(good, term.Lang.Say("entry %d by %q", c.Entry, c.Passkey))
		case passkey.UnknownKey, passkey.RemovedKey:
			if all {
				term.Say("Entry %d was signed with a passkey that is not in use here: its text is as it was signed, and nothing shows by whom.", c.Entry)
			}
		case passkey.Missing:
			term.Say("Entry %d says that a passkey signed it, and has no signature: it was changed.", c.Entry)
		case passkey.Changed:
			term.Say("Entry %d was changed: the passkey signed another decision, document or words.", c.Entry)
		default:
			term.Say("Entry %d was changed: its signature is not one of a passkey of yours.", c.Entry)
		}
	}
	if all && len(good) > 0 {
		term.Say("Signed with a passkey, and as signed: %s.", strings.Join(good, term.Lang.Say(", ")))
	}
}
