package codebase

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

const (
	// maxFile bounds a searched file, in bytes.
	maxFile = 1 << 20
	// maxDepth bounds how deep repositories may lie in each other, maxListed the listed files.
	maxDepth, maxListed = 8, 500_000
)

// installed are folders of files by others, left out where git does not say it.
var installed = []string{"node_modules", "bower_components", "__pycache__", "venv"}

// state identifies the contents of a file: the size, and the time of the last change in nanoseconds.
type state struct{ size, changed int64 }

// LeftOut counts files that were not searched.
type LeftOut struct {
	// NotIndexed are new or changed files, which the next search takes in.
	NotIndexed int `json:"not_indexed,omitempty"`
	TooLarge   int `json:"too_large,omitempty"`
	// NotText are files without text in UTF-8.
	NotText    int `json:"not_text,omitempty"`
	Unreadable int `json:"unreadable,omitempty"`
}

// list has the files of a project.
type list struct {
	dir *durable.Dir
	// isClosed reports whether the program may not read in a folder, by the path of the system.
	isClosed func(folder string) bool
	files    map[string]state
	left     LeftOut
	// linked has the folders that were looked at, and whether each is reached through a link.
	linked map[string]bool
	// failure is the reason why git could not list the files of a repository.
	failure error
}

// addFolder adds the files of a folder that git tracks or would track; without git, all files.
func (l *list) addFolder(ctx context.Context, folder string, depth int) error {
	names, err := git.Files(ctx, l.dir.Join(folder))
	if names == nil {
		l.failure = errors.Join(l.failure, err)
		return l.walkFolder(ctx, folder, depth)
	}
	slices.Sort(names)
	last, closed := "", false
	for _, name := range slices.Compact(names) {
		name = path.Join(folder, name)
		if in := path.Dir(name); in != last {
			last, closed = in, l.isLinked(in) || l.isClosed(l.dir.Join(in))
		}
		info, err := os.Lstat(l.dir.Join(name)) // only to describe it, in half the time
		isAway := err == nil && info.IsDir() && !l.dir.Exists(name+"/.git")
		if closed || isAway {
			continue // also a submodule that is not checked out
		}
		if err := l.addEntry(ctx, name, info, err, depth); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// isLinked reports whether a folder is a link, or lies below one: it may lead to a folder that is closed.
func (l *list) isLinked(folder string) bool {
	if folder == "." {
		return false
	}
	is, isKnown := l.linked[folder]
	if !isKnown {
		info, err := os.Lstat(l.dir.Join(folder))
		is = err != nil || !info.IsDir() || l.isLinked(path.Dir(folder))
		l.linked[folder] = is
	}
	return is
}

// walkFolder adds all files of a folder without git, but for hidden ones and installed ones.
func (l *list) walkFolder(ctx context.Context, folder string, depth int) error {
	entries, err := l.dir.ReadDir(folder)
	if err != nil {
		l.left.Unreadable++
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || slices.Contains(installed, e.Name()) {
			continue
		}
		info, err := e.Info()
		if err := l.addEntry(ctx, path.Join(folder, e.Name()), info, err, depth); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// addEntry adds a file, or the files of a folder.
func (l *list) addEntry(ctx context.Context, name string, info fs.FileInfo, err error, depth int) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil, !fs.ValidPath(name), len(l.files) >= maxListed:
		l.left.Unreadable++
	case info.IsDir() && (depth > maxDepth || l.isClosed(l.dir.Join(name))):
	case info.IsDir() && l.dir.Exists(name+"/.git"):
		return l.addFolder(ctx, name, depth+1)
	case info.IsDir():
		return l.walkFolder(ctx, name, depth)
	case info.Size() > maxFile:
		l.left.TooLarge++
	case info.Mode().IsRegular() && info.Size() > 0:
		l.files[name] = state{info.Size(), info.ModTime().UnixNano()}
	}
	return ctx.Err()
}
