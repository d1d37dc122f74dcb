package decide

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func confirmCommand(a *app.App) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:     "confirm [TASK]",
		Aliases: []string{"confirm_save"},
		Short:   "Save the document and go on, or ask for another round",
		Args:    cobra.MaximumNArgs(1),

		ValidArgsFunction: a.CompleteTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := request.Request{Action: workflow.ActionConfirm,
				Address: project.Address{Session: app.TaskName(args)}, Stage: f.stage,
				Decision: request.Decision{Feedback: f.feedback}, Revision: f.wantedRevision(cmd)}
			if cmd.Flags().Changed("confirmed") {
				req.Yes = &f.confirmed
			}
			return act(a, cmd, req, f.withPrompt)
		},
	}
	cmd.Flags().BoolVar(&f.confirmed, "confirmed", true, "false asks for another round")
	decisionFlags(a, cmd, &f)
	return cmd
}

func approveCommand(a *app.App) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "approve [TASK]",
		Short: "Approve a sprint plan, or accept the risk of failed work; or send it back",
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.CompleteTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := request.Request{Action: workflow.ActionApprove,
				Address: project.Address{Session: app.TaskName(args)}, Stage: f.stage,
				Decision: request.Decision{Yes: &f.approved, Feedback: f.feedback}, Revision: f.wantedRevision(cmd)}
			if !cmd.Flags().Changed("approved") {
				if err := explicitRisk(a, cmd, args); err != nil {
					return err
				}
			}
			return act(a, cmd, req, f.withPrompt)
		},
	}
	cmd.Flags().BoolVar(&f.approved, "approved", true, "false sends it back")
	decisionFlags(a, cmd, &f)
	return cmd
}

// explicitRisk refuses a bare approve of failed work: a risk is accepted in so many words.
func explicitRisk(a *app.App, cmd *cobra.Command, args []string) error {
	s, err := a.Session(cmd, args)
	if err != nil {
		return err
	}
	st, _ := s.Definition().Stage(s.CurrentStage)
	if s.CurrentState == workflow.AwaitingApproval && st.Gate == workflow.GateVerdict {
		role := a.Lang.Word(st.Role)
		refusal := fault.New(fault.InvalidArgument, "the %s failed this work; approve needs --approved or --approved=false", role)
		switch rec := s.Current(); {
		case rec.Spent():
			refusal = fault.New(fault.InvalidArgument, "the report of the %s has no verdict; approve needs --approved or --approved=false", role)
		case rec.Doubted():
			refusal = fault.New(fault.InvalidArgument, "the %s reports a pass that something in the report speaks against; approve needs --approved or --approved=false", role)
		}
		if !s.FailedWork(st) {
			return refusal.WithHint("--approved accepts the risk and goes on; --approved=false asks for another report")
		}
		return refusal.WithHint("--approved accepts the risk and goes on; --approved=false sends the work back to %s", st.SendsBackTo)
	}
	return nil
}

func decisionFlags(a *app.App, cmd *cobra.Command, f *taskFlags) {
	cmd.Flags().StringVar(&f.feedback, "feedback", "", "what to change, or why")
	cmd.Flags().StringVar(&f.stage, "stage", "", "refuse unless the session is at this stage")
	revisionFlag(cmd, f)
	promptFlag(cmd, f)
	a.CompleteStages(cmd)
}
