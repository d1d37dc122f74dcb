package method

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

func readCommand(term *terminal.Terminal, workspace *app.Workspace, lib library) *cobra.Command {
	return &cobra.Command{
		Use:   "read ADDRESS",
		Short: "Print a file of the installed BMAD method",
		Long: `Prints a file of an installation as it is, byte for byte, by its address: as lists and
replies give it (bmad://_bmad/bmm/config.yaml), or as the path in the project or in the
installation. ?view=resolved after it gives the text with its placeholders filled in.
bmad://config/current is the configuration, bmad://manifests/agents the agents.

` + terminal.ExitHelp,
		Example: `  bmad-mcp method read bmad://config/current
  bmad-mcp method read '.claude/skills/bmad-prd/SKILL.md?view=resolved'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ref, err := catalog.ParseRef(args[0]); err == nil && ref.Cwd != "" {
				workspace.Cwd = ref.Cwd // the address names the project itself
			}
			s, err := lib.Shelf(cmd.Context())
			if err != nil {
				return err
			}
			r, err := s.Read(args[0], 0)
			if err != nil {
				return err
			}
			if term.JSON {
				return term.PrintJSON(map[string]any{"uri": r.URI, "mime_type": r.MIMEType, "size": len(r.Data), "text": string(r.Data)})
			}
			out := term.Raw
			if terminal.IsTerminal(term.Raw) {
				out = term.Out // text of a repository must not move the cursor
			}
			_, err = out.Write(r.Data)
			return err
		},
	}
}
