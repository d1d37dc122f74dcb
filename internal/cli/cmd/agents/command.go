// Package agents has the commands for work with an agent of the BMAD method.
package agents

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

// Command returns the commands of agents.
func Command(term *terminal.Terminal, tasks *app.Tasks, rest program) *cobra.Command {
	cs := &clients{term: term, tasks: tasks, program: rest}
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Work with an agent of the BMAD method, without a host",
		Long: `Work with an agent of the installed BMAD method, by a language model that you pay for.
The key comes from ANTHROPIC_API_KEY or OPENAI_API_KEY; the settings model,
base_url and cost_limit, or the flags, choose the rest. Conversations are saved after each step
in .bmad-task/conversations of the project, and go on after a crash.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cs.addFlags(cmd)
	cmd.AddCommand(
		chatCommand(cs), askCommand(cs), resumeCommand(cs), listCommand(cs), serveCommand(cs),
	)
	return cmd
}
