package project

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// claim is what a folder names as its project in a shared store.
type claim struct {
	trust.Claim
	// key is the project's name in the store.
	key string
}

// claimIn returns the claim of an open folder: the name that the person has given, else one made of the git remote, so
// that clones and worktrees share it, else the folder's own id. A variable can come from a file of the folder, so that
// what it names is a claim too. ties are those that are remembered.
func claimIn(ctx context.Context, dir *durable.Dir, cfg config.Config, ties []trust.Tie) (c claim, err error) {
	c.key = cfg.Store.Project
	c.OwnProject = c.key != "" && cfg.Origin("project").Kind != config.FromVariable
	c.OwnStore = cfg.Origin("store").Kind != config.FromVariable
	if c.Path, err = filepath.EvalSymlinks(dir.Path()); err != nil {
		return c, store.Trouble(dir, err)
	}
	c.Folder, c.Project = c.Path, c.key
	if c.OwnProject {
		return c, nil
	}
	origin, err := git.OriginOf(ctx, dir.Path())
	if c.Home = origin.Home; c.key != "" {
		c.Folder = cmp.Or(c.Home, c.Path) // the remembered project of the repository holds, also if a variable names another
		return c, nil
	}
	if err != nil {
		return c, fault.New(fault.InvalidArgument, "the project has no name in the store: %w", err).
			WithHint("name it in your settings (project: NAME, or BMAD_PROJECT); nothing was changed")
	}
	c.key, c.Project = RemoteKey(origin.Address, origin.Inside), RemoteKey(origin.Address, ".")
	if c.key == "" {
		return c, c.useOwnID(ctx, dir, ties)
	}
	c.Folder = cmp.Or(c.Home, c.Path)
	return c, nil
}

// useOwnID has the folder claim its own id. A name is not one: the file that has it can come from anywhere.
func (c *claim) useOwnID(ctx context.Context, dir *durable.Dir, list []trust.Tie) (err error) {
	id, before := readID(dir), c.Before(list)
	switch {
	case id == "" && before != "" && !isLocal(before):
		return (&trust.Untied{Claim: c.Claim, Before: before}).Refuse()
	case id == "":
		id, err = ensureID(ctx, dir, before)
	case !isLocal(id):
		return fault.New(fault.NotAllowed, "%s names the project %q, and a file of the folder names none in a store that is shared", dir.Join(workflow.ProjectFile), id).
			WithHint("if this is the project, name it in your own settings (project: NAME); else remove the file, and the folder is a project of its own; nothing was changed")
	}
	c.Project, c.key = id, id
	return err
}

// settle remembers the claim, for a store that is open, unless something else is remembered, or the project has sessions
// of which nothing is known here. An id is made for one folder, so that those of another folder are not shown by its file
// alone.
func (c claim) settle(ctx context.Context, state trust.UserState, ties []trust.Tie, sessions store.Sessions) error {
	if named, ok := sessions.(store.Named); ok {
		c.Store = addressOf(named)
	}
	known, err := c.Judge(ties)
	if err != nil || known || c.OwnProject && c.OwnStore {
		return err
	}
	isNew := c.Before(ties) == ""
	if isLocal(c.key) && isNew {
		if page, err := store.List(ctx, sessions, store.Query{Limit: 1}); err != nil || page.Total > 0 {
			return cmp.Or(err, error((&trust.Untied{Claim: c.Claim}).Refuse()))
		}
	}
	var refused *trust.Untied
	if err := state.Tie(ctx, c.Claim); errors.As(err, &refused) { // another process was first
		return err
	}
	return nil
}

// addressOf returns the address of a store without the account.
func addressOf(s store.Named) string {
	scheme, address, _ := strings.Cut(s.Name(), "://")
	if _, host, ok := strings.Cut(address, "@"); ok {
		address = host
	}
	return scheme + "://" + address
}

func isLocal(id string) bool { return strings.HasPrefix(id, localKind) }
