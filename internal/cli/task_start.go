package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func startCommand(a *app) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "start OBJECTIVE…",
		Short: "Start a session for an objective",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.cwd == "" { // a new session is for this folder, whatever lies above it
				here, err := os.Getwd()
				if err != nil {
					return err
				}
				a.cwd = here
			}
			return a.act(cmd, engine.Request{Action: workflow.ActionStart, Objective: strings.Join(args, " ")}, f.withPrompt)
		},
	}
	promptFlag(cmd, &f)
	return cmd
}
