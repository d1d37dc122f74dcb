package look

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Graph returns the command that draws a run.
func Graph(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	return tasks.OfTask(&cobra.Command{
		Use:   "graph",
		Short: "Draw a run with its rounds, or the state diagram, as mermaid",
		Long: `With TASK: the stages of that run, how many rounds each has had and with which
result, and the steps between them. Without: the states of a stage, which are the
same in every workflow. The stages of a workflow: bmad-mcp workflow graph.

` + terminal.ExitHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := workflow.Graph()
			if len(args) > 0 {
				s, err := tasks.Session(cmd, args)
				if err != nil {
					return err
				}
				text = s.Graph()
			}
			_, err := fmt.Fprint(term.Out, text)
			return err
		},
	})
}
