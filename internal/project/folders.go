package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
)

// folders are the folders that may be opened.
type folders struct {
	openDir func(name string) (*durable.Dir, error)
	// within are the roots, without links, that every folder has to lie in; with none, and
	// with a nil reach, any folder may be opened.
	within []string
	reach  *reach.Reach
}

// OpenFolder opens an existing folder if it may be served. The error matches
// reach.ErrOutside or durable.ErrOutside if it may not.
func (f *folders) OpenFolder(name string) (*durable.Dir, error) {
	switch {
	case f.reach != nil:
		return f.openReached(name)
	case len(f.within) == 0:
		return f.openDir(name)
	}
	root, rel, ok := f.servedAs(name)
	if !ok {
		return nil, durable.ErrOutside
	}
	return durable.OpenDirIn(root, rel, name)
}

// openNearest opens the project of a folder. Above the roots there is none.
func (f *folders) openNearest(name string) (*durable.Dir, error) {
	dir, err := f.OpenFolder(name)
	if err != nil {
		return nil, err
	}
	nearest := Nearest(dir.Path())
	_, _, isServed := f.servedAs(nearest)
	if nearest == dir.Path() || len(f.within) > 0 && !isServed {
		return dir, nil
	}
	_ = dir.Close() // nothing was written
	return f.OpenFolder(nearest)
}

// openReached opens a folder that the reach lets the caller use.
func (f *folders) openReached(name string) (*durable.Dir, error) {
	spot, err := f.reach.Find(name)
	if err != nil {
		return nil, err
	}
	dir, err := durable.OpenDirIn(spot.Root, spot.Rel, name)
	if errors.Is(err, durable.ErrOutside) {
		return nil, &reach.Refusal{Folder: name}
	}
	if err != nil {
		return nil, err
	}
	if !isAt(dir, spot.Real()) {
		_ = dir.Close() // nothing was written
		return nil, &reach.Refusal{Folder: name}
	}
	return dir, nil
}

// isAt reports whether an open folder is the one at a path without links: a link could
// have come into that path after it was judged.
func isAt(dir *durable.Dir, real string) bool {
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

// servedAs returns the root that a folder lies in, and the path from there.
func (f *folders) servedAs(name string) (root, rel string, ok bool) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		real = name // nothing to open; the answer must not show whether it exists
	}
	for _, root := range f.within {
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			return root, rel, true
		}
	}
	return "", "", false
}

// Serves reports whether a folder exists and may be served.
func (f *folders) Serves(name string) bool {
	if !filepath.IsAbs(name) {
		return false
	}
	dir, err := f.OpenFolder(name)
	if err != nil {
		return false
	}
	_ = dir.Close()
	return true
}

// open opens the folder that a caller names as cwd, by open; it creates nothing.
func (f *folders) open(cwd string, open func(name string) (*durable.Dir, error)) (*durable.Dir, error) {
	if here, ok := fromWindows(cwd); ok && filepath.Separator == '/' {
		foreign := fault.New(fault.InvalidArgument, "cwd %q is a path of Windows, and the server runs on another system", cwd).
			WithHint("leave cwd out for the folder that the host works in, or pass the path that the folder has here")
		if here != "" {
			foreign.AddHint("; in WSL it is %s", here)
		}
		return nil, foreign
	}
	if !filepath.IsAbs(cwd) {
		return nil, fault.New(fault.InvalidArgument, "cwd %q is not an absolute path", cwd).
			WithHint("pass the absolute path of the project folder, or leave cwd out for the folder that the host works in")
	}
	cwd = filepath.Clean(cwd)
	dir, err := open(cwd)
	var refused *reach.Refusal
	switch {
	case errors.As(err, &refused):
		return nil, outOfReach(refused)
	case errors.Is(err, durable.ErrOutside):
		return nil, fault.New(fault.NotAllowed, "cwd %q lies in none of the folders that this server serves", cwd).
			WithHint("pass a folder in one of: %s", strings.Join(f.within, ", "))
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.InvalidArgument, "cwd %q does not exist", cwd).
			WithHint("pass the path of an existing project folder; it is not made for you")
	case errors.Is(err, syscall.ENOTDIR):
		return nil, fault.New(fault.InvalidArgument, "cwd %q is not a folder", cwd).
			WithHint("pass the path of the project folder")
	case err != nil:
		return nil, fault.New(fault.Storage, "cwd %q cannot be opened: %w", cwd, err).WithHint("check its permissions")
	}
	return dir, nil
}

// fromWindows returns the path that one of Windows has in WSL, "" if it has none; ok is false for paths of other systems.
func fromWindows(path string) (here string, ok bool) {
	plain := strings.NewReplacer("file:///", "", `\`, "/", "%3A", ":", "%3a", ":").Replace(path)
	if drive, rest, found := strings.Cut(strings.TrimPrefix(plain, "/"), ":"); found && len(drive) == 1 {
		return "/mnt/" + strings.ToLower(drive) + "/" + strings.TrimLeft(rest, "/"), true
	}
	if parts := strings.SplitN(strings.ToLower(plain), "/", 5); strings.HasPrefix(plain, "//wsl") && len(parts) == 5 {
		return plain[len(plain)-len(parts[4])-1:], true
	}
	return "", strings.HasPrefix(plain, "//wsl") || !filepath.IsAbs(path) && strings.Contains(path, `\`)
}

// outOfReach returns the error for a folder that the caller may not use.
func outOfReach(refused *reach.Refusal) error {
	f := fault.New(fault.NotAllowed, "%w", refused)
	if !refused.Why.Empty() {
		return f.WithHint("pass the folder of a project; this one cannot be allowed")
	}
	dir := "DIR"
	if reach.Plain(refused.Folder) {
		dir = quotedPath(refused.Folder)
	}
	return f.
		WithHint("it works in the folders that the host has open, in projects with runs and in folders that the person has added; the person can add this one, or a folder that holds their projects, in a terminal: bmad-mcp projects add %s", dir)
}

// quotedPath returns a path as one types it in a shell.
func quotedPath(path string) string {
	plain := func(r rune) bool {
		return r > 0x7f || unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+@%:,=~", r)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) || strings.HasPrefix(path, "~") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
