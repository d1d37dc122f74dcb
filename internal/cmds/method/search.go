package method

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
)

func searchCommand(a *app.App) *cobra.Command {
	var table bool
	cmd := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find agents, workflows and tasks of the installed BMAD method",
		Long: `Finds agents, workflows and tasks by the words of their names, titles and descriptions,
the best first. The list is a table on a terminal, and JSON elsewhere or with --json.

` + terminal.ExitHelp,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.Shelf(cmd.Context())
			if err != nil {
				return err
			}
			page, err := s.Search(strings.Join(args, " "), "")
			if err != nil {
				return err
			}
			if !table && !a.ForPeople() {
				return a.PrintJSON(page)
			}
			if len(page.Results) == 0 {
				a.Say("Nothing has these words. Try fewer, or list: bmad-mcp method agents, bmad-mcp method workflows.")
				return nil
			}
			var rows [][]string
			for _, h := range page.Results {
				rows = append(rows, []string{string(h.Kind), h.Full(), h.Title, terminal.OneLine(h.Description)})
			}
			return a.Table(a.Header("KIND\tNAME\tTITLE\tWHAT IT IS"), rows)
		},
	}
	cmd.Flags().BoolVar(&table, "table", false, "print the table also where the output is not a terminal")
	return cmd
}
