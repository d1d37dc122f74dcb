package agents

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/template"
)

// program is the rest of the program for agents: the method with the agents.
type program interface {
	FetchMissing(ctx context.Context) (folder string, err error)
	Copies(project string) (folders, addresses []string)
	Fail(command *cobra.Command, err error) int
}

// clients makes clients of the SDK, with the model in the flags.
type clients struct {
	term    *terminal.Terminal
	tasks   *app.Tasks
	program program
	modelOptions
}

// modelOptions are the flags that choose the model.
type modelOptions struct{ provider, model, baseURL, limit string }

// addFlags adds the flags to a command and all commands below it.
func (o *modelOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&o.provider, "provider", "", "the API of the model's server: anthropic, openai")
	flags.StringVar(&o.model, "model", "", "the model, such as claude-sonnet-5-5")
	flags.StringVar(&o.baseURL, "base-url", "", "the address of the model's server, such as http://localhost:11434/v1")
	flags.StringVar(&o.limit, "limit", "", "the most that a conversation may spend, in US dollars")
}

// modelSettings returns the settings of the model, with the flags in their place.
func (o *modelOptions) modelSettings(workspace *app.Workspace) (app.Model, error) {
	m := app.Model{Model: workspace.Config.Model, Provider: o.provider}
	if workspace.Unread != nil { // the limit may be in the unread part
		return m, workspace.Unread
	}
	m.Name, m.BaseURL = cmp.Or(o.model, m.Name), cmp.Or(o.baseURL, m.BaseURL)
	if m.Provider != "" && !slices.Contains([]string{app.ProviderAnthropic, app.ProviderOpenAI}, m.Provider) {
		return m, fault.New(fault.InvalidArgument, "--provider %q is neither anthropic nor openai",
			m.Provider).WithHint("openai is for every server with OpenAI's chat completions, such as Ollama")
	}
	if o.limit != "" {
		limit, err := price.ParseMoney(o.limit)
		if err != nil || limit <= 0 {
			return m, fault.New(fault.InvalidArgument, "--limit %q is not an amount in dollars", o.limit).WithHint("write it as 2.50")
		}
		m.CostLimit = limit
	}
	return m, nil
}

// projectFolder returns the agents' project; "" for / or a home folder without --cwd.
func (cs *clients) projectFolder() (string, error) {
	folder, err := cs.tasks.Project()
	if err != nil {
		return "", err
	}
	if home, _ := os.UserHomeDir(); cs.tasks.Cwd == "" && (folder == filepath.Dir(folder) || folder == filepath.Clean(home)) {
		return "", nil
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return "", fault.New(fault.NotFound, "the project folder cannot be opened: %w", err).WithHint("check --cwd")
	}
	return folder, nil
}

// newClient makes a client for the folder of the command. model may be nil for a client that only lists.
func (cs *clients) newClient(model provider.Provider, prices *price.Table, limit price.Money) (*sdk.Client, error) {
	project, err := cs.projectFolder()
	if err != nil {
		return nil, err
	}
	o := sdk.Options{Provider: model, Project: project, CostLimit: limit, Prices: prices, Log: cs.tasks.Log}
	switch state := app.StateFolder(); {
	case project == "":
		if state == "" {
			return nil, fault.New(fault.Storage, "the conversations have no folder: the home folder is not known").WithHint("set HOME, or name a project with --cwd")
		}
		if o.Store, err = sdk.OpenPrivateStore(filepath.Join(state, "conversations")); err != nil {
			return nil, cs.explainError(err)
		}
	case state != "":
		o.Rights = app.Trust().Rights("conversations", project, sdk.StateFile)
	}
	o.Folders, _ = cs.program.Copies(project)
	c, err := sdk.New(o)
	return c, cs.explainError(err)
}

// findSession returns the summary of a saved session: the one of an id, or without an id the newest paused one.
func (cs *clients) findSession(ctx context.Context, id []string) (sdk.Summary, error) {
	client, err := cs.newClient(nil, nil, 0)
	if err != nil {
		return sdk.Summary{}, err
	}
	defer client.Close()
	list, err := client.Sessions(ctx)
	if err == nil && len(id) > 0 {
		list, err = chooseSession(list, id[0])
	} else {
		list = slices.DeleteFunc(list, func(s sdk.Summary) bool { return s.Status != sdk.Paused })
	}
	switch {
	case err != nil:
		return sdk.Summary{}, cs.explainError(err)
	case len(list) == 0:
		return sdk.Summary{}, fault.New(fault.NotFound, "no conversation of an agent is paused").WithHint("bmad-mcp agent list shows the saved ones; name one by its id")
	}
	return list[0], nil
}

