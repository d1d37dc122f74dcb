package decide

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func reopenCommand(a *app.App) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "reopen [TASK] --stage STAGE",
		Short: "Go back to an earlier stage",
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.CompleteTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			return act(a, cmd, request.Request{Action: workflow.ActionReopen,
				Address: project.Address{Session: app.TaskName(args)}, Stage: f.stage,
				Decision: request.Decision{Feedback: f.feedback}, Revision: f.wantedRevision(cmd)}, f.withPrompt)
		},
	}
	revisionFlag(cmd, &f)
	cmd.Flags().StringVar(&f.stage, "stage", "", "the stage to go back to")
	cmd.Flags().StringVar(&f.feedback, "feedback", "", "the changes you want")
	promptFlag(cmd, &f)
	a.CompleteStages(cmd)
	return cmd
}
