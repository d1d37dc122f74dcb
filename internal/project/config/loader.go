package config

import (
	"os"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// loader fills in settings from their sources, one after the other.
type loader struct {
	*Config

	from source
	// base is the folder that relative paths are resolved against.
	base string
	// project is the folder of the project, userFile the user's file; "" if there is none.
	project, userFile string
	confined          bool
}

// yields reports whether a value of the project's file does not count because the person has set one,
// and notes that. It remembers the person's values.
func (l *loader) yields(key, v string) bool {
	if l.from == own && l.byPerson[key] {
		l.ignore(lang.T("%s %s", key, v), yoursHolds)
		return true
	}
	l.byPerson[key] = l.from != own
	return false
}

var yoursHolds = lang.T("yours holds")

// ignore notes that a setting of the project's file does not count, and why.
func (l *loader) ignore(what, why lang.Text) {
	l.note(lang.T("%s of %s does not count: %s", what, ProjectFile, why))
}

// folder sets a folder, which has to exist.
func (l *loader) folder(field *string, key, v string) error {
	if v == "" {
		return lang.Errorf("%s names no folder", key)
	}
	if !filepath.IsAbs(v) {
		v = filepath.Join(l.base, filepath.FromSlash(v))
	}
	if !l.isFolder(v) {
		return lang.Errorf("%s %q is not an existing folder", key, v)
	}
	*field = v
	return nil
}

// isFolder reports whether a path is a folder. For a path of a project's file that leads out of
// the project, directly or through a link, a confined server does not reveal that.
func (l *loader) isFolder(path string) bool {
	if l.from != own || !l.confined {
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	}
	rel, err := filepath.Rel(l.base, path)
	if err != nil || !filepath.IsLocal(rel) {
		return true
	}
	dir, err := durable.OpenDir(l.base)
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }() // nothing was written
	info, err := dir.Stat(filepath.ToSlash(rel))
	return err == nil && info.IsDir()
}

// userInside reports whether the user's file is inside the project, which can then write it.
func (l *loader) userInside() bool {
	return l.project != "" && l.userFile != "" && inside(l.project, l.userFile)
}
