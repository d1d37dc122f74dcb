package agents

import (
	"context"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// delegate is the person's model for tasks that an assistant hands to an agent. It is opened at the first
// task, so a server without such tasks does not pay for it.
type delegate struct {
	term  *terminal.Terminal
	tasks *app.Tasks

	once   sync.Once
	opened provider.Provider
	budget *price.Budget
	failed error
}

// Delegates returns a function for the model in the person's settings. The function returns nil if the
// settings have no model, even with a key at hand.
func Delegates(term *terminal.Terminal, tasks *app.Tasks) func() mcpserver.Model {
	return func() mcpserver.Model {
		if tasks.Config.Model.Name == "" {
			return nil
		}
		return &delegate{term: term, tasks: tasks}
	}
}

func (d *delegate) openModel() {
	m, err := new(modelOptions).modelSettings(d.tasks.Workspace)
	var prices *price.Table
	if err == nil {
		d.opened, prices, err = openModel(m, d.term.Now())
	}
	if err == nil {
		d.budget = price.NewBudget(prices, m.CostLimit)
		err = d.budget.Admit(d.opened.Info().Model, d.term.Now())
	}
	d.failed = err
}

// Complete implements mcpserver.Model. All tasks of the process spend one limit.
func (d *delegate) Complete(ctx context.Context, system, message string, tokens int) (text, model string, err error) {
	if d.once.Do(d.openModel); d.failed != nil {
		return "", "", d.failed
	}
	name, now := d.opened.Info().Model, d.term.Now()
	e := price.Estimate{Prompt: int64(len(system)+len(message)) / 2}
	room, err := d.budget.Room(name, now, e.Prompt, tokens)
	if err != nil {
		return "", "", err
	}
	r, err := d.opened.Send(ctx, provider.Request{
		System: system, MaxTokens: room,
		Messages: []provider.Message{{Role: provider.User, Blocks: []provider.Block{provider.TextBlock(message)}}},
	}, nil)
	if err != nil {
		return "", "", err
	}
	e.Output = int64(room)
	d.budget.Spend(name, d.term.Now(), r.Usage, e)
	if err := d.budget.Check(); err != nil {
		d.tasks.Log.Warn("the limit for delegated tasks is spent", "error", err)
	}
	return r.Message.Text(), name, nil
}
