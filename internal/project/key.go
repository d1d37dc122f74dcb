package project

import (
	"context"
	"net/url"
	"path"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// PlaceOf returns the place of the sessions of the project in an open folder, by the person's settings.
func PlaceOf(dir *durable.Dir, cfg config.Config) (store.Place, error) {
	place := store.Place{Dir: dir, Address: cfg.Store.Address}
	if place.Address == "" {
		return place, nil
	}
	var err error
	place.Key, err = keyOf(dir, cfg.Store.Project)
	return place, err
}

// keyOf returns the name of a project in a shared store: the person's, else one made of the git remote, so that
// clones and worktrees share it, else the folder's own id.
func keyOf(dir *durable.Dir, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	ctx := context.Background() // git only reads a text here
	address, inside, err := git.Remote(ctx, dir.Path())
	if err != nil {
		return "", fault.New(fault.InvalidArgument, "the project has no name in the store: %w", err).
			WithHint("name it in your settings (project: NAME, or BMAD_PROJECT); nothing was changed")
	}
	if key := RemoteKey(address, inside); key != "" {
		return key, nil
	}
	if id := readID(dir); id != "" {
		return id, nil
	}
	return ensureID(ctx, dir, "")
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
