package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func graphCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "graph",
		Short: "Print the state diagram, as mermaid",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.out, workflow.Graph())
			return err
		},
	}
}
