package cli

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/anthropic"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/openai"
)

const (
	// defaultModel is asked if the person names none.
	defaultModel = "claude-sonnet-5-5"
	// maxPrices bounds the person's list of prices, in bytes.
	maxPrices = 1 << 20
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

// newProvider makes the provider of the model. The key of a server comes from the environment alone.
// An address without a provider means the API that most servers speak, so that a key for Anthropic
// never goes to another server by accident.
func newProvider(m config.Model, prices *price.Table, now time.Time) (provider.Provider, error) {
	env := os.Getenv
	if m.Provider == "" {
		switch {
		case m.BaseURL == "" && (env("ANTHROPIC_API_KEY") != "" || env("ANTHROPIC_AUTH_TOKEN") != ""):
			m.Provider = config.ProviderAnthropic
		case m.BaseURL != "" || env("OPENAI_API_KEY") != "" || env("OPENAI_BASE_URL") != "":
			m.Provider = config.ProviderOpenAI
		default:
			return nil, fault.New(fault.InvalidArgument, "no model is named").
				WithHint("set ANTHROPIC_API_KEY, or set OPENAI_API_KEY and name a --model, or name a server of your own with --base-url and --model")
		}
	}
	if m.Name == "" && m.Provider == config.ProviderAnthropic {
		m.Name = defaultModel
	}
	if m.Name == "" {
		return nil, fault.New(fault.InvalidArgument, "no model of the server is named").WithHint("add --model, or the setting model")
	}
	if rate, ok := prices.Find(m.Name, now); ok && !rate.Retired.IsZero() && !now.Before(rate.Retired) {
		return nil, fault.New(fault.InvalidArgument, "the model %s was retired on %s, and its server refuses it",
			m.Name, rate.Retired.Format(time.DateOnly)).WithHint("take %s", cmp.Or(rate.Successor, defaultModel))
	}
	var p provider.Provider
	var err error
	if m.Provider == config.ProviderAnthropic {
		p, err = anthropic.New(anthropic.Options{Model: m.Name, BaseURL: m.BaseURL})
	} else {
		p, err = openai.New(openai.Options{Model: m.Name, BaseURL: m.BaseURL})
	}
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the model's server cannot be used: %q",
			err.Error()).WithHint("check --provider, --base-url and the variable that has the key")
	}
	return p, nil
}

// pricesFile returns the person's own list of prices, "" if the configuration folder is unknown.
func pricesFile() string {
	if folder := userFolder("XDG_CONFIG_HOME", ".config"); folder != "" {
		return filepath.Join(folder, "bmad-mcp", "prices.json")
	}
	return ""
}

// priceTable returns the prices that come with this program, with the person's over them.
func priceTable() (t *price.Table, own bool, err error) {
	name := pricesFile()
	if name == "" {
		return price.Default(), false, nil
	}
	data, err := durable.ReadPath(name, maxPrices)
	if errors.Is(err, fs.ErrNotExist) {
		return price.Default(), false, nil
	}
	if err == nil {
		t, err = price.Parse(data)
	}
	if err != nil {
		return nil, false, fault.New(fault.InvalidArgument, "the prices in %s cannot be used: %q", name,
			err.Error()).WithHint("correct the file, or remove it to use the built-in prices")
	}
	return t.Over(price.Default()), true, nil
}
