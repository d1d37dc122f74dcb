// Package decide has the commands for a person, or a person's script, to move a session on.
package decide

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// gateOptions are the flags of a decision.
type gateOptions struct {
	reject, yes bool
	// edited accepts the edited draft without a question.
	edited   bool
	feedback string
	revision int
}

// Gate returns the command for a decision of the person at this terminal: confirm and approve ask for any
// decision, reject only for the words.
func Gate(term *terminal.Terminal, tasks *app.Tasks, name, short string) *cobra.Command {
	o := gateOptions{reject: name == "reject"}
	cmd := tasks.OfTask(&cobra.Command{
		Use:   name,
		Short: short,
		Long: short + `.

Shows what is waiting and the facts about it, opens the draft in $PAGER on request, and
asks for your decision. It is recorded as yours, taken at a terminal. Where standard
input is not a terminal it refuses; --yes decides without asking, which counts as a
script's decision and not as yours: a gate under the policy strict does not take it.`,
		RunE: func(cmd *cobra.Command, args []string) error { return runGate(cmd, term, tasks, o, args) },
	})
	cmd.Flags().BoolVar(&o.yes, "yes", false, "decide without asking, for scripts")
	if !o.reject {
		cmd.Flags().BoolVar(&o.edited, "edited", false, "approve the draft as it was edited since it was scored, without asking; at a terminal only")
		cmd.MarkFlagsMutuallyExclusive("yes", "edited")
	}
	cmd.Flags().StringVar(&o.feedback, "feedback", "", "what to change, or why")
	cmd.Flags().IntVar(&o.revision, "revision", 0, "with --yes: refuse if the run has another revision by now")
	return cmd
}

func runGate(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, o gateOptions, args []string) error {
	at, err := tasks.Address(args)
	if err != nil {
		return err
	}
	action, s, err := tasks.Engine().GateAction(cmd.Context(), at)
	term.SpeakOf(s)
	if err != nil {
		return err
	}
	req := request.Request{Action: action, Address: project.Address{Session: s.SessionID}, Revision: &s.Revision}
	yes := !o.reject
	if o.yes {
		if o.reject && visible.Trim(o.feedback) == "" {
			return fault.New(fault.InvalidArgument, "reject --yes needs --feedback").WithHint("name the changes")
		}
		req.Via, req.Feedback = workflow.ChannelScript, o.feedback
		req.Yes = &yes
		if cmd.Flags().Changed("revision") {
			req.Revision = &o.revision
		}
	} else {
		person, err := term.Person()
		if err != nil {
			return err
		}
		person.Reject, person.Words, person.Edited = o.reject, o.feedback, o.edited
		req.Ask = person
		if o.reject {
			req.Yes = &yes
		}
	}
	return runDecision(cmd.Context(), term, tasks, req)
}

// runDecision runs a decision or an answer, and ends with ErrPending if none was given.
func runDecision(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, req request.Request) error {
	out, err := tasks.Do(ctx, req)
	if err != nil {
		return err
	}
	if err := printReply(term, out, false, req.Ask != nil); err != nil {
		return err
	}
	if out.Silence != nil {
		return terminal.ErrPending
	}
	return nil
}

// Answer returns the command that puts the open questions to the person.
func Answer(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	return tasks.OfTask(&cobra.Command{
		Use:   "answer",
		Short: "Answer the open questions yourself, at this terminal",
		Long: `Asks you each open question of a run. An empty line leaves one open, “skip”
skips it. Your answers are recorded as given at a terminal. For scripts: bmad-mcp task answer.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return askHere(cmd, term, tasks, args, workflow.ActionAnswer, "")
		},
	})
}

// askHere runs an action that asks the person at this terminal.
func askHere(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, args []string, action workflow.Action, stage string) error {
	s, err := tasks.Session(cmd, args)
	if err != nil {
		return err
	}
	ask, err := term.Person()
	if err != nil {
		return err
	}
	return runDecision(cmd.Context(), term, tasks, request.Request{Action: action, Address: project.Address{Session: s.SessionID},
		Stage: stage, Revision: &s.Revision, Caller: request.Caller{Ask: ask}})
}

// Leave returns the command for the person at this terminal to move a session away from the present stage.
func Leave(term *terminal.Terminal, tasks *app.Tasks, action workflow.Action, short string) *cobra.Command {
	var stage string
	cmd := tasks.OfTask(&cobra.Command{
		Use:   string(action),
		Short: short,
		Long:  short + ". Asks you before it does. For scripts: bmad-mcp task " + string(action) + ".",
		RunE:  func(cmd *cobra.Command, args []string) error { return askHere(cmd, term, tasks, args, action, stage) },
	})
	if action == workflow.ActionReopen {
		cmd.Flags().StringVar(&stage, "stage", "", "the earlier stage to go back to")
		tasks.CompleteStages(cmd)
	}
	return cmd
}
