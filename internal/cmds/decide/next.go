package decide

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Start returns the command by which a person starts a run.
func Start(a *app.App) *cobra.Command {
	var start request.Start
	cmd := &cobra.Command{
		Use:   "start OBJECTIVE…",
		Short: "Start a run in this folder, and see the next step",
		Long: `Starts a run in this folder for what is to be built, and prints where it stands and what
comes next. Without words it asks for them at a terminal. Your assistant goes on with the
run; without an assistant, bmad-mcp run does. For scripts: bmad-mcp task start.

` + terminal.ExitHelp,
		Example: `  bmad-mcp start "Build a sign-in service"
  bmad-mcp start --workflow quick --name footer "Show the build number in the footer"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if start.Objective = strings.Join(args, " "); len(args) == 0 {
				person, err := a.Person()
				if err != nil {
					return fault.New(fault.InvalidArgument, "start needs an objective").WithHint("say in one or two sentences what is to be built")
				}
				if start.Objective, err = person.Line(cmd.Context(), a.Lang.Say("What is to be built? ")); err != nil {
					_, err = terminal.AnswerAtEnd(cmd.Context(), err)
					return err
				}
			}
			if err := a.StayHere(); err != nil {
				return err
			}
			a.Speak(start.Objective)
			out, err := a.Do(cmd.Context(), request.Request{Action: workflow.ActionStart, Start: start})
			if err != nil {
				return err
			}
			return printNext(a, out)
		},
	}
	cmd.Flags().StringVar(&start.Workflow, "workflow", "", "the workflow to go through (bmad-mcp workflow list)")
	cmd.Flags().StringVar(&start.TaskName, "name", "", "the task's name (default: made from the objective)")
	a.CompleteWorkflows(cmd)
	return cmd
}

// Next returns the command that shows the next step of a run.
func Next(a *app.App) *cobra.Command {
	return a.OfTask(&cobra.Command{
		Use:   "next",
		Short: "See the next step of a run: what to read, what is asked, what to type",
		Long: `Prints where a run stands, the draft to read, the questions to answer, and the command
that you type next. It changes nothing.

` + terminal.ExitHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := a.Do(cmd.Context(), request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: app.TaskName(args)}})
			if err != nil {
				return err
			}
			return printNext(a, out)
		},
	})
}

// printNext prints a reply as a person needs it who decides what to do next.
func printNext(a *app.App, out engine.Outcome) error {
	if a.JSON {
		return a.PrintJSON(out.Reply)
	}
	if a.Pretty() {
		a.Markdown(out.UserMessage)
	} else {
		fmt.Fprintln(a.Out, terminal.Plain(out.UserMessage))
	}
	a.SayUnreadable(out.Unreadable)
	if next := nextCommands(out.Standing, true); next != "" {
		title := a.Lang.Say("Your assistant goes on with it. Without one, type:")
		if out.State.WaitsForHuman() {
			title = a.Lang.Say("Type next:")
		}
		a.Styled(terminal.Bold, "\n"+title)
		fmt.Fprint(a.Out, next)
	}
	return nil
}
