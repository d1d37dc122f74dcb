package engine

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/reach"
)

// confined reports whether there are folders that may not be opened.
func (e *Engine) confined() bool { return e.reach != nil || len(e.within) > 0 }

// openReached opens a folder that the caller may use; the error matches reach.ErrOutside
// where they may not.
func (e *Engine) openReached(cwd string) (*durable.Dir, error) {
	spot, err := e.reach.Find(cwd)
	if err != nil {
		return nil, err
	}
	dir, err := durable.OpenDirIn(spot.Root, spot.Rel, cwd)
	if errors.Is(err, durable.ErrOutside) {
		return nil, &reach.Refusal{Folder: cwd}
	}
	if err != nil {
		return nil, err
	}
	if !opened(dir, spot.Real()) {
		_ = dir.Close() // nothing was written
		return nil, &reach.Refusal{Folder: cwd}
	}
	return dir, nil
}

// opened reports whether an open folder is the one at a path without links: a link could
// have come into that path after it was judged.
func opened(dir *durable.Dir, real string) bool {
	if now, err := filepath.EvalSymlinks(real); err != nil || now != real {
		return false
	}
	is, err := dir.Stat(".")
	if err != nil {
		return false
	}
	at, err := os.Lstat(real)
	return err == nil && os.SameFile(is, at)
}

// outOfReach describes a folder that the caller may not use.
func outOfReach(err error) error {
	var refused *reach.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	if refused.Why != "" {
		return fault.New(fault.NotAllowed, "%w", refused).
			WithHint("pass the folder of a project; this one cannot be allowed")
	}
	dir := "DIR"
	if reach.Plain(refused.Folder) {
		dir = quotedPath(refused.Folder)
	}
	return fault.New(fault.NotAllowed, "%w", refused).
		WithHint("it works in the folders that the host has open, in projects with sessions and in folders that the person has added; the person can add this one, or a folder that holds their projects, in a terminal: bmad-mcp projects add %s", dir)
}

// quotedPath is a path as one types it in a shell.
func quotedPath(path string) string {
	plain := func(r rune) bool {
		return r > 0x7f || strings.ContainsRune("/._-+@%:,=~", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) || strings.HasPrefix(path, "~") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// personNames reports whether the person's own settings name a folder, which may then lie
// anywhere.
func (e *Engine) personNames(folder string) (bool, error) {
	own, err := e.settings.Load(nil)
	return folder == own.Prompts || folder == own.Rubrics, err
}

// mayRead refuses a project whose settings name folders outside of what is served, unless
// the person's own settings name them too.
func (e *Engine) mayRead(cwd string, cfg config.Config) error {
	if !e.confined() {
		return nil
	}
	for _, f := range []struct{ key, name string }{{"prompts", cfg.Prompts}, {"rubrics", cfg.Rubrics}} {
		if rel, err := filepath.Rel(cwd, f.name); f.name == "" || err == nil && filepath.IsLocal(rel) {
			continue
		}
		own, err := e.personNames(f.name)
		if err != nil {
			return err
		}
		if own {
			continue
		}
		if err := e.mayName(f.key, f.name); err != nil {
			return err
		}
	}
	return nil
}

// mayName refuses a folder that a project's setting names and that may not be read, or is not there.
func (e *Engine) mayName(key, name string) error {
	dir, err := e.openFolder(name)
	switch {
	case err == nil:
		return dir.Close()
	case errors.Is(err, reach.ErrOutside), e.reach == nil && !e.serves(name):
		hint := "keep it in the project, or in one of: " + strings.Join(e.within, ", ")
		if e.reach != nil {
			hint = "keep it in the project, or have the person name it in their own settings"
		}
		return fault.New(fault.NotAllowed, "the project's setting %s names a folder that this server does not serve", key).WithHint("%s", hint)
	}
	return fault.New(fault.InvalidArgument, "%s: %s %q is not an existing folder", config.ProjectFile, key, name).WithHint("correct it; nothing was changed")
}

func (e *Engine) serves(name string) bool {
	_, _, ok := e.servedAs(name)
	return ok
}

// FormTimeout is how long a form waits for the person by their own settings.
func (e *Engine) FormTimeout() time.Duration {
	own, err := e.settings.Load(nil)
	if err != nil {
		return config.DefaultFormTimeout
	}
	return cmp.Or(own.FormTimeout, config.DefaultFormTimeout)
}
