package cli

import (
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/agents"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/decide"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/fleet"
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

// Commands are listed in the order of their use.
func init() { cobra.EnableCommandSorting = false }

// newBareRoot returns the program without subcommands, for hosts.
func newBareRoot(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "bmad-mcp",
		Short: "Lead an AI coding assistant and its human from an idea to reviewed, tested code",
		Long: `bmad-mcp leads an AI coding assistant and the human beside it through six stages:
PO → Architect → SM → Dev → Review → QA. It keeps each run in .bmad-task/ of the
project, hands out role prompts, scores what is submitted, and holds the gates
until the human decides. It calls no model, except where you start run or agent, or have named one.

Without a subcommand it is an MCP server on stdio, as hosts start it, and at a terminal
it prints this help. New here? Run: bmad-mcp demo. To see what waits for you: bmad-mcp status`,
		Args:          cobra.NoArgs,
		Version:       app.Version() + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		SilenceErrors: true,
		// Refusals name similar commands themselves.
		DisableSuggestions: true,
		SilenceUsage:       true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			err := a.SetUp()
			if err == nil {
				tellNotices(a, cmd)
			}
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error { return serve.Stdio(cmd.Context(), newServer(a), args) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.New(fault.InvalidArgument, "%s", terminal.FlagError(err)).WithHint("see %s --help", cmd.CommandPath()).Offer(terminal.Misspelt(cmd, err))
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.Tasks.Cwd, "cwd", "", "project folder (default: the nearest one upwards that has runs, else this folder)")
	flags.BoolVar(&a.Terminal.JSON, "json", false, "print JSON")
	flags.StringVar(&a.Terminal.Color, "color", "auto", "colours: auto, always or never")
	a.ServerFlags(root)
	for _, name := range []string{"toolsets", "log-level"} { // the help of serve has them
		_ = root.Flags().MarkHidden(name)
	}
	return root
}

// tellNotices tells what of the settings has no effect. A server logs it; doctor and settings have it in their output.
func tellNotices(a *app.App, cmd *cobra.Command) {
	name := append(strings.Fields(cmd.CommandPath()), "serve")[1]
	for _, notice := range a.Tasks.Notices {
		switch name {
		case "doctor", "settings", "help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
		case "serve":
			a.Tasks.Log.Warn(notice.Text().String())
		default:
			a.Terminal.Warnf("%s", notice.Text())
		}
	}
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
	help, _, _ := root.Find([]string{"help"})
	root.SetHelpCommand(help)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(decide.Former(a.Terminal, a.Tasks)...)
	speakHelp(a, root)
}

// group is a group of subcommands under a heading in the help.
type group struct {
	title    lang.Text
	commands []*cobra.Command
}

var setUp = lang.T("Set up:")

// newServer returns the parts of the program for servers.
func newServer(a *app.App) serve.Server {
	health := setup.Health(func(folder string, l lang.Language) setup.Upkeep { return newUpkeep(a.For(folder, l)) })
	return serve.Server{
		Term: a.Terminal, Tasks: a.Tasks, Parts: a.Parts, Build: a.Build, Confine: a.Confine, Health: health, Databases: a.Databases,
		Model: agents.Delegates(a.Terminal, a.Tasks), Remote: agents.GiveTask,
	}
}

// newFleet returns the parts of the program for the queue of a team and its workers.
func newFleet(a *app.App) fleet.Program {
	return fleet.Program{Term: a.Terminal, Tasks: a.Tasks, Databases: a.Databases, For: func(folder string) *app.App {
		there := a.For(folder, a.Terminal.Lang)
		there.ReadSettings()
		there.UseAudits()
		return there
	}}
}

// newUpkeep returns the parts of the program for the upkeep of a project.
func newUpkeep(a *app.App) setup.Upkeep {
	return setup.Upkeep{Term: a.Terminal, Tasks: a.Tasks, Databases: a.Databases, Parts: a.Parts, WithBook: a.WithBook, Judge: judgeServer}
}

// judgeServer returns why the program is not a server with the arguments of a host, or none that can work with its variables.
func judgeServer(args, environ []string) error {
	a := app.New(terminal.New(strings.NewReader(""), io.Discard, io.Discard))
	root := newRoot(a)
	cmd, rest, err := root.Find(args)
	if err != nil {
		return fault.New(fault.InvalidArgument, "%w", err)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return cmd.FlagErrorFunc()(cmd, err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err
	}
	if cmd != root && (cmd.Name() != "serve" || cmd.Flags().Changed("http")) {
		return fault.New(fault.InvalidArgument, "%s serves nothing on stdio", strings.Join(append([]string{"bmad-mcp"}, args...), " "))
	}
	if err := a.SetUp(); err != nil {
		return err
	}
	return a.Tasks.Judge(environ)
}

func groups(a *app.App) []group {
	term, tasks, server, upkeep := a.Terminal, a.Tasks, newServer(a), newUpkeep(a)
	dashboard := serve.Dashboard(server)
	dashboard.AddCommand(look.Passkeys(term, tasks))
	return []group{
		{lang.T("Commands:"), []*cobra.Command{
			start.Demo(term),
			start.Install(term, tasks),
			decide.Start(term, tasks),
			look.Status(term, tasks, a.Databases, decide.Show(term, tasks)),
			decide.Decide(term, tasks),
			look.Show(term, tasks, a.Databases),
			look.Log(term, tasks),
			look.Report(term, tasks),
			dashboard,
			run.Command(term, tasks, run.Program{UseAudits: a.UseAudits, UseQueue: a.UseQueue, Queue: a.Databases.Queue}),
			fleet.Queue(newFleet(a)),
			fleet.Worker(newFleet(a)),
			agents.Command(term, tasks, a),
			setup.Doctor(upkeep),
			setup.Settings(term, tasks.Workspace),
			newHelp(a),
		}},
		{lang.T("Decide:"), []*cobra.Command{
			decide.Leave(term, tasks, workflow.ActionReopen, "Go back to an earlier stage yourself"),
			decide.Leave(term, tasks, workflow.ActionCancel, "End a run yourself, for good"),
			decide.Adopt(term, tasks),
		}},
		{lang.T("Look:"), []*cobra.Command{
			look.Diff(term, tasks),
			look.Check(term, tasks),
			look.Sync(term, tasks),
			look.Audit(term, tasks),
		}},
		{lang.T("Method and memory:"), []*cobra.Command{
			method.Command(term, tasks.Workspace, a),
			remember.Command(term, a.WithBook),
			setup.Workflow(term, tasks),
		}},
		{lang.T("Scripts and servers:"), []*cobra.Command{
			decide.Task(term, tasks),
			a.ServerFlags(serve.Command(server)),
			setup.Hook(term, a.Engine, a.SetUp),
			setup.Notify(term, tasks.Workspace, serve.FindPage),
		}},
		{setUp, []*cobra.Command{
			setup.Allow(term, tasks),
			setup.Projects(term, tasks.Workspace),
			setup.Signer(term, tasks),
			setup.Store(upkeep),
			start.Uninstall(term, tasks),
			setup.Completion(term),
		}},
	}
}
