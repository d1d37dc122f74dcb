package decide

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Task returns the commands for the actions of the tool, for scripts.
func Task(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	task := &cobra.Command{
		Use:   "task",
		Short: "Do what the bmad-task tool does, from a terminal or a script",
		Long: `Each subcommand is an action of the bmad-task tool, on the same runs.
RUN is a session id or a task name; it may be left out when the project has
one active run, or one that you have started. --json prints the tool's reply.`,
		Args: cobra.NoArgs, // a typo has to be an error, without help in its place
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, add := range []func(*taskOptions) *cobra.Command{
		(*taskOptions).startCommand, (*taskOptions).submitCommand, (*taskOptions).answerCommand, (*taskOptions).confirmCommand,
		(*taskOptions).approveCommand, (*taskOptions).statusCommand, (*taskOptions).resumeCommand, (*taskOptions).reopenCommand, (*taskOptions).cancelCommand,
	} {
		task.AddCommand(add(&taskOptions{term: term, tasks: tasks}))
	}
	return task
}

// taskOptions are the arguments of the tool, as flags of one of its actions.
type taskOptions struct {
	term            *terminal.Terminal
	tasks           *app.Tasks
	cmd             *cobra.Command
	stage, feedback string
	revision        int
	withPrompt      bool
	// person marks a command for a person, who sees the next step.
	person bool
	// exitCode has the command end with a special code if the session waits for the person.
	exitCode bool
}

// filler completes a request with the arguments of one action.
type filler func(req *request.Request, args []string) error

// actionCommand makes the command of an action; fill may be nil.
func (o *taskOptions) actionCommand(use, short string, action workflow.Action, fill filler) *cobra.Command {
	o.cmd = &cobra.Command{
		Use: use, Short: short, Args: cobra.MaximumNArgs(1), ValidArgsFunction: o.tasks.CompleteTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := o.term.Person(); err == nil && action != workflow.ActionStart && len(args) > 0 && !strings.Contains(args[0], "=") {
				if args[0], err = o.tasks.Named(cmd.Context(), args[0]); err != nil {
					return err
				}
			}
			req := request.Request{
				Action: action, Address: project.Address{Session: app.TaskName(args)},
				Stage: o.stage, Decision: request.Decision{Feedback: o.feedback},
			}
			if cmd.Flags().Changed("revision") {
				req.Revision = &o.revision
			}
			if fill != nil {
				if err := fill(&req, args); err != nil {
					return err
				}
			}
			out, err := o.tasks.Do(cmd.Context(), req)
			if err != nil {
				return err
			}
			if o.person && !o.term.JSON {
				out.Stages = nil
			}
			err = printReply(o.term, out, o.withPrompt, o.person)
			if err == nil && o.exitCode && isWaiting(out.Reply) {
				return terminal.ErrPending
			}
			return err
		},
	}
	return o.cmd
}

// stageFlag adds the flag of a stage.
func (o *taskOptions) stageFlag(usage string) {
	o.cmd.Flags().StringVar(&o.stage, "stage", "", usage)
	o.tasks.CompleteStages(o.cmd)
}

func (o *taskOptions) feedbackFlag(usage string) {
	o.cmd.Flags().StringVar(&o.feedback, "feedback", "", usage)
}

// revisionFlag adds a flag for the only revision that a script wants to change.
func (o *taskOptions) revisionFlag() {
	o.cmd.Flags().IntVar(&o.revision, "revision", 0, "refuse if the run has another revision by now (status prints it with --json)")
}

func (o *taskOptions) promptFlag() {
	o.cmd.Flags().BoolVar(&o.withPrompt, "prompt", false, "print the role prompt too")
}

func (o *taskOptions) startCommand() *cobra.Command {
	var start request.Start
	fill := func(req *request.Request, args []string) error {
		req.Session, start.Objective = "", strings.Join(args, " ")
		o.term.Speak(start.Objective)
		req.Start = start
		return nil
	}
	cmd := o.actionCommand("start OBJECTIVE…", "Start a run for an objective", workflow.ActionStart, fill)
	cmd.Args, cmd.ValidArgsFunction = cobra.MinimumNArgs(1), nil
	cmd.Flags().StringVar(&start.Workflow, "workflow", "", "the workflow to go through (bmad-mcp workflow list)")
	cmd.Flags().StringVar(&start.TaskName, "name", "", "the name of the run (default: made from the objective)")
	o.tasks.CompleteWorkflows(cmd)
	o.promptFlag()
	return cmd
}

