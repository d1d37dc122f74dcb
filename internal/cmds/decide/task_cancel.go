package decide

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func cancelCommand(a *app.App) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "cancel [TASK]",
		Short: "End a session for good; nothing is deleted",
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.CompleteTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			return act(a, cmd, request.Request{Action: workflow.ActionCancel,
				Address: project.Address{Session: app.TaskName(args)}, Decision: request.Decision{Feedback: f.feedback},
				Revision: f.wantedRevision(cmd)}, false)
		},
	}
	revisionFlag(cmd, &f)
	cmd.Flags().StringVar(&f.feedback, "feedback", "", "why")
	return cmd
}
