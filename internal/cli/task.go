package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bmad-mcp/internal/engine"
	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/workflow"
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
	dir, err := a.project()
	if err != nil {
		return err
	}
	req.By = "terminal"
	if a.cwd != "" || req.Action == workflow.ActionStart {
		req.Cwd = dir
	} else {
		req.Places = []string{dir}
	}
	reply, err := a.engine.Do(cmd.Context(), req)
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

func (a *app) startCommand() *cobra.Command {
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

func promptFlag(cmd *cobra.Command, f *taskFlags) {
	cmd.Flags().BoolVar(&f.withPrompt, "prompt", false, "print the role prompt too")
}

func (a *app) submitCommand() *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "submit [TASK] --stage STAGE",
		Short: "Hand in the current stage's document",
		Example: `  bmad-mcp task submit --stage po --claude-result-path docs/prd.md
  bmad-mcp task submit my-task --stage dev --sprints 1,2 --codex-result - < report.md`,
		Args: cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := engine.Request{Action: workflow.ActionSubmit, SessionID: taskName(args), Stage: f.stage, Sprints: f.sprints}
			for _, r := range []struct {
				engine     workflow.Engine
				name       string
				text, path string
			}{{workflow.Claude, "claude-result", f.claude, f.claudePath}, {workflow.Codex, "codex-result", f.codex, f.codexPath}} {
				if !cmd.Flags().Changed(r.name) && !cmd.Flags().Changed(r.name+"-path") {
					continue
				}
				if r.text == "-" {
					data, err := a.readAll(cmd.Context())
					if err != nil {
						return err
					}
					r.text = string(data)
				}
				req.Results = append(req.Results, engine.Result{Engine: r.engine, Text: r.text, Path: fromHere(r.path)})
			}
			return a.act(cmd, req, f.withPrompt)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.stage, "stage", "", "the session's current stage")
	flags.StringVar(&f.claude, "claude-result", "", "the document as text, or - for standard input")
	flags.StringVar(&f.codex, "codex-result", "", "the same, written by Codex")
	flags.StringVar(&f.claudePath, "claude-result-path", "", "a file inside the project that holds it")
	flags.StringVar(&f.codexPath, "codex-result-path", "", "the same, written by Codex")
	flags.IntSliceVar(&f.sprints, "sprints", nil, "numbers of the sprints built (dev; default: all open ones)")
	promptFlag(cmd, &f)
	completeStages(cmd)
	return cmd
}

