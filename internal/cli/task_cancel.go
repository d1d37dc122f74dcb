package cli

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func cancelCommand(a *app) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "cancel [TASK]",
		Short: "End a session for good; nothing is deleted",
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd, request.Request{Action: workflow.ActionCancel,
				Address: project.Address{Session: taskName(args)}, Decision: request.Decision{Feedback: f.feedback},
				Revision: f.wantedRevision(cmd)}, false)
		},
	}
	revisionFlag(cmd, &f)
	cmd.Flags().StringVar(&f.feedback, "feedback", "", "why")
	return cmd
}
