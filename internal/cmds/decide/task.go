package decide

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Task returns the commands that do what the tool does, for scripts.
func Task(a *app.App) *cobra.Command {
	task := &cobra.Command{
		Use:   "task",
		Short: "Do what the bmad-task tool does, from a terminal or a script",
		Long: `Each subcommand is an action of the bmad-task tool, on the same sessions.
TASK is a session id or a task name; it may be left out when the project has
exactly one active session. --json prints the tool's reply.

` + terminal.ExitHelp,
		Args: cobra.NoArgs, // so that a typo is an error and not the help
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	task.AddCommand(startCommand(a), submitCommand(a), answerCommand(a), confirmCommand(a), approveCommand(a),
		plainCommand(a, workflow.ActionStatus, "Show where a session stands, or list them"),
		plainCommand(a, workflow.ActionResume, "Print the full briefing of the current stage again"),
		reopenCommand(a), cancelCommand(a))
	return task
}

func plainCommand(a *app.App, action workflow.Action, short string) *cobra.Command {
	var exitCode bool
	var view string
	var wait int
	cmd := &cobra.Command{
		Use:   string(action) + " [TASK]",
		Short: short,
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.CompleteTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := request.Request{Action: action, Address: project.Address{Session: app.TaskName(args)}, Status: request.Status{View: view, Wait: wait}}
			if wait > 0 {
				changes := feed.New(feed.Options{Now: a.Engine().Clock, Log: a.Log})
				defer changes.Close()
				req.Hold = changes.Await
			}
			if !exitCode {
				return act(a, cmd, req, action == workflow.ActionResume)
			}
			out, err := a.Do(cmd.Context(), req)
			if err == nil {
				err = printReply(a, out, false)
			}
			if err == nil && waits(out.Reply) {
				return terminal.ErrPending
			}
			return err
		},
	}
	if action == workflow.ActionStatus {
		cmd.Flags().StringVar(&view, "view", "", "also show: session, history, sessions, workflow, or an artifact by its stage or file name")
		cmd.Flags().IntVar(&wait, "wait", 0, "wait so many seconds, at most 50, for a pending decision or answer of the human")
		cmd.Flags().BoolVar(&exitCode, "exit-code", false, "end with exit code 6 while a decision or answer of the human is pending")
	}
	return cmd
}
