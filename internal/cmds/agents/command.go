// Package agents has the commands by which a person works with an agent of the BMAD method.
package agents

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Command returns the commands of agents.
func Command(a *app.App) *cobra.Command {
	m := &modelFlags{}
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Work with an agent of the BMAD method, without a host",
		Long: `Work with an agent of the installed BMAD method, by a language model that you pay for.
The key comes from ANTHROPIC_API_KEY or OPENAI_API_KEY; the settings provider, model,
base_url and cost_limit, or the flags, choose the rest. Sessions are saved after each step
in .bmad-task/conversations of the project, and go on after a crash.

` + agentExitHelp,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	m.add(cmd)
	cmd.AddCommand(
		agentChatCommand(a, m), agentAskCommand(a, m), agentAnswerCommand(a, m), agentResumeCommand(a, m),
		agentListCommand(a), agentSessionsCommand(a), agentShowCommand(a), agentTranscriptCommand(a), agentDeleteCommand(a),
		agentServeCommand(a, agentServer{
			client: func(context.Context) (*sdk.Client, error) { return workingClient(a, *m) },
			limit: func() price.Money {
				settings, _ := m.over(a.Config.Model) // client has refused wrong flags before
				return settings.CostLimit
			},
		}),
	)
	return cmd
}
