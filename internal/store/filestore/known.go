package filestore

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"bmad-mcp/internal/durable"
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

func (k Known) read(dir *durable.Dir) []string {
	data, err := dir.ReadFile(knownFile, maxKnownFile)
	if err != nil {
		return nil
	}
	var list struct {
		Projects []string `json:"projects"`
	}
	if json.Unmarshal(data, &list) != nil {
		return nil
	}
	return list.Projects
}

// Add puts a project folder on the list.
func (k Known) Add(ctx context.Context, project string) error {
	if k.Folder == "" {
		return nil
	}
	if slices.Contains(k.List(), project) {
		return nil
	}
	if err := os.MkdirAll(k.Folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
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
	list := k.read(dir)
	if slices.Contains(list, project) {
		return nil
	}
	list = append([]string{project}, list...)
	data, err := json.MarshalIndent(map[string]any{"projects": list[:min(len(list), maxKnown)]}, "", "  ")
	if err != nil {
		return err
	}
	return dir.Replace(knownFile, append(data, '\n'))
}
