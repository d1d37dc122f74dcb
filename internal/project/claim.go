package project

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
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
	// settled is true if nothing has to be remembered: the person has named the project, or it is what is remembered.
	settled bool
}

// claimIn returns the claim of an open folder: the name that the person has given, else one made of the git remote, so
// that clones and worktrees share it, else the folder's own id. It is an error if something else is remembered.
func claimIn(ctx context.Context, dir *durable.Dir, cfg config.Config, state trust.UserState) (c claim, err error) {
	if c.key = cfg.Store.Project; c.key != "" && (cfg.SetBy("project") != workflow.SetByEnvironment || !setsProject(dir)) {
		c.settled = true
		return c, nil
	}
	if c.Path, err = filepath.EvalSymlinks(dir.Path()); err != nil {
		return c, store.Trouble(dir, err)
	}
	c.Folder, c.Project = c.Path, c.key
	list, _ := state.Ties() // if nothing can be remembered, what a folder names first counts each time
	origin, err := git.OriginOf(ctx, dir.Path())
	if c.Home = origin.Home; c.key != "" {
		c.Folder = cmp.Or(c.Home, c.Path) // the remembered project of the repository holds, also if a variable names another
	} else {
		if err != nil {
			return c, fault.New(fault.InvalidArgument, "the project has no name in the store: %w", err).
				WithHint("name it in your settings (project: NAME, or BMAD_PROJECT); nothing was changed")
		}
		c.key, c.Project = RemoteKey(origin.Address, origin.Inside), RemoteKey(origin.Address, ".")
		if c.key != "" {
			c.Folder = cmp.Or(c.Home, c.Path)
		} else if err := c.own(ctx, dir, list); err != nil {
			return c, err
		}
	}
	c.settled, err = c.Judge(list)
	return c, err
}

// own has the folder claim its own id. A name is not one: the file that has it can come from anywhere.
func (c *claim) own(ctx context.Context, dir *durable.Dir, list []trust.Tie) (err error) {
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

// settle remembers the claim, unless the project has sessions of which nothing is known here. An id is made for one
// folder, so that those of another folder are not shown by its file alone.
func (c claim) settle(ctx context.Context, state trust.UserState, sessions store.Sessions) error {
	if c.settled {
		return nil
	}
	if isLocal(c.key) {
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

func isLocal(id string) bool { return strings.HasPrefix(id, localKind) }

// setters are the files of a project from which hosts and shells take variables.
var setters = []string{".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".envrc", ".env", ".vscode/mcp.json", ".cursor/mcp.json",
	".codex/config.toml", ".gemini/settings.json", "opencode.json"}

// setsProject reports whether the name of the project in the environment can come from a file of the project, which is
// not the person's.
func setsProject(dir *durable.Dir) bool {
	return slices.ContainsFunc(setters, func(name string) bool {
		data, err := dir.ReadFile(name, durable.MaxText)
		return err == nil && bytes.Contains(data, []byte("BMAD_PROJECT"))
	})
}
