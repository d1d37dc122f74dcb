package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/sources"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// newLibrary makes the library of the BMAD method. open opens the folder of a project, now is the
// clock. A shared one serves nothing of the person's home.
func (a *app) newLibrary(open func(name string) (*durable.Dir, error), now func() time.Time, shared bool) *library.Library {
	home, _ := os.UserHomeDir() // without a home nothing of the person's is served
	if shared {
		home = ""
	}
	var above func(name string) (*durable.Dir, error)
	if a.reach != nil {
		above = a.openAbove
	}
	r := a.repositoriesOf(open, now)
	return library.New(library.Options{
		Home: home, Root: os.Getenv("BMAD_ROOT"), Open: open, Above: above,
		Copies: r.Copies, Settings: r.SettingsFolders, Close: r.Close,
		Now: now, Log: a.log,
	})
}

// repositories returns the git repositories of the method, as the engine's clock and folders
// have them.
func (a *app) repositories() sources.Repositories {
	return a.repositoriesOf(a.engine.Projects().OpenFolder, a.engine.Clock)
}

func (a *app) repositoriesOf(open func(name string) (*durable.Dir, error), now func() time.Time) sources.Repositories {
	r := sources.Repositories{Settings: a.settings, State: a.trust(), Open: open, Now: now}
	if folder := userFolder("XDG_CACHE_HOME", ".cache"); folder != "" {
		r.Cache = &gitsource.Cache{Folder: filepath.Join(folder, "bmad-mcp", "git"), Now: now, Log: a.log}
	}
	return r
}

// snapshot returns the method's installations for the folder that the command is for. If a repository
// was never fetched, it waits for it: nobody else will tell that it has come.
func (a *app) shelf(ctx context.Context) (*library.Snapshot, error) {
	folder, err := a.project()
	if err == nil && a.cwd != "" {
		_, err = a.engine.Projects().Where(project.Address{Cwd: folder})
	}
	if err != nil {
		return nil, err
	}
	a.repositories().FetchMissing(ctx, folder, func(spec gitsource.Spec, err error) {
		if err == nil {
			fmt.Fprintln(a.Err, a.Lang.Say("Fetching %s …", spec))
			return
		}
		a.Warnf("%v\n  what to do: check the address; bmad-mcp method sources update tries it again", err)
	})
	return a.library.At(folder).Speaking(func() lang.Language { return a.Lang }), nil
}
