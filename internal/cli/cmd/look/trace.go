package look

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/trace"
)

// followRun returns the trace of the run in the arguments.
func followRun(cmd *cobra.Command, tasks *app.Tasks, args []string) (trace.Trace, error) {
	at, err := tasks.Address(args)
	if err != nil {
		return trace.Trace{}, err
	}
	out, _, err := tasks.Engine().Trace(cmd.Context(), at)
	return out, err
}

// traced is the JSON of report --trace.
type traced struct {
	SessionID string `json:"session_id"`
	TaskName  string `json:"task_name"`
	*trace.Trace
}

// printTrace prints the table from the requirements to the evidence, then the holes.
func printTrace(cmd *cobra.Command, term *terminal.Terminal, s *workflow.Session, t *trace.Trace) error {
	if term.JSON {
		return term.PrintJSON(traced{s.SessionID, s.TaskName, t})
	}
	return term.Page(cmd.Context(), func() error {
		var rows [][]string
		for _, line := range t.Lines() {
			var row []string
			for _, c := range t.Cells(term.Lang, line) {
				if c.IsHole {
					c.Text = "✗ " + c.Text
				}
				row = append(row, c.Text)
			}
			rows = append(rows, row)
		}
		if len(rows) > 0 {
			if err := term.Table(trace.ColumnNames(term.Lang), rows); err != nil {
				return err
			}
			term.Printf("\n")
		}
		for _, said := range t.Sentences(term.Lang) {
			term.Styled(terminal.Red, "✗ "+said)
		}
		for _, u := range t.Unknown {
			term.Printf("%s\n", u.Text(term.Lang))
		}
		return nil
	})
}
