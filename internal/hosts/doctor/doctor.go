// Package doctor keeps the files of a project in order.
//
// A [Check] is one check of a project or of this machine with its result; a [Report] has all of them.
// [ProjectFiles.Fix] rebuilds files from the sessions and moves orphans into a dated [Trash] folder.
// [ProjectFiles.Trim] removes unused texts of finished sessions. Neither touches a session, a text in use, or
// an artifact.
package doctor

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
)

// CheckStatus is the result of a check.
type CheckStatus string

// The statuses. A warning is worth knowing and breaks nothing.
const (
	OK      CheckStatus = "ok"
	Warning CheckStatus = "warning"
	Problem CheckStatus = "problem"
)

// Group is the subject of a check.
type Group string

// The groups.
const (
	OfProject Group = "project"
	OfMachine Group = "machine"
)

// Check is one check with a result.
type Check struct {
	Group  Group       `json:"group"`
	Name   string      `json:"check"`
	Status CheckStatus `json:"status"`
	// Detail is the result in a few words.
	Detail string `json:"detail"`
	// Items are the defects.
	Items []Defect `json:"items,omitempty"`
	// Remedy is the next step, or "" if all is well.
	Remedy string `json:"remedy,omitempty"`
	// Fixable is true if Fix repairs all of it.
	Fixable bool `json:"fixable,omitempty"`
}

// Defect is one fault with a place.
type Defect struct {
	// Path is relative to the project, or absolute outside of it.
	Path string `json:"path"`
	What string `json:"what"`
}

// addDefect adds a defect. The check gets the status, unless it has a worse one.
func (c *Check) addDefect(status CheckStatus, path, what string) {
	c.Items = append(c.Items, Defect{path, what})
	if c.Status != Problem {
		c.Status = status
	}
}

// Warn makes a check without findings so far a warning, with a remedy.
func (c *Check) Warn(remedy string) {
	if c.Status == OK {
		c.Status, c.Remedy = Warning, remedy
	}
}

// Report is the outcome of all checks.
type Report struct {
	Cwd string `json:"cwd"`
	// OK is true if no check found a problem; warnings leave it true.
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
	// Fixed lists the repairs, if they were asked for.
	Fixed *Fixed `json:"fixed,omitempty"`
}

// Add appends checks.
func (r *Report) Add(checks ...Check) {
	r.Checks = append(r.Checks, checks...)
	r.OK = true
	for _, c := range r.Checks {
		r.OK = r.OK && c.Status != Problem
	}
}

// ProjectFiles is a project folder to look after.
type ProjectFiles struct {
	lang.Language // of the results
	// Counts reports whether the history of a session counts here, so that the documents of it are written
	// again; nil takes every one.
	Counts func(id string) bool

	// Worktree returns the folder of the worktree of a task's run with a branch of its own; nil if there are none.
	Worktree func(task string) string

	dir   *durable.Dir
	store *filestore.Store
}

// New returns the project in dir, which the caller closes, and the store of it.
func New(dir *durable.Dir, sessions *filestore.Store) *ProjectFiles {
	return &ProjectFiles{dir: dir, store: sessions}
}

// Trash is the folder for orphans, relative to the project.
const Trash = store.Folder + "/trash"

// trashStamp is the form of the time by which the folders in it are named, in UTC.
const trashStamp = "20060102T150405Z"
