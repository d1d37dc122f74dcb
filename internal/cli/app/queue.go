package app

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// NewOrder returns the order of a queued session.
type NewOrder func(sessionID string) (queue.Order, error)

// UseQueue builds new parts, which put each new session into the queue of the team in the step that stores it.
func (a *App) UseQueue(order NewOrder) {
	a.order = order
	a.built = &lazyParts{}
}

// ordering is a store that puts each new session into the queue.
type ordering struct {
	*pgstore.Store
	order NewOrder
}

// Create implements [store.Sessions].
func (o ordering) Create(ctx context.Context, s *workflow.Session, names store.Names) error {
	order, err := o.order(s.SessionID)
	if err != nil {
		return err
	}
	return o.Enqueuing(order).Create(ctx, s, names)
}

// Queue returns the queue of the team, in the database of the person's settings.
func (d *Databases) Queue() (*pgstore.Queue, error) {
	if d.workspace.Unread == nil && d.workspace.Config.Store.Address == "" {
		return nil, fault.New(fault.NotAllowed, "a queue of runs needs the store of a team, and the runs here are files").
			WithHint("set store in your own settings, or BMAD_STORE, to postgres://host/database, as docs/team.md shows; run --worktree runs it here, beside your work")
	}
	database, err := d.TeamStore()
	if err != nil {
		return nil, err
	}
	return database.Queue(), nil
}
