package agents

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// modelFlags choose the model of a command.
type modelFlags struct{ provider, model, baseURL, limit string }

func (f *modelFlags) add(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.provider, "provider", "", "the API of the model's server: anthropic, openai")
	flags.StringVar(&f.model, "model", "", "the model, such as claude-sonnet-5-5")
	flags.StringVar(&f.baseURL, "base-url", "", "the address of the model's server, such as http://localhost:11434/v1")
	flags.StringVar(&f.limit, "limit", "", "the most that a session may spend, in US dollars")
}

// over returns the settings with the flags in their place.
func (f modelFlags) over(m config.Model) (config.Model, error) {
	m.Provider, m.Name, m.BaseURL = cmp.Or(f.provider, m.Provider), cmp.Or(f.model, m.Name), cmp.Or(f.baseURL, m.BaseURL)
	if m.Provider != "" && !slices.Contains(config.Providers(), m.Provider) {
		return m, fault.New(fault.InvalidArgument, "--provider %q is neither anthropic nor openai",
			m.Provider).WithHint("openai is for every server with OpenAI's chat completions, such as Ollama")
	}
	if f.limit != "" {
		limit, err := price.ParseMoney(f.limit)
		if err != nil || limit <= 0 {
			return m, fault.New(fault.InvalidArgument, "--limit %q is not an amount in dollars", f.limit).WithHint("write it as 2.50")
		}
		m.CostLimit = limit
	}
	return m, nil
}
