package cli

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/runner"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// runWorkers are the engines on this machine, the likeliest first: programs bring their own login,
// permissions and sandbox.
func runWorkers(a *app, prices *price.Table) []runner.Worker {
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
	if set("OPENAI_API_KEY", "OPENAI_BASE_URL") || a.model.BaseURL != "" && a.model.Provider != config.ProviderAnthropic {
		out = append(out, apiWorker(a, prices, "openai", config.ProviderOpenAI))
	}
	return out
}

// apiWorker is a model behind an API. The settings name its model where they are for that API.
func apiWorker(a *app, prices *price.Table, engine, name string) runner.Worker {
	return &runner.API{Engine: engine, Prices: prices, Clock: a.engine.Clock, Provider: func(model string) (provider.Provider, error) {
		m := a.model
		if m.Provider != "" && m.Provider != name || m.Provider == "" && m.BaseURL != "" && name == config.ProviderAnthropic {
			m = config.Model{}
		}
		m.Provider, m.Name = name, cmp.Or(model, m.Name)
		return newProvider(m, prices, a.engine.Now())
	}}
}

// gitRepository describes a project's repository by git.
type gitRepository struct{}

// maxGit bounds what git may say, in bytes.
const maxGit = 16 << 20

// Look implements runner.Repository.
func (gitRepository) Look(ctx context.Context, folder string) (*runner.Tree, error) {
	git := func(args ...string) (string, error) {
		// A monitor of files would be a program that the repository names.
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", folder, "-c", "core.fsmonitor=false"}, args...)...) //nolint:gosec // a folder, and our own words
		cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
		out, err := cmd.Output()
		if len(out) > maxGit {
			out = out[:maxGit]
		}
		return string(bytes.TrimRight(out, "\n")), err
	}
	prefix, err := git("rev-parse", "--show-prefix")
	if err != nil {
		return nil, ctx.Err() //nolint:nilerr // without git, or outside of a repository
	}
	tree := &runner.Tree{}
	if head, err := git("rev-parse", "--verify", "-q", "HEAD"); err == nil {
		tree.Head = head
	}
	status, err := git("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", ".")
	if err != nil {
		return nil, fault.New(fault.Storage, "git status failed in %s: %w", folder, err).WithHint("see what it says there")
	}
	for entry := range strings.SplitSeq(status, "\x00") {
		if len(entry) > 3 {
			tree.Changed = append(tree.Changed, entry[:3]+strings.TrimPrefix(entry[3:], prefix))
		}
	}
	return tree, nil
}
