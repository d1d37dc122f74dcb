package run

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/git"
	"github.com/bmad-mcp/bmad-mcp/internal/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/runner"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// optionsHere returns the options of a runner that every run in this folder has.
func optionsHere(a *app.App) (o runner.Options, err error) {
	o = runner.Options{Engine: a.Engine(), Look: look, Log: a.Log}
	o.Rights = func(project string) sdk.Rights { return a.Trust().Rights("runs", project, runner.RunFile) }
	if o.Folder, err = a.Project(); err != nil {
		return o, err
	}
	if o.Prices, _, err = app.PriceTable(); err != nil {
		return o, err
	}
	o.Workers = runWorkers(a, o.Prices)
	return o, a.Unread // the limit of the costs may be in it
}

// runWorkers returns the engines on this machine, the likeliest first: programs bring their own
// login, permissions and sandbox.
func runWorkers(a *app.App, prices *price.Table) []runner.Worker {
	var out []runner.Worker
	if path, err := exec.LookPath("claude"); err == nil {
		out = append(out, &hostcli.Claude{Path: path})
	}
	if path, err := exec.LookPath("codex"); err == nil {
		out = append(out, &hostcli.Codex{Path: path})
	}
	set := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return os.Getenv(name) != "" })
	}
	if set("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN") {
		out = append(out, apiWorker(a, prices, "api", config.ProviderAnthropic))
	}
	if set("OPENAI_API_KEY", "OPENAI_BASE_URL") || a.Config.Model.BaseURL != "" && a.Config.Model.Provider != config.ProviderAnthropic {
		out = append(out, apiWorker(a, prices, "openai", config.ProviderOpenAI))
	}
	return out
}

// apiWorker returns the worker of an API. The settings name its model if they are for that API.
func apiWorker(a *app.App, prices *price.Table, engine, name string) runner.Worker {
	return &runner.API{Engine: engine, Prices: prices, Clock: a.Engine().Clock, Provider: func(model string) (provider.Provider, error) {
		m := a.Config.Model
		other := m.Provider != name
		if m.Provider == "" { // an address alone is not that of Anthropic
			other = m.BaseURL != "" && name == config.ProviderAnthropic
		}
		if other {
			m = config.Model{}
		}
		m.Provider, m.Name = name, cmp.Or(model, m.Name)
		return app.NewProvider(m, prices, a.Now())
	}}
}

// look describes a project's repository by git.
func look(ctx context.Context, folder string) (*runner.Tree, error) {
	tree, err := git.Look(ctx, folder)
	return (*runner.Tree)(tree), err
}
