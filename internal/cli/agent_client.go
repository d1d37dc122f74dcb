package cli

import (
	"cmp"
	"context"
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
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/anthropic"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/openai"
)

const (
	// defaultModel is asked where the person names none.
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
		return m, fault.New(fault.InvalidArgument, "--provider %q is neither anthropic nor openai", m.Provider).WithHint("openai is for every server with OpenAI's chat completions, such as Ollama")
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

// newProvider makes what carries requests to the model. The key of a server comes from the
// environment alone. An address without a provider means the API that most servers speak, so that
// a key for Anthropic never goes to another server by accident.
func newProvider(m config.Model, prices *price.Table, now time.Time) (provider.Provider, error) {
	env := os.Getenv
	if m.Provider == "" {
		switch {
		case m.BaseURL == "" && (env("ANTHROPIC_API_KEY") != "" || env("ANTHROPIC_AUTH_TOKEN") != ""):
			m.Provider = config.ProviderAnthropic
		case m.BaseURL != "" || env("OPENAI_API_KEY") != "" || env("OPENAI_BASE_URL") != "":
			m.Provider = config.ProviderOpenAI
		default:
			return nil, fault.New(fault.InvalidArgument, "there is no model to work with").
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
		return nil, fault.New(fault.InvalidArgument, "the model %s was retired on %s, and its server refuses it", m.Name, rate.Retired.Format(time.DateOnly)).WithHint("take %s", cmp.Or(rate.Successor, defaultModel))
	}
	var p provider.Provider
	var err error
	if m.Provider == config.ProviderAnthropic {
		p, err = anthropic.New(anthropic.Options{Model: m.Name, BaseURL: m.BaseURL})
	} else {
		p, err = openai.New(openai.Options{Model: m.Name, BaseURL: m.BaseURL})
	}
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the model's server cannot be used: %q", err.Error()).WithHint("check --provider, --base-url and the variable that has the key")
	}
	return p, nil
}

// pricesFile is the person's own list of prices; "" without a configuration folder.
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
		return nil, false, fault.New(fault.InvalidArgument, "the prices in %s cannot be used: %q", name, err.Error()).WithHint("correct the file, or remove it to use the built-in prices")
	}
	return t.Over(price.Default()), true, nil
}

// agentProject is the folder that agents work for; "" in a folder that is not a project's.
func agentProject(a *app) (string, error) {
	folder, err := a.project()
	if err != nil {
		return "", err
	}
	if home, _ := os.UserHomeDir(); a.cwd == "" && (folder == filepath.Dir(folder) || folder == filepath.Clean(home)) {
		return "", nil
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return "", fault.New(fault.NotFound, "the project folder cannot be opened: %w", err).WithHint("check --cwd")
	}
	return folder, nil
}

// agentClient makes a client for the folder that the command is for. p is nil for one that only
// lists.
func agentClient(a *app, p provider.Provider, prices *price.Table, limit price.Money) (*sdk.Client, error) {
	project, err := agentProject(a)
	if err != nil {
		return nil, err
	}
	o := sdk.Options{Provider: p, Project: project, CostLimit: limit, Prices: prices, Log: a.log}
	if project == "" {
		state := a.stateFolder()
		if state == "" {
			return nil, fault.New(fault.Storage, "there is no folder for sessions: no home folder is known").WithHint("set HOME, or name a project with --cwd")
		}
		if o.Store, err = sdk.OpenPrivateStore(filepath.Join(state, "conversations")); err != nil {
			return nil, agentFault(a, err)
		}
	}
	repositories := a.repositories()
	remotes, _ := repositories.Of(project)
	for _, r := range remotes {
		if repositories.Cache == nil {
			break
		}
		if c, err := repositories.Cache.Copy(r.Spec); err == nil && c.Dir != "" {
			o.Folders = append(o.Folders, c.Dir)
		}
	}
	c, err := sdk.New(o)
	if err != nil {
		return nil, agentFault(a, err)
	}
	return c, nil
}

// agentSessions lists what is saved for the folder that the command is for.
func agentSessions(ctx context.Context, a *app) ([]sdk.Summary, error) {
	client, err := agentClient(a, nil, nil, 0)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	list, err := client.Sessions(ctx)
	return list, agentFault(a, err)
}

// workingClient makes a client with the model of the flags and settings.
func workingClient(a *app, f modelFlags) (*sdk.Client, error) {
	m, err := f.over(a.model)
	if err != nil {
		return nil, err
	}
	prices, _, err := priceTable()
	if err != nil {
		return nil, err
	}
	p, err := newProvider(m, prices, a.engine.Now())
	if err != nil {
		return nil, err
	}
	return agentClient(a, p, prices, m.CostLimit)
}

// agentFault is an error of the sdk in the words of this program; nil stays nil. What ends a turn
// early is said here, and returned as the code to exit with.
func agentFault(a *app, err error) error {
	var agent *sdk.AgentError
	var unknown *sdk.PriceUnknownError
	var limit *sdk.CostLimitError
	var server *sdk.ProviderError
	var state *sdk.StateError
	var refused *sdk.RefusalError
	switch is := func(e error) bool { return errors.Is(err, e) }; {
	case err == nil, errors.As(err, new(*fault.Error)):
		return err
	case is(context.Canceled):
		return errStopped
	case errors.As(err, &agent):
		return fault.New(fault.NotFound, "there is no agent %q here", agent.ID).WithHint("bmad-mcp agent list names the agents").Offer(agent.Near)
	case is(sdk.ErrNotFound):
		return fault.New(fault.NotFound, "there is no such session of an agent").WithHint("bmad-mcp agent sessions lists them")
	case is(sdk.ErrLocked), is(sdk.ErrChanged), is(sdk.ErrBusy):
		return fault.New(fault.Conflict, "the session is at work: %q", err.Error()).WithHint("bmad-mcp agent show says where it stands")
	case is(sdk.ErrEnded), is(sdk.ErrNotPaused), is(sdk.ErrNoQuestion):
		return fault.New(fault.NotAllowed, "the session does not take this now: %q", err.Error()).WithHint("bmad-mcp agent show says where it stands")
	case errors.As(err, &state):
		return fault.New(fault.NotAllowed, "the session %s cannot be opened: %q", state.ID, state.Why).WithHint("begin a new one with its documents")
	case errors.As(err, &unknown):
		return fault.New(fault.InvalidArgument, "the price of the model %s is not known, so that no limit can hold", unknown.Model).WithHint("leave out the limit, or write the price into %s", pricesFile())
	case errors.As(err, &limit):
		a.warn("the limit of %s is spent (%s so far); the work until now is saved", limit.Limit, limit.Spent)
		return errSpent
	case errors.As(err, &server), errors.As(err, &refused), is(sdk.ErrTruncated), is(sdk.ErrContextFull), is(sdk.ErrStopped):
		a.warn("the model did not do the work: %q", err.Error())
		return errEngine
	}
	return fault.New(fault.Storage, "the session failed: %q", err.Error()).WithHint("bmad-mcp agent sessions lists the saved ones")
}
