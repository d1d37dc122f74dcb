// Package store keeps sessions and the large texts they refer to.
//
// [Sessions] and [Contents] are what a backend offers; package filestore is the
// one on disk, [Mem] the one in memory, and package storetest the suite both
// must pass.
package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Sessions keeps sessions. Errors carry a fault code: NotFound, Conflict, or Storage.
type Sessions interface {
	// Create stores a new session under the first free task name, which it sets in s.
	Create(ctx context.Context, s *workflow.Session, names Names) error
	// Get returns a session by its id.
	Get(ctx context.Context, id string) (*workflow.Session, error)
	// Find returns the id for an id or a task name.
	Find(ctx context.Context, ref string) (id string, err error)
	// List returns every readable session in short, the oldest first, and what could not be read.
	List(ctx context.Context) ([]workflow.Summary, []Broken, error)
	// Update is the only way to change a session: change runs on a fresh copy under
	// the session's lock, and what it leaves is stored with the next revision. An
	// error of change is returned as it is and stores nothing. When nothing was
	// stored, undo is run, still under the lock.
	Update(ctx context.Context, id string, change func(*workflow.Session) error, undo ...func()) (*workflow.Session, error)
}

// Recent knows which sessions were changed last.
type Recent interface {
	// Latest returns at most n readable sessions, the ones changed last first, at a cost that
	// hardly grows with how many there are.
	Latest(ctx context.Context, n int) ([]workflow.Summary, error)
}

// Contents keeps large texts.
type Contents interface {
	// Put stores texts durably and returns a reference for each, in order.
	Put(ctx context.Context, sessionID string, texts []Text) ([]workflow.ContentRef, error)
	// Read returns the text behind a reference.
	Read(ctx context.Context, ref workflow.ContentRef) (string, error)
	// Drop removes texts that were put for a change which then failed, as far as it can.
	Drop(refs []workflow.ContentRef)
}

// Text is one text to keep.
type Text struct {
	Stage workflow.StageID
	// Kind is part of the file name: claude_result, codex_result, final_result.
	Kind string
	Body string
	At   time.Time
}

// Names proposes task names for a new session.
type Names struct {
	// Candidate returns the n-th choice, counted from 0; no choice comes back for ever.
	Candidate func(n int) string
	// Taken reports a name that must be passed over though no session has it; nil takes none.
	Taken func(name string) bool
}

// Broken is a stored session that cannot be read.
type Broken struct {
	// Path is relative to the project.
	Path string
	Err  error
}

// FirstFree returns the number of the first candidate for which taken is false,
// in a logarithmic number of probes: numbers are given out from 0 up, so the
// taken ones are a run. Where they are not, some later free number is returned.
func FirstFree(taken func(n int) bool) int {
	if !taken(0) {
		return 0
	}
	low, high := 0, 1 // low is taken
	for taken(high) {
		low, high = high, high*2
	}
	for low+1 < high {
		if mid := low + (high-low)/2; taken(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// NotFound is the error for an id or name that no session has.
func NotFound(ref string) error {
	return fault.New(fault.NotFound, "no session has the id or task name %q", ref).
		WithHint("status without a session lists them (in a terminal: bmad-mcp sessions)")
}

// SortByAge sorts sessions by creation time, then id.
func SortByAge(sessions []workflow.Summary) {
	slices.SortFunc(sessions, func(a, b workflow.Summary) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.SessionID, b.SessionID))
	})
}
