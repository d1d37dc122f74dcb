package app

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/anthropic"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/openai"
)

// maxPrices bounds the person's list of prices, in bytes.
const maxPrices = 1 << 20

// The APIs that the server of a model can speak.
const (
	ProviderAnthropic = "anthropic"
	ProviderOpenAI    = "openai"
)

// Model is the model of the settings, with what a command says instead.
type Model struct {
	config.Model
	// Provider is the API of its server; "" leaves the choice to the address and the keys.
	Provider string
}

// API returns the API of the model's server; "" if nothing tells. An address means the one that most servers speak, so
// that a key for Anthropic never goes to another server by accident.
func (m Model) API() string {
	env := os.Getenv
	switch {
	case m.Provider != "":
		return m.Provider
	case m.BaseURL == "" && (env("ANTHROPIC_API_KEY") != "" || env("ANTHROPIC_AUTH_TOKEN") != ""):
		return ProviderAnthropic
	case m.BaseURL != "" || env("OPENAI_API_KEY") != "" || env("OPENAI_BASE_URL") != "":
		return ProviderOpenAI
	}
	return ""
}

// NewProvider makes the provider of the model. The key of a server comes from the environment alone.
func NewProvider(m Model, prices *price.Table, now time.Time) (provider.Provider, error) {
	api := m.API()
	if api == "" {
		return nil, fault.New(fault.InvalidArgument, "no model is named").
			WithHint("set ANTHROPIC_API_KEY, or set OPENAI_API_KEY and name a --model, or name a server of your own with --base-url and --model")
	}
	if m.Name == "" && api == ProviderAnthropic {
		m.Name = anthropic.DefaultModel
	}
	if m.Name == "" {
		return nil, fault.New(fault.InvalidArgument, "no model of the server is named").WithHint("add --model, or the setting model")
	}
	if rate, ok := prices.Find(m.Name, now); ok && !rate.Retired.IsZero() && !now.Before(rate.Retired) {
		return nil, fault.New(fault.InvalidArgument, "the model %s was retired on %s, and its server refuses it",
			m.Name, rate.Retired.Format(time.DateOnly)).WithHint("take %s", cmp.Or(rate.Successor, anthropic.DefaultModel))
	}
	var p provider.Provider
	var err error
	if api == ProviderAnthropic {
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

// PricesFile returns the path of the person's list of prices; "" if the settings folder is unknown.
func PricesFile() string {
	if folder := SettingsFolder(); folder != "" {
		return filepath.Join(folder, "bmad-mcp", "prices.json")
	}
	return ""
}

// PriceTable returns the prices of this program, overridden by the person's. own reports whether the person
// has a list.
func PriceTable() (t *price.Table, own bool, err error) {
	name := PricesFile()
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