// completeTasks completes the task names of the project in a shell.
func (a *app) completeTasks(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || a.setUp() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, err := a.project()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	sessions, _, _, err := a.engine.Sessions(cmd.Context(), engine.Request{Cwd: dir})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, s := range sessions {
		names = append(names, cobra.CompletionWithDesc(s.TaskName, string(s.CurrentStage)+", "+string(s.CurrentState)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// fromHere makes a path that exists from the shell's folder absolute; any other
// is left to be found from the project.
func fromHere(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if _, err := os.Lstat(full); err != nil {
		return path
	}
	return full
}

// readAll reads standard input until it ends or ctx does.
func (a *app) readAll(ctx context.Context) ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(a.in)
		done <- read{data, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, fault.New(fault.Storage, "standard input cannot be read: %w", r.err)
		}
		return r.data, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func completeStages(cmd *cobra.Command) {
	// The error is for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("stage", cobra.FixedCompletions(workflow.Default().IDs(), cobra.ShellCompDirectiveNoFileComp))
}

func (a *app) answerCommand() *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "answer [TASK] [ID=TEXT…]",
		Short: "Answer the open questions",
		Example: `  bmad-mcp task answer q1="Postgres 16" q2="about 200 a day"
  bmad-mcp task answer my-task --answers answers.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := engine.Request{Action: workflow.ActionAnswer, Answers: map[string]string{}}
			for i, arg := range args {
				id, text, ok := strings.Cut(arg, "=")
				switch {
				case ok:
					req.Answers[id] = text
				case i == 0:
					req.SessionID = arg
				default:
					return fault.New(fault.InvalidArgument, "%q is no answer", arg).WithHint(`write answers as ID=TEXT, such as q1="yes"`)
				}
			}
			if f.answersFile != "" {
				if err := a.readAnswers(cmd.Context(), f.answersFile, req.Answers); err != nil {
					return err
				}
			}
			return a.act(cmd, req, f.withPrompt)
		},
	}
	cmd.Flags().StringVar(&f.answersFile, "answers", "", `a JSON file of {"id": "text"}, or - for standard input`)
	promptFlag(cmd, &f)
	return cmd
}

func (a *app) readAnswers(ctx context.Context, name string, into map[string]string) error {
	var data []byte
	var err error
	if name == "-" {
		if data, err = a.readAll(ctx); err != nil {
			return err
		}
	} else {
		data, err = os.ReadFile(name) //nolint:gosec // the person at the terminal names it
	}
	if err != nil {
		return fault.New(fault.NotFound, "the answers cannot be read: %w", err)
	}
	if err := json.Unmarshal(data, &into); err != nil {
		return fault.New(fault.InvalidArgument, "the answers in %s are no JSON object of texts: %w", name, err).
			WithHint(`write {"q1": "text", "q2": "text"}`)
	}
	return nil
}

func (a *app) confirmCommand() *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:     "confirm [TASK]",
		Aliases: []string{"confirm_save"},
		Short:   "Save the document and go on, or ask for another round",
		Args:    cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := engine.Request{Action: workflow.ActionConfirm, SessionID: taskName(args), Stage: f.stage, Feedback: f.feedback}
			if cmd.Flags().Changed("confirmed") {
				req.Confirmed = &f.confirmed
			}
			return a.act(cmd, req, f.withPrompt)
		},
	}
	cmd.Flags().BoolVar(&f.confirmed, "confirmed", true, "false asks for another round")
	decisionFlags(cmd, &f)
	return cmd
}

func (a *app) approveCommand() *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "approve [TASK]",
		Short: "Approve a sprint plan, or accept the risk of failed work; or send it back",
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := engine.Request{Action: workflow.ActionApprove, SessionID: taskName(args), Stage: f.stage, Approved: &f.approved, Feedback: f.feedback}
			if !cmd.Flags().Changed("approved") {
				if err := a.explicitRisk(cmd, args); err != nil {
					return err
				}
			}
			return a.act(cmd, req, f.withPrompt)
		},
	}
	cmd.Flags().BoolVar(&f.approved, "approved", true, "false sends it back")
	decisionFlags(cmd, &f)
	return cmd
}

// explicitRisk refuses a bare approve of failed work: a risk is accepted in so many words.
func (a *app) explicitRisk(cmd *cobra.Command, args []string) error {
	s, _, err := a.session(cmd, args)
	if err != nil {
		return err
	}
	st, _ := workflow.Default().Stage(s.CurrentStage)
	if s.CurrentState == workflow.AwaitingApproval && st.Gate == workflow.GateVerdict {
		return fault.New(fault.InvalidArgument, "the %s failed this work; approve needs --approved or --approved=false", st.Role).
			WithHint("--approved accepts the risk and goes on; --approved=false sends the work back to dev")
	}
	return nil
}

func decisionFlags(cmd *cobra.Command, f *taskFlags) {
	cmd.Flags().StringVar(&f.feedback, "feedback", "", "what to change, or why")
	cmd.Flags().StringVar(&f.stage, "stage", "", "refuse unless the session stands at this stage")
	promptFlag(cmd, f)
	completeStages(cmd)
}

func (a *app) plainCommand(action workflow.Action, short string) *cobra.Command {
	return &cobra.Command{
		Use:   string(action) + " [TASK]",
		Short: short,
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd, engine.Request{Action: action, SessionID: taskName(args)}, action == workflow.ActionResume)
		},
	}
}

func (a *app) reopenCommand() *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "reopen [TASK] --stage STAGE",
		Short: "Go back to an earlier stage",
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd, engine.Request{Action: workflow.ActionReopen, SessionID: taskName(args), Stage: f.stage, Feedback: f.feedback}, f.withPrompt)
		},
	}
	cmd.Flags().StringVar(&f.stage, "stage", "", "the stage to go back to")
	cmd.Flags().StringVar(&f.feedback, "feedback", "", "what is to change")
	promptFlag(cmd, &f)
	completeStages(cmd)
	return cmd
}

func (a *app) cancelCommand() *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "cancel [TASK]",
		Short: "End a session for good; nothing is deleted",
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd, engine.Request{Action: workflow.ActionCancel, SessionID: taskName(args), Feedback: f.feedback}, false)
		},
	}
	cmd.Flags().StringVar(&f.feedback, "feedback", "", "why")
	return cmd
}
