package config

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// The values of provider: which API the model's server speaks.
const (
	ProviderAnthropic = "anthropic"
	ProviderOpenAI    = "openai"
)

// Providers returns the valid values of provider.
func Providers() []string { return []string{ProviderAnthropic, ProviderOpenAI} }

// Model names the language model that works for the person if no host does. It never holds a key.
type Model struct {
	// Provider is one of Providers, Name the model, BaseURL the address of its server; "" leaves the
	// choice to the program.
	Provider, Name, BaseURL string
	// CostLimit bounds the costs of a session; 0 sets no limit.
	CostLimit price.Money
}

// Named reports whether the person has chosen a model. An address alone does not count as one.
func (m Model) Named() bool { return m.Provider != "" || m.Name != "" }

// setModel applies a setting of the model. A project's file has no say: it must not send the
// person's key and texts to a server, nor spend their money.
func (c *Config) setModel(key, v string) error {
	if c.from == own {
		c.ignoreBecause(lang.T("%s %s", key, v), lang.T("only the person decides which model works for them, and what it may cost"))
		return nil
	}
	switch key {
	case "provider":
		return pick(&c.Model.Provider, key, v, Providers())
	case "base_url":
		return address(&c.Model.BaseURL, key, v)
	case "cost_limit":
		limit, err := price.ParseMoney(v)
		if err != nil || limit <= 0 {
			return lang.Errorf("cost_limit %q is not an amount in dollars, such as 2.50", visible.Cut(v, 80, "…"))
		}
		c.Model.CostLimit = limit
		return nil
	default:
		if c.Model.Name = strings.TrimSpace(v); c.Model.Name == "" || len(v) > 200 || strings.ContainsFunc(c.Model.Name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return lang.Errorf("model %q is not the name of a model, such as claude-sonnet-5-5", visible.Cut(v, 80, "…"))
		}
		return nil
	}
}
