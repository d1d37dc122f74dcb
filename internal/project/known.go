package project

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// Known is the list of projects in which sessions were started, kept in the user's state
// folder so that a session is found again from anywhere.
type Known struct {
	// Folder holds projects.json; it is created when the first project is added.
	Folder string
}

const (
	knownFile = "projects.json"
	knownLock = "projects.lock"
	// maxKnown bounds the list; the projects added longest ago are dropped.
	maxKnown = 1000
	// maxKnownFile is in bytes, enough for maxKnown of the longest paths.
	maxKnownFile = maxKnown * 8 << 10
)

// knownList is the file's form.
type knownList struct {
	// Version is 2 if the folders are recorded without links; older files have them as callers named them.
	Version  int      `json:"version,omitempty"`
	Projects []string `json:"projects"`
}

const withoutLinks = 2

// readKnown reads the list. A missing one is empty.
func readKnown(dir *durable.Dir) (list knownList, err error) {
	data, err := dir.ReadFile(knownFile, maxKnownFile)
	if errors.Is(err, fs.ErrNotExist) {
		return knownList{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return knownList{}, fault.New(fault.Storage, "the list of projects in %s cannot be read: %w", filepath.Join(dir.Path(), knownFile), err).
			WithHint("repair the file, or move it away: each project is listed again with its next step")
	}
	return list, nil
}

// List returns the known project folders, the one added last first.
func (k Known) List() []string {
	folders, _, _ := k.Recorded() // doctor and the commands that list projects name a list that cannot be read
	return folders
}

// Recorded returns the known project folders, and whether they are recorded without links, so
// that one that has become a link since then leads to another.
func (k Known) Recorded() (folders []string, real bool, err error) {
	dir, err := durable.OpenDir(k.Folder)
	if err != nil {
		return nil, true, nil //nolint:nilerr // there is no state folder yet
	}
	defer func() { _ = dir.Close() }()
	list, err := readKnown(dir)
	return list.Projects, list.Version >= withoutLinks, err
}

// Add puts a project folder on the list.
func (k Known) Add(ctx context.Context, project string) error {
	project = trust.PathOf(project)
	if k.Folder == "" {
		return nil
	}
	if err := os.MkdirAll(k.Folder, 0o700); err != nil {
		return err
	}
	dir, err := durable.OpenDir(k.Folder)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	list, err := readKnown(dir)
	if isListed := list.Version >= withoutLinks && slices.Contains(list.Projects, project); err != nil || isListed {
		return err
	}
	return change(ctx, dir, func(list []string) []string {
		if slices.Contains(list, project) {
			return list
		}
		list = slices.DeleteFunc(list, func(have string) bool { // a folder that comes back is added again
			_, err := os.Lstat(have)
			return errors.Is(err, fs.ErrNotExist)
		})
		return append([]string{project}, list...)
	})
}

// Remove takes a project folder off the list, and reports whether it was on it.
func (k Known) Remove(ctx context.Context, project string) (removed bool, err error) {
	dir, err := durable.OpenDir(k.Folder)
	if err != nil {
		return false, nil //nolint:nilerr // without a list that can be read, nothing is to be removed
	}
	defer func() { _ = dir.Close() }()
	recorded, err := readKnown(dir)
	real := trust.PathOf(project)
	isProject := func(have string) bool { return have == project || have == real }
	if err != nil || !slices.ContainsFunc(recorded.Projects, isProject) {
		return false, err
	}
	err = change(ctx, dir, func(list []string) []string {
		return slices.DeleteFunc(list, func(have string) bool {
			removed = removed || isProject(have)
			return isProject(have)
		})
	})
	return removed, err
}

// change replaces the list in a folder under its lock.
func change(ctx context.Context, dir *durable.Dir, to func([]string) []string) error {
	lock, err := dir.Lock(ctx, knownLock)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	before, err := readKnown(dir)
	if err != nil {
		return err
	}
	list := slices.Clone(before.Projects)
	if before.Version < withoutLinks {
		for i, project := range list {
			list[i] = trust.PathOf(project)
		}
	}
	list = to(list)
	if before.Version == withoutLinks && slices.Equal(list, before.Projects) {
		return nil
	}
	data, err := json.MarshalIndent(knownList{withoutLinks, list[:min(len(list), maxKnown)]}, "", "  ")
	if err != nil {
		return err
	}
	return dir.Replace(knownFile, append(data, '\n'))
}
