package app

import (
	"context"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
)

// databases are the shared stores that were used, by their addresses.
type databases struct {
	mu   sync.Mutex
	open map[string]*pgstore.Database
}

// Database returns the database at an address.
func (a *App) Database(address string) (*pgstore.Database, error) {
	d := a.databases
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.open[address]; known != nil {
		return known, nil
	}
	opened, err := pgstore.Open(address)
	if err == nil {
		d.open[address] = opened
	}
	return opened, err
}

func (d *databases) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, database := range d.open {
		database.Close()
	}
}

// store returns the store of a project: that of the person's database, else the files of its folder.
func (a *App) store(at store.Place, files *filestore.Summaries) (store.Backend, error) {
	if at.Address == "" {
		if to, moved := store.MovedTo(at.Dir); moved {
			return nil, fault.New(fault.Storage, "the sessions of %s were moved to the store %s", at.Dir.Path(), to).
				WithHint("name it in your settings (store, or BMAD_STORE); or remove %s, and the files count again", at.Dir.Join(store.MovedFile))
		}
		return files.Store(at.Dir), nil
	}
	d, err := a.Database(at.Address)
	if err != nil {
		return nil, err
	}
	return d.Store(at), nil
}

// watchStore calls changed when sessions in the person's database may have changed; without one it returns.
func (a *App) watchStore(ctx context.Context, changed func()) {
	if address := a.Config.Store.Address; address != "" {
		if d, err := a.Database(address); err == nil {
			d.Watch(ctx, changed)
		}
	}
}
