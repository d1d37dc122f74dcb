package decide

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func startCommand(a *app.App) *cobra.Command {
	var f taskFlags
	var name, task string
	cmd := &cobra.Command{
		Use:   "start OBJECTIVE…",
		Short: "Start a session for an objective",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.StayHere(); err != nil {
				return err
			}
			objective := strings.Join(args, " ")
			a.Speak(objective)
			return act(a, cmd, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: objective, Workflow: name, TaskName: task}}, f.withPrompt)
		},
	}
	cmd.Flags().StringVar(&name, "workflow", "", "the workflow to go through (bmad-mcp workflow list)")
	cmd.Flags().StringVar(&task, "name", "", "the task's name (default: made from the objective)")
	// The error is for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("workflow", a.CompleteWorkflow)
	promptFlag(cmd, &f)
	return cmd
}
