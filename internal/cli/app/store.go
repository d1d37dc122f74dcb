package app

import (
	"context"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Databases are the open shared stores of a workspace, by address.
type Databases struct {
	workspace *Workspace
	mu        sync.Mutex
	opened    map[string]*pgstore.Database
}

// openAt returns the database at an address.
func (d *Databases) openAt(address string) (*pgstore.Database, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.opened[address]; known != nil {
		return known, nil
	}
	opened, err := pgstore.Open(address)
	if err == nil {
		d.opened[address] = opened
	}
	return opened, err
}

// TeamStore returns the database in the person's settings.
func (d *Databases) TeamStore() (*pgstore.Database, error) { return d.teamStore(d.workspace.Config) }

func (d *Databases) teamStore(settings config.Config) (*pgstore.Database, error) {
	if d.workspace.Unread != nil {
		return nil, d.workspace.Unread
	}
	if settings.Store.Address == "" {
		return nil, fault.New(fault.InvalidArgument, "no store is named").WithHint("set BMAD_STORE, or store in your own settings, to postgres://host/database")
	}
	return d.openAt(settings.Store.Address)
}

// StoreFor returns the database at an address without a password, or for "" the database in the person's
// settings, and the place of a project in it.
func (d *Databases) StoreFor(dir *durable.Dir, address string) (*pgstore.Database, store.Place, error) {
	settings := d.workspace.Config
	if address != "" {
		if pgstore.HasPassword(address) { // other accounts can see the command line
			return nil, store.Place{}, fault.New(fault.InvalidArgument, "the address has a password").WithHint("put it into PGPASSFILE, or the address into BMAD_STORE")
		}
		settings.Store.Address = address
	}
	database, err := d.teamStore(settings)
	if err != nil {
		return nil, store.Place{}, err
	}
	place, _, err := project.Locate(dir, settings, Trust(), func(at store.Place) (store.Backend, error) { return database.Store(at), nil })
	return database, place, err
}

func (d *Databases) closeAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, database := range d.opened {
		database.Close()
	}
}

// openStore returns the store of a project: the person's database, or else the files of the project's folder.
func (a *App) openStore(at store.Place, files *filestore.Summaries) (store.Backend, error) {
	if at.Address == "" {
		if err := store.Moved(at.Dir); err != nil {
			return nil, err
		}
		return files.Store(at.Dir), nil
	}
	d, err := a.Databases.openAt(at.Address)
	if err != nil {
		return nil, err
	}
	if a.order != nil {
		return ordering{d.Store(at), a.order}, nil
	}
	return d.Store(at), nil
}

// watchStore calls changed when sessions in the person's database may have changed; without one it returns.
func (a *App) watchStore(ctx context.Context, changed func()) {
	if address := a.Tasks.Config.Store.Address; address != "" {
		if d, err := a.Databases.openAt(address); err == nil {
			d.Watch(ctx, changed)
		}
	}
}

// NewOrder returns the order of a queued session.
type NewOrder func(sessionID string) (queue.Order, error)

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
