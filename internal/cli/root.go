package cli

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "bmad-mcp",
		Short: "Lead an AI coding assistant and its human from an idea to reviewed, tested code",
		Long: `bmad-mcp leads an AI coding assistant and the human beside it through six stages:
PO → Architect → SM → Dev → Review → QA. It keeps each run in .bmad-task/ of the
project, hands out role prompts, scores what is submitted, and holds the gates
until the human decides. It calls no model, except where you start run or agent, or have named one.

Without a subcommand it is an MCP server on stdio, as hosts start it.
New here? Run: bmad-mcp demo

` + exitHelp,
		Args:          cobra.NoArgs,
		Version:       version(),
		SilenceErrors: true,
		// Refusals say what is near in our own way.
		DisableSuggestions: true,
		SilenceUsage:       true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := a.readToolsets(); err != nil {
				return err
			}
			return a.setUp()
		},
		RunE: a.serve,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.New(fault.InvalidArgument, "%s", flagError(err)).WithHint("see %s --help", cmd.CommandPath()).Offer(misspelt(cmd, err))
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.cwd, "cwd", "", "project folder (default: the nearest one upwards that has sessions, else this folder)")
	flags.BoolVar(&a.asJSON, "json", false, "print JSON")
	a.toolsetFlag(root)
	root.AddCommand(subcommands(a)...)
	a.speakHelp(root)
	return root
}

// subcommands lists the subcommands; help sorts them.
func subcommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		runCommand(a),
		taskCommand(a),
		sessionsCommand(a),
		showCommand(a),
		logCommand(a),
		diffCommand(a),
		reportCommand(a),
		graphCommand(a),
		gateCommand(a, "confirm", "Decide yourself on the waiting document"),
		gateCommand(a, "approve", "Decide yourself on the waiting plan or failed work"),
		gateCommand(a, "reject", "Send back the waiting document or work, with the changes you want"),
		answerHereCommand(a),
		leaveCommand(a, workflow.ActionReopen, "Go back to an earlier stage yourself"),
		leaveCommand(a, workflow.ActionCancel, "End a session yourself, for good"),
		adoptCommand(a),
		allowCommand(a),
		passkeysCommand(a),
		projectsCommand(a),
		auditCommand(a),
		memoryCommand(a),
		agentCommand(a),
		pricesCommand(a),
		workflowCommand(a),
		itemsCommand(a, catalog.Agent, "agents"),
		itemsCommand(a, catalog.Workflow, "workflows"),
		itemsCommand(a, catalog.Task, "tasks"),
		readCommand(a),
		searchCommand(a),
		sourcesCommand(a),
		a.serveCommand(),
		dashboardCommand(a),
		pairCommand(a),
		hookCommand(a),
		installCommand(a),
		uninstallCommand(a),
		doctorCommand(a),
		gcCommand(a),
		demoCommand(a),
		versionCommand(a),
	}
}
