package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// taskFlags are the arguments of the tool, as flags.
type taskFlags struct {
	stage, feedback       string
	claude, codex         string
	claudePath, codexPath string
	answersFile           string
	sprints               []int
	confirmed, approved   bool
	withPrompt            bool
	revision              int
}

func (a *app) taskCommand() *cobra.Command {
	task := &cobra.Command{
		Use:   "task",
		Short: "Do what the bmad-task tool does, from a terminal or a script",
		Long: `Each subcommand is an action of the bmad-task tool, on the same sessions.
TASK is a session id or a task name; it may be left out when the project has
exactly one active session. --json prints the tool's reply.

` + exitHelp,
		Args: cobra.NoArgs, // so that a typo is an error and not the help
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	task.AddCommand(a.startCommand(), a.submitCommand(), a.answerCommand(), a.confirmCommand(), a.approveCommand(),
		a.plainCommand(workflow.ActionStatus, "Show where a session stands, or list them"),
		a.plainCommand(workflow.ActionResume, "Print the full briefing of the current stage again"),
		a.reopenCommand(), a.cancelCommand())
	return task
}

// act runs one action and prints its reply.
func (a *app) act(cmd *cobra.Command, req engine.Request, withPrompt bool) error {
	if req.Action == workflow.ActionConfirm || req.Action == workflow.ActionApprove || req.Action == workflow.ActionAnswer {
		req.Via = workflow.ChannelScript
	}
	reply, err := a.do(cmd.Context(), req)
	if err != nil {
		return err
	}
	return a.printReply(reply, withPrompt)
}

func taskName(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// revisionFlag lets a script change only what it has looked at.
func revisionFlag(cmd *cobra.Command, f *taskFlags) {
	cmd.Flags().IntVar(&f.revision, "revision", 0, "refuse if the session has another revision by now (status prints it with --json)")
}

// wanted returns the revision that was asked for, or nil.
func (f *taskFlags) wanted(cmd *cobra.Command) *int {
	if cmd.Flags().Changed("revision") {
		return &f.revision
	}
	return nil
}

func promptFlag(cmd *cobra.Command, f *taskFlags) {
	cmd.Flags().BoolVar(&f.withPrompt, "prompt", false, "print the role prompt too")
}

// waits reports whether a session, or one of those listed, waits for the human.
func waits(r *engine.Reply) bool {
	return r.State.WaitsForHuman() || slices.ContainsFunc(r.Sessions, func(s engine.SessionView) bool { return s.State.WaitsForHuman() })
}

func (a *app) plainCommand(action workflow.Action, short string) *cobra.Command {
	var exitCode bool
	var view string
	cmd := &cobra.Command{
		Use:   string(action) + " [TASK]",
		Short: short,
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := engine.Request{Action: action, SessionID: taskName(args), View: view}
			if !exitCode {
				return a.act(cmd, req, action == workflow.ActionResume)
			}
			reply, err := a.do(cmd.Context(), req)
			if err == nil {
				err = a.printReply(reply, false)
			}
			if err == nil && waits(reply) {
				return errPending
			}
			return err
		},
	}
	if action == workflow.ActionStatus {
		cmd.Flags().StringVar(&view, "view", "", "show besides: session, history, sessions, workflow, or an artifact by its stage or file name")
		cmd.Flags().BoolVar(&exitCode, "exit-code", false, "end with exit code 6 while a decision or answer of the human is due")
	}
	return cmd
}
