package filestore

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
)

// Known is the list of projects in which sessions were started, kept in the
// user's state folder so that a session is found again from anywhere.
type Known struct {
	// Folder is where projects.json stands; it is made when the first project is added.
	Folder string
}

const (
	knownFile = "projects.json"
	knownLock = "projects.lock"
	// maxKnown bounds the list; the projects added longest ago fall out.
	maxKnown = 1000
	// maxKnownFile is in bytes: as many of the longest paths there are.
	maxKnownFile = maxKnown * 8 << 10
)

// List returns the known project folders, the one added last first. A missing
// or broken list is an empty one: it is a help, not a record.
func (k Known) List() []string {
	dir, err := durable.OpenDir(k.Folder)
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	return k.read(dir)
}

// projects is the file's form.
type projects struct {
	// Version is 2 where the folders are recorded without links; files of before have them
	// as callers named them.
	Version  int      `json:"version,omitempty"`
	Projects []string `json:"projects"`
}

const withoutLinks = 2

func (k Known) read(dir *durable.Dir) []string { return k.readAll(dir).Projects }

func (k Known) readAll(dir *durable.Dir) projects {
	var list projects
	data, err := dir.ReadFile(knownFile, maxKnownFile)
	if err != nil || json.Unmarshal(data, &list) != nil {
		return projects{}
	}
	return list
}

// Recorded returns the known project folders, and whether they are recorded without links, so
// that one that has become a link since then leads to another.
func (k Known) Recorded() (folders []string, real bool) {
	dir, err := durable.OpenDir(k.Folder)
	if err != nil {
		return nil, true
	}
	defer func() { _ = dir.Close() }()
	list := k.readAll(dir)
	return list.Projects, list.Version >= withoutLinks
}

// Add puts a project folder on the list.
func (k Known) Add(ctx context.Context, project string) error {
	project = real(project)
	if k.Folder == "" {
		return nil
	}
	if list, real := k.Recorded(); real && slices.Contains(list, project) {
		return nil
	}
	if err := os.MkdirAll(k.Folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return k.change(ctx, func(list []string) []string {
		if slices.Contains(list, project) {
			return list
		}
		return append([]string{project}, list...)
	})
}

// Remove takes a project folder off the list, and reports whether it was on it.
func (k Known) Remove(ctx context.Context, project string) (removed bool, err error) {
	list := k.List()
	if !slices.Contains(list, project) && !slices.Contains(list, real(project)) {
		return false, nil
	}
	err = k.change(ctx, func(list []string) []string {
		return slices.DeleteFunc(list, func(have string) bool {
			match := have == project || have == real(project)
			removed = removed || match
			return match
		})
	})
	return removed, err
}

// change replaces the list under its lock.
func (k Known) change(ctx context.Context, to func([]string) []string) error {
	dir, err := durable.OpenDir(k.Folder)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	lock, err := dir.Lock(ctx, knownLock)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	before := k.readAll(dir)
	list := slices.Clone(before.Projects)
	if before.Version < withoutLinks {
		for i, project := range list {
			list[i] = real(project)
		}
	}
	list = to(list)
	if before.Version == withoutLinks && slices.Equal(list, before.Projects) {
		return nil
	}
	data, err := json.MarshalIndent(projects{withoutLinks, list[:min(len(list), maxKnown)]}, "", "  ")
	if err != nil {
		return err
	}
	return dir.Replace(knownFile, append(data, '\n'))
}

// real returns the path without links of a folder; of one that is not there, the path itself.
func real(folder string) string {
	if found, err := filepath.EvalSymlinks(folder); err == nil {
		return found
	}
	return folder
}
