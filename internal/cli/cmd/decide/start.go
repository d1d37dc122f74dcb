package decide

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Start returns the command for a person to start a run.
func Start(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	o := taskOptions{term: term, tasks: tasks, person: true}
	cmd := o.startCommand()
	cmd.Short = "Start a run in this folder"
	cmd.Long = `Starts a run in this folder for what is to be built, and prints where it stands and what
comes next. Without words it asks for them at a terminal. Your assistant goes on with the
run; without an assistant, bmad-mcp run does. For scripts: bmad-mcp task start.`
	cmd.Example = `  bmad-mcp start "Build a sign-in service"
  bmad-mcp start --workflow quick --name footer "Show the version in the footer"`
	cmd.Args = cobra.ArbitraryArgs
	begin := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			person, err := term.Person()
			if err != nil {
				return fault.New(fault.InvalidArgument, "start needs an objective").WithHint("say in one or two sentences what is to be built")
			}
			words, err := person.Line(cmd.Context(), term.Lang.Say("What is to be built? "))
			if err != nil {
				_, err = terminal.AnswerAtEnd(cmd.Context(), err)
				return err
			}
			args = []string{words}
		}
		return begin(cmd, args)
	}
	return cmd
}

// Show returns a function that prints the state of a run, the draft to read, the questions to answer, and the
// person's next command.
func Show(term *terminal.Terminal, tasks *app.Tasks) func(cmd *cobra.Command, args []string) error {
	o := taskOptions{term: term, tasks: tasks, person: true}
	return o.actionCommand("status", "", workflow.ActionStatus, nil).RunE
}
