package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/agents"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/decide"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/look"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/method"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/remember"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/run"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/serve"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/setup"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/start"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// newRoot returns the whole program.
func newRoot(a *app.App) *cobra.Command {
	root := newBareRoot(a)
	addCommands(a, root)
	return root
}

// newBareRoot returns the program without subcommands, which a host starts.
func newBareRoot(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "bmad-mcp",
		Short: "Lead an AI coding assistant and its human from an idea to reviewed, tested code",
		Long: `bmad-mcp leads an AI coding assistant and the human beside it through six stages:
PO → Architect → SM → Dev → Review → QA. It keeps each run in .bmad-task/ of the
project, hands out role prompts, scores what is submitted, and holds the gates
until the human decides. It calls no model, except where you start run or agent, or have named one.

Without a subcommand it is an MCP server on stdio, as hosts start it.
New here? Run: bmad-mcp demo. To see what waits for you: bmad-mcp status

` + terminal.ExitHelp,
		Args:          cobra.NoArgs,
		Version:       app.Version(),
		SilenceErrors: true,
		// Refusals name similar commands in our own way.
		DisableSuggestions: true,
		SilenceUsage:       true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return a.SetUp()
		},
		RunE: func(cmd *cobra.Command, args []string) error { return serve.Stdio(cmd.Context(), newServer(a), args) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.New(fault.InvalidArgument, "%s", terminal.FlagError(err)).WithHint("see %s --help", cmd.CommandPath()).Offer(terminal.Misspelt(cmd, err))
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.Tasks.Cwd, "cwd", "", "project folder (default: the nearest one upwards that has sessions, else this folder)")
	flags.BoolVar(&a.Terminal.JSON, "json", false, "print JSON")
	flags.StringVar(&a.Terminal.Color, "color", "auto", "colours: auto, always or never")
	a.ToolsetFlag(root)
	return root
}

// addCommands adds the subcommands, in the groups of the help.
func addCommands(a *app.App, root *cobra.Command) {
	for _, g := range groups(a) {
		root.AddGroup(&cobra.Group{ID: g.title.String(), Title: g.title.String()})
		for _, c := range g.commands {
			c.GroupID = g.title.String()
			root.AddCommand(c)
		}
	}
	help := newHelp(a)
	help.GroupID = root.Groups()[0].ID
	root.SetHelpCommand(help)
	root.SetCompletionCommandGroupID(setUp.String())
	for _, c := range method.Commands(a.Terminal, a.Tasks.Workspace, a) { // their names before there was a group of them
		c.Hidden = true
		root.AddCommand(c)
	}
	root.AddCommand(decide.Former(a.Terminal, a.Tasks)...)
	speakHelp(a, root)
}

// group is a group of subcommands under its heading of the help.
type group struct {
	title    lang.Text
	commands []*cobra.Command
}

var setUp = lang.T("Set up:")

// newServer returns what serves the tasks of the program.
func newServer(a *app.App) serve.Server {
	health := setup.Health(func(folder string, l lang.Language) setup.Upkeep { return newUpkeep(a.For(folder, l)) })
	return serve.Server{
		Term: a.Terminal, Tasks: a.Tasks, Parts: a.Parts, Build: a.Build, Confine: a.Confine, Health: health,
		Model: agents.Delegates(a.Terminal, a.Tasks),
	}
}

// newUpkeep returns what looks after the project of the program.
func newUpkeep(a *app.App) setup.Upkeep {
	return setup.Upkeep{Term: a.Terminal, Tasks: a.Tasks, Databases: a.Databases, Parts: a.Parts, WithBook: a.WithBook}
}

func groups(a *app.App) []group {
	term, tasks, server, upkeep := a.Terminal, a.Tasks, newServer(a), newUpkeep(a)
	serveRuns := func(ctx context.Context) *run.Served {
		a.UseAudits()
		return run.Serve(ctx, term, tasks)
	}
	return []group{
		{lang.T("Start here:"), []*cobra.Command{
			start.Demo(term, tasks, a),
			start.Install(term, tasks),
			decide.Start(term, tasks),
			look.Status(term, tasks),
			decide.Next(term, tasks),
			serve.Open(server),
		}},
		{lang.T("Decide:"), []*cobra.Command{
			decide.Decide(term, tasks),
			decide.Leave(term, tasks, workflow.ActionReopen, "Go back to an earlier stage yourself"),
			decide.Leave(term, tasks, workflow.ActionCancel, "End a session yourself, for good"),
			decide.Adopt(term, tasks),
		}},
		{lang.T("Look:"), []*cobra.Command{
			look.Sessions(term, tasks),
			look.Show(term, tasks, a.Databases),
			look.Log(term, tasks),
			look.Diff(term, tasks),
			look.Report(term, tasks),
			look.Check(term, tasks),
			look.Sync(term, tasks),
			serve.Dashboard(server),
			look.Graph(term, tasks),
			look.Audit(term, tasks),
		}},
		{lang.T("Work without a host:"), []*cobra.Command{
			run.Command(term, tasks, a.UseAudits),
			agents.Command(term, tasks, a, serveRuns),
			decide.Task(term, tasks),
			run.Prices(term),
		}},
		{lang.T("Method and memory:"), []*cobra.Command{
			method.Command(a.Terminal, a.Tasks.Workspace, a),
			remember.Command(term, a, agents.QueueWork(term, tasks, a)),
			setup.Workflow(term, tasks),
		}},
		{setUp, []*cobra.Command{
			setup.Doctor(upkeep),
			setup.Allow(term, tasks),
			setup.Projects(term, a.Tasks.Workspace),
			look.Passkeys(term, tasks),
			setup.Signer(term, a.Tasks.Workspace, a.Person),
			serve.Pair(term, func() time.Time { return a.Engine().Clock() }),
			a.ToolsetFlag(serve.Command(server)),
			setup.Hook(term, a.Engine, a.SetUp),
			setup.Store(upkeep),
			start.Uninstall(term, tasks),
			setup.Upgrade(term),
			setup.Version(term),
		}},
	}
}
