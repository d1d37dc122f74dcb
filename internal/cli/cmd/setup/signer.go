package setup

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/proof"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Signer returns the command that prints the person's line of a list of signers. who says who they are in a folder.
func Signer(term *terminal.Terminal, workspace *app.Workspace, who func(folder string) workflow.Person) *cobra.Command {
	return &cobra.Command{
		Use:   "signer",
		Short: "Print your line for the list of signers",
		Long: `Print a line with your account and the public key of this machine. On the default branch,
in .claude/bmad-signers, it makes this key count for your decisions in bmad-mcp check and
ssh-keygen. Each machine on which you decide needs its own line.

` + terminal.ExitHelp,
		Example: `  bmad-mcp signer >>.claude/bmad-signers`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := workspace.Project()
			if err != nil {
				return err
			}
			signer, err := app.Trust().Signer(cmd.Context())
			if err != nil {
				return err
			}
			key := signer.Public()
			me := who(folder)
			line, ok := proof.SignerLine(me.Subject, key)
			if !ok {
				return fault.New(fault.NotAllowed, "the account %q cannot be in a list of signers", me.Subject).
					WithHint("use an account whose name has no spaces, commas, quotes or any of * ? !")
			}
			if !term.JSON { // beside the line, which is written into a file
				fmt.Fprintln(term.Err, term.Lang.Say("The fingerprint of your key, for those who allow it: %s", key.Fingerprint()))
			}
			return term.Conclude(map[string]any{"subject": me.Subject, "key": key, "fingerprint": key.Fingerprint(), "line": line}, "%s", line)
		},
	}
}