func (o *taskOptions) answerCommand() *cobra.Command {
	var file string
	fill := func(req *request.Request, args []string) error {
		req.Via, req.Session, req.Answers = workflow.ChannelScript, "", map[string]string{}
		for i, arg := range args {
			id, text, ok := strings.Cut(arg, "=")
			switch {
			case ok:
				req.Answers[id] = text
			case i == 0:
				req.Session = arg
			default:
				return fault.New(fault.InvalidArgument, "%q is not an answer", arg).WithHint(`write answers as ID=TEXT, such as q1="yes"`)
			}
		}
		if file == "" {
			return nil
		}
		return o.term.ReadAnswers(o.cmd.Context(), file, req.Answers)
	}
	cmd := o.actionCommand("answer [RUN] [ID=TEXT…]", "Answer the open questions", workflow.ActionAnswer, fill)
	cmd.Args, cmd.ValidArgsFunction = nil, nil
	cmd.Example = `  bmad-mcp task answer q1="Postgres 16" q2="about 200 a day"
  bmad-mcp task answer my-task --answers answers.json`
	cmd.Flags().StringVar(&file, "answers", "", `a JSON file of {"id": "text"}, or - for standard input`)
	o.revisionFlag()
	o.promptFlag()
	return cmd
}

func (o *taskOptions) confirmCommand() *cobra.Command {
	yes := false
	fill := func(req *request.Request, _ []string) error {
		if req.Via = workflow.ChannelScript; o.cmd.Flags().Changed("confirmed") {
			req.Yes = &yes
		}
		return nil
	}
	cmd := o.actionCommand("confirm [RUN]", "Save the document and go on, or ask for another round", workflow.ActionConfirm, fill)
	cmd.Aliases = []string{"confirm_save"}
	cmd.Flags().BoolVar(&yes, "confirmed", true, "false asks for another round")
	o.decisionFlags()
	return cmd
}

func (o *taskOptions) approveCommand() *cobra.Command {
	yes := false
	fill := func(req *request.Request, args []string) error {
		req.Via, req.Yes = workflow.ChannelScript, &yes
		if o.cmd.Flags().Changed("approved") {
			return nil
		}
		return explicitRisk(o.cmd, o.term, o.tasks, args)
	}
	cmd := o.actionCommand("approve [RUN]", "Approve a sprint plan, or accept the risk of failed work; or send it back",
		workflow.ActionApprove, fill)
	cmd.Flags().BoolVar(&yes, "approved", true, "false sends it back")
	o.decisionFlags()
	return cmd
}

func (o *taskOptions) decisionFlags() {
	o.feedbackFlag("what to change, or why")
	o.stageFlag("refuse unless the run is at this stage")
	o.revisionFlag()
	o.promptFlag()
}

// explicitRisk refuses a bare approve of failed work, because a risk has to be accepted in so many words.
func explicitRisk(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, args []string) error {
	s, err := tasks.Session(cmd, args)
	if err != nil {
		return err
	}
	st, _ := s.Definition().Stage(s.CurrentStage)
	if s.CurrentState == workflow.AwaitingApproval && st.Gate == workflow.GateVerdict {
		role := term.Lang.Word(st.Role)
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

// asScript marks a decision as made by a script.
func asScript(req *request.Request, _ []string) error {
	req.Via = workflow.ChannelScript
	return nil
}

func (o *taskOptions) reopenCommand() *cobra.Command {
	cmd := o.actionCommand("reopen [RUN] --stage STAGE", "Go back to an earlier stage", workflow.ActionReopen, asScript)
	o.stageFlag("the stage to go back to")
	o.feedbackFlag("the changes you want")
	o.revisionFlag()
	o.promptFlag()
	return cmd
}

func (o *taskOptions) cancelCommand() *cobra.Command {
	cmd := o.actionCommand("cancel [RUN]", "End a run for good; nothing is deleted", workflow.ActionCancel, asScript)
	o.feedbackFlag("why")
	o.revisionFlag()
	return cmd
}

func (o *taskOptions) resumeCommand() *cobra.Command {
	o.withPrompt = true
	return o.actionCommand("resume [RUN]", "Print the full briefing of the current stage again", workflow.ActionResume, nil)
}

func (o *taskOptions) statusCommand() *cobra.Command {
	var status request.Status
	var changes *feed.Feed
	fill := func(req *request.Request, _ []string) error {
		if req.Status = status; changes != nil {
			req.Hold = changes.Await
		}
		return nil
	}
	cmd := o.actionCommand("status [RUN]", "Show where a run stands, or list them", workflow.ActionStatus, fill)
	act := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if status.Wait > 0 {
			changes = o.tasks.Engine().Projects().NewFeed(feed.Options{Now: o.tasks.Engine().Clock, Log: o.tasks.Log})
			defer changes.Close()
		}
		return act(cmd, args)
	}
	cmd.Flags().StringVar(&status.View, "view", "", "also show: session, history, diff (diff:PATH for one file), sessions, workflow, or an artifact by its stage or file name")
	cmd.Flags().IntVar(&status.Wait, "wait", 0, "wait so many seconds, at most 50, for a pending decision or answer of the human")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "end with exit code 6 while a decision or answer of the human is pending")
	return cmd
}

// isWaiting reports whether the session of a reply, or a listed one, waits for the human.
func isWaiting(r *reply.Reply) bool {
	return r.State.WaitsForHuman() || slices.ContainsFunc(r.Sessions, func(s reply.SessionView) bool { return s.State.WaitsForHuman() })
}