// chooseSession returns the session of an id, or the only one whose id begins so.
func chooseSession(list []sdk.Summary, begin string) ([]sdk.Summary, error) {
	var found []sdk.Summary
	var ids []string
	for _, s := range list {
		if s.ID == begin {
			return []sdk.Summary{s}, nil
		}
		if begin != "" && strings.HasPrefix(s.ID, begin) {
			found, ids = append(found, s), append(ids, s.ID)
		}
	}
	switch {
	case len(found) == 0:
		return nil, sdk.ErrNotFound
	case len(found) > 1:
		return nil, fault.New(fault.Conflict, "%d conversations begin with %q", len(found), begin).
			WithHint("type more of the id of one: %s", terminal.JoinWords(ids))
	}
	return found, nil
}

// workingClient makes a client with the model in flags and settings.
func (cs *clients) workingClient() (*sdk.Client, error) {
	m, err := cs.modelSettings(cs.tasks.Workspace)
	if err != nil {
		return nil, err
	}
	model, prices, err := openModel(m, cs.term.Now())
	if err != nil {
		return nil, err
	}
	return cs.newClient(model, prices, m.CostLimit)
}

// newWorkingClient is workingClient for a new session, whose agent may be in a repository not fetched yet.
func (cs *clients) newWorkingClient(ctx context.Context) (*sdk.Client, error) {
	if _, err := cs.program.FetchMissing(ctx); err != nil {
		return nil, err
	}
	return cs.workingClient()
}

// openModel returns a model with the prices that its calls are counted by.
func openModel(m app.Model, now time.Time) (provider.Provider, *price.Table, error) {
	prices, _, err := app.PriceTable()
	if err != nil {
		return nil, nil, err
	}
	model, err := app.NewProvider(m, prices, now)
	return model, prices, err
}

// explainError turns an error of the SDK into one of this program; nil stays nil. If a turn ended early, it
// prints the reason, and returns the error with the exit code.
func (cs *clients) explainError(err error) error {
	var unknown *sdk.PriceUnknownError
	var limit *sdk.CostLimitError
	var server *sdk.ProviderError
	var state *sdk.StateError
	var path *template.PathError
	switch is := func(e error) bool { return errors.Is(err, e) }; {
	case err == nil, errors.As(err, new(*fault.Error)):
		return err
	case is(context.Canceled):
		return terminal.ErrStopped
	case errors.As(err, &path) && is(fs.ErrExist):
		return fault.New(fault.Conflict, "%s exists already, and is not the document of this conversation; nothing was written", path.Path).
			WithHint("add --force to replace it, change the filename of the template, or leave out --write")
	case errors.As(err, &path):
		return fault.New(fault.NotAllowed, "the document cannot be written: %s", path.Err.Error()).WithHint("change the filename of the template")
	case is(sdk.ErrNotFound):
		return fault.New(fault.NotFound, "no conversation of an agent has this id").WithHint("bmad-mcp agent list shows the saved ones")
	case is(sdk.ErrPaused):
		return fault.New(fault.Conflict, "a turn of the conversation is paused").
			WithHint("bmad-mcp agent resume goes on with it")
	case is(sdk.ErrLocked), is(sdk.ErrChanged), is(sdk.ErrBusy):
		return fault.New(fault.Conflict, "the conversation is at work: %s", err.Error()).WithHint("bmad-mcp agent list says where it stands")
	case is(sdk.ErrEnded), is(sdk.ErrNoQuestion):
		return fault.New(fault.NotAllowed, "the conversation does not take this now: %s", err.Error()).WithHint("bmad-mcp agent list says where it stands")
	case errors.As(err, &state):
		return fault.New(fault.NotAllowed, "the conversation %s cannot be opened: %s", state.ID, state.Why).WithHint("begin a new one with its documents")
	case errors.As(err, &unknown):
		return fault.New(fault.InvalidArgument, "the price of the model %s is not known, so that no limit can hold",
			unknown.Model).WithHint("leave out the limit, or write the price into %s", app.PricesFile())
	case errors.As(err, &limit) && limit.Spent == 0:
		cs.term.Warnf("the limit of %s is too small for a call; nothing is spent", limit.Limit)
		return terminal.ErrSpent
	case errors.As(err, &limit):
		cs.term.Warnf("the limit of %s is spent (%s so far); the work until now is saved", limit.Limit, limit.Spent)
		return terminal.ErrSpent
	case errors.As(err, &server), sdk.IsUnfit(err):
		cs.term.Warnf("the model did not do the work: %s", err.Error())
		return terminal.ErrEngine
	}
	return fault.New(fault.Storage, "the conversation failed: %s", err.Error()).WithHint("bmad-mcp agent list shows the saved ones")
}
