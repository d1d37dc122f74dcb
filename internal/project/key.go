package project

import (
	"context"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// Locate returns the place of the sessions of the project in an open folder, by the person's settings, and their store.
// What a folder names as its project in a shared store has to be what is remembered of it.
func Locate(dir *durable.Dir, cfg config.Config, state trust.UserState, open func(store.Place) (store.Backend, error)) (store.Place, store.Backend, error) {
	place := store.Place{Dir: dir, Address: cfg.Store.Address}
	if place.Address == "" {
		if err := checkStoreRequired(dir.Path(), cfg); err != nil {
			return place, nil, err
		}
		sessions, err := open(place)
		return place, sessions, err
	}
	ctx := context.Background() // git only reads a text here
	ties, _ := state.Ties()     // if nothing can be remembered, what a folder names first counts each time
	named, err := openNamed(dir)
	if err != nil {
		return place, nil, err
	}
	c, err := claimIn(ctx, named, cfg, ties)
	if named != dir {
		_ = named.Close()
	}
	if err != nil {
		return place, nil, err
	}
	place.Key = c.key
	sessions, err := open(place)
	if err == nil {
		err = c.settle(ctx, state, ties, sessions)
	}
	return place, sessions, err
}

// checkStoreRequired refuses files in a folder whose settings, or those above it in the repository, demand a store.
func checkStoreRequired(folder string, cfg config.Config) error {
	top := Top(folder)
	for at := folder; !cfg.Store.Required; {
		if at == top {
			return nil
		}
		at = filepath.Dir(at)
		if hasAny(at, config.ProjectFile) {
			if above, err := durable.OpenDir(at); err == nil {
				cfg, _ = config.Source{}.Load(above) // a problem of that file is told there
				_ = above.Close()
			}
		}
	}
	return fault.New(fault.InvalidArgument, "the runs of %s are in the store of a team (store: required in %s), and none is named here", top, config.ProjectFile).
		WithHint("set store in your own settings (~/.config/%s), or BMAD_STORE where this program is started, to the address that your team uses; "+
			"no files are used in its place, and nothing was changed", config.UserFile)
}

// RemoteKey returns the name of a project with a git remote, the same for all ways to write its address: the host
// in lower case and the path, without user, scheme, port and .git. inside is the path of the project in the
// repository, and follows after two slashes. It is "" if the address names no other machine.
func RemoteKey(address, inside string) string {
	host, repository, isShort := strings.Cut(address, ":")
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil || u.Scheme == "file" {
			return ""
		}
		host, repository = u.Hostname(), u.Path
	} else if _, after, ok := strings.Cut(host, "@"); ok {
		host = after
	}
	if !isShort || len(host) < 2 || strings.ContainsAny(host, `/\`) { // a path, on Windows behind a letter
		return ""
	}
	repository = strings.Trim(path.Clean("/"+strings.TrimRight(repository, "/")), "/")
	repository = strings.TrimRight(strings.TrimSuffix(repository, ".git"), "/")
	key := strings.ToLower(host) + "/" + repository
	if inside != "." && inside != "" {
		key += "//" + inside
	}
	if repository == "" || !config.IsProjectName(key) {
		return ""
	}
	return key
}
