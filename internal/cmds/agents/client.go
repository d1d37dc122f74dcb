package agents

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// agentProject returns the folder that agents work for, "" for / or a home folder without --cwd.
func agentProject(a *app.App) (string, error) {
	folder, err := a.Project()
	if err != nil {
		return "", err
	}
	if home, _ := os.UserHomeDir(); a.Cwd == "" && (folder == filepath.Dir(folder) || folder == filepath.Clean(home)) {
		return "", nil
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return "", fault.New(fault.NotFound, "the project folder cannot be opened: %w", err).WithHint("check --cwd")
	}
	return folder, nil
}

// agentClient makes a client for the folder that the command is for. p is nil if it only lists.
func agentClient(a *app.App, p provider.Provider, prices *price.Table, limit price.Money) (*sdk.Client, error) {
	project, err := agentProject(a)
	if err != nil {
		return nil, err
	}
	o := sdk.Options{Provider: p, Project: project, CostLimit: limit, Prices: prices, Log: a.Log}
	if project == "" {
		state := a.StateFolder()
		if state == "" {
			return nil, fault.New(fault.Storage, "the sessions have no folder: the home folder is not known").WithHint("set HOME, or name a project with --cwd")
		}
		if o.Store, err = sdk.OpenPrivateStore(filepath.Join(state, "conversations")); err != nil {
			return nil, agentFault(a, err)
		}
	}
	if project != "" && a.StateFolder() != "" {
		o.Rights = a.Trust().Rights("conversations", project, sdk.StateFile)
	}
	repositories := a.Repositories()
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

// agentSessions lists the saved sessions of the folder that the command is for.
func agentSessions(ctx context.Context, a *app.App) ([]sdk.Summary, error) {
	client, err := agentClient(a, nil, nil, 0)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	list, err := client.Sessions(ctx)
	return list, agentFault(a, err)
}

// workingClient makes a client with the model of the flags and settings.
func workingClient(a *app.App, f modelFlags) (*sdk.Client, error) {
	if a.Unread != nil { // the limit may be in the unread part
		return nil, a.Unread
	}
	m, err := f.over(a.Config.Model)
	if err != nil {
		return nil, err
	}
	prices, _, err := app.PriceTable()
	if err != nil {
		return nil, err
	}
	p, err := app.NewProvider(m, prices, a.Now())
	if err != nil {
		return nil, err
	}
	return agentClient(a, p, prices, m.CostLimit)
}

// agentFault returns an error of the sdk in the words of this program; nil stays nil. It prints the
// reason if a turn ended early, and returns the code to exit with.
func agentFault(a *app.App, err error) error {
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
		return terminal.ErrStopped
	case errors.As(err, &agent):
		return fault.New(fault.NotFound, "no agent has the id %q", agent.ID).WithHint("bmad-mcp agent list names the agents").Offer(agent.Near)
	case is(sdk.ErrNotFound):
		return fault.New(fault.NotFound, "no session of an agent has this id").WithHint("bmad-mcp agent sessions lists them")
	case is(sdk.ErrLocked), is(sdk.ErrChanged), is(sdk.ErrBusy):
		return fault.New(fault.Conflict, "the session is at work: %q", err.Error()).WithHint("bmad-mcp agent show says where it stands")
	case is(sdk.ErrEnded), is(sdk.ErrNotPaused), is(sdk.ErrNoQuestion):
		return fault.New(fault.NotAllowed, "the session does not take this now: %q", err.Error()).WithHint("bmad-mcp agent show says where it stands")
	case errors.As(err, &state):
		return fault.New(fault.NotAllowed, "the session %s cannot be opened: %q", state.ID, state.Why).WithHint("begin a new one with its documents")
	case errors.As(err, &unknown):
		return fault.New(fault.InvalidArgument, "the price of the model %s is not known, so that no limit can hold",
			unknown.Model).WithHint("leave out the limit, or write the price into %s", app.PricesFile())
	case errors.As(err, &limit):
		a.Warnf("the limit of %s is spent (%s so far); the work until now is saved", limit.Limit, limit.Spent)
		return terminal.ErrSpent
	case errors.As(err, &server), errors.As(err, &refused), is(sdk.ErrTruncated), is(sdk.ErrContextFull), is(sdk.ErrStopped):
		a.Warnf("the model did not do the work: %q", err.Error())
		return terminal.ErrEngine
	}
	return fault.New(fault.Storage, "the session failed: %q", err.Error()).WithHint("bmad-mcp agent sessions lists the saved ones")
}
