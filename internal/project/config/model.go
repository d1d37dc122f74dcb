package config

import (
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
