package setup

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/proof"
)

// Signer returns the command that prints the person's line of a list of signers.
func Signer(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	return &cobra.Command{
		Use:   "signer",
		Short: "Print your line for the list of signers",
		Long: `Print a line with your account and the public key of this machine. On the default branch,
in .claude/bmad-signers, it makes this key count for your decisions in bmad-mcp check and
ssh-keygen. Each machine on which you decide needs its own line.`,
		Example: `  bmad-mcp signer >>.claude/bmad-signers`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := tasks.Project()
			if err != nil {
				return err
			}
			signer, err := app.Trust().Signer(cmd.Context())
			if err != nil {
				return err
			}
			chosen := tasks.Config.SignWith
			keys := []signature.Key{signer.Public()}
			switch {
			case chosen.Touched(): // it signs decisions, and the key of the machine what needs no person
				keys = append(keys, chosen)
			case chosen != "":
				keys[0] = chosen
			}
			var lines, prints []string
			me, err := tasks.Engine().Person(folder)
			if err != nil {
				return err
			}
			for _, key := range keys {
				line, ok := proof.SignerLine(me.Subject, key)
				if !ok {
					return fault.New(fault.NotAllowed, "the account %q cannot be in a list of signers", me.Subject).
						WithHint("use an account whose name has no spaces, commas, quotes or any of * ? !")
				}
				lines, prints = append(lines, line), append(prints, key.Fingerprint())
			}
			if !term.JSON {
				for _, line := range lines {
					term.Say("%s", line)
				}
				fmt.Fprintln(term.Err, term.Lang.Say("The fingerprint of this machine's key, for those who allow it: %s", signer.Public().Fingerprint()))
				return nil
			}
			out := map[string]any{"subject": me.Subject, "key": keys[0], "fingerprint": prints[0], "line": lines[0], "lines": lines, "fingerprints": prints}
			return term.PrintJSON(out)
		},
	}
}
