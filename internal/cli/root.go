package cli

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func newRoot(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "bmad-mcp",
		Short: "Lead an AI coding assistant and its human from an idea to reviewed, tested code",
		Long: `bmad-mcp leads an AI coding assistant and the human beside it through six stages:
PO → Architect → SM → Dev → Review → QA. It keeps each run in .bmad-task/ of the
project, hands out role prompts, scores what is submitted, and holds the gates
until the human decides. It calls no model, except where you start run or agent, or have named one.

Without a subcommand it is an MCP server on stdio, as hosts start it.
New here? Run: bmad-mcp demo

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
		RunE: func(cmd *cobra.Command, args []string) error { return serve(a, cmd, args) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.New(fault.InvalidArgument, "%s", terminal.FlagError(err)).WithHint("see %s --help", cmd.CommandPath()).Offer(terminal.Misspelt(cmd, err))
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.Cwd, "cwd", "", "project folder (default: the nearest one upwards that has sessions, else this folder)")
	flags.BoolVar(&a.JSON, "json", false, "print JSON")
	a.ToolsetFlag(root)
	for _, g := range groups(a) {
		root.AddGroup(&cobra.Group{ID: g.title.String(), Title: g.title.String()})
		for _, c := range g.commands {
			c.GroupID = g.title.String()
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID(setUp.String())
	root.SetCompletionCommandGroupID(setUp.String())
	for _, c := range methodCommands(a) { // their names before there was a group of them
		c.Hidden = true
		root.AddCommand(c)
	}
	speakHelp(a, root)
	return root
}

// group is a group of subcommands under its heading of the help.
type group struct {
	title    lang.Text
	commands []*cobra.Command
}

var setUp = lang.T("Set up:")

func groups(a *app.App) []group {
	return []group{
		{lang.T("Start here:"), []*cobra.Command{
			demoCommand(a),
			installCommand(a),
		}},
		{lang.T("Decide:"), []*cobra.Command{
			gateCommand(a, "confirm", "Decide yourself on the waiting document"),
			gateCommand(a, "approve", "Decide yourself on the waiting plan or failed work"),
			gateCommand(a, "reject", "Send back the waiting document or work, with the changes you want"),
			answerHereCommand(a),
			leaveCommand(a, workflow.ActionReopen, "Go back to an earlier stage yourself"),
			leaveCommand(a, workflow.ActionCancel, "End a session yourself, for good"),
			adoptCommand(a),
		}},
		{lang.T("Look:"), []*cobra.Command{
			sessionsCommand(a),
			showCommand(a),
			logCommand(a),
			diffCommand(a),
			reportCommand(a),
			dashboardCommand(a),
			graphCommand(a),
			auditCommand(a),
		}},
		{lang.T("Work without a host:"), []*cobra.Command{
			runCommand(a),
			agentCommand(a),
			taskCommand(a),
			pricesCommand(a),
		}},
		{lang.T("Method and memory:"), []*cobra.Command{
			methodCommand(a),
			memoryCommand(a),
			workflowCommand(a),
		}},
		{setUp, []*cobra.Command{
			doctorCommand(a),
			allowCommand(a),
			projectsCommand(a),
			passkeysCommand(a),
			pairCommand(a),
			serveCommand(a),
			hookCommand(a),
			gcCommand(a),
			uninstallCommand(a),
			versionCommand(a),
		}},
	}
}
