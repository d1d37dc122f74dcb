package store

import (
	"context"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Place says where the sessions of a project are kept.
type Place struct {
	// Dir is the open folder of the project.
	Dir *durable.Dir
	// Address is the address of a team's shared database, and Key the project's name in it. Both are "" if
	// the sessions are files in Dir.
	Address, Key string
}

// Backend is everything a store offers for one project.
type Backend interface {
	Sessions
	Recent
	Contents
	Raw
}

// Sessions keeps sessions. Errors carry a fault code: NotFound, Conflict, or Storage.
type Sessions interface {
	// Create stores a new session under the first free task name, which it sets in s.
	Create(ctx context.Context, s *workflow.Session, names Names) error
	// Get returns a session by id.
	Get(ctx context.Context, id string) (*workflow.Session, error)
	// Find returns the id for an id or a task name.
	Find(ctx context.Context, ref string) (id string, err error)
	// All lists all sessions. A file unchanged since the last list is not read again.
	All(ctx context.Context) (Listing, error)
	// Update is the only way to change a session: change runs at most once, on a fresh copy under
	// the session's lock, and the result is stored with the next revision. Inside, texts are put
	// and read through tx alone. An error of change is returned as it is and stores nothing.
	Update(ctx context.Context, id string, change Change) (*workflow.Session, error)
}

// Change changes a session within an update.
type Change func(tx Tx, s *workflow.Session) error

// Tx is an update in progress.
type Tx interface {
	Contents
	// Put keeps texts of the session and returns a reference for each, in order. They are
	// durable before the session refers to them, and dropped if nothing is stored.
	Put(ctx context.Context, texts []Text) ([]workflow.ContentRef, error)
}

// Recent knows which sessions were changed last.
type Recent interface {
	// Latest lists sessions, among them the n readable ones changed last, at a cost which hardly grows with
	// the number of sessions. If more sessions are known already, it lists them too.
	Latest(ctx context.Context, n int) (Listing, error)
	// TaskNames returns the task names in use, at a like cost.
	TaskNames(ctx context.Context) ([]string, error)
}

// Named is a [Backend] whose sessions are not files of the project.
type Named interface {
	// Name names the store for people, without a password.
	Name() string
}

// Team is a [Backend] that several people share.
type Team interface {
	// Role returns the role of this program's person in the store, "" if it may be that of all.
	Role() string
}

// Queued is a [Backend] of a team that has a queue of runs.
type Queued interface {
	// AtWorkers reports whether the workers of the team have a session: one works on it, or takes it next. It is false
	// for a session that this process works on as such a worker.
	AtWorkers(ctx context.Context, id string) (bool, error)
}

// Contents reads large texts.
type Contents interface {
	// Read returns the text behind a reference. The error matches fs.ErrNotExist if the text is gone.
	Read(ctx context.Context, ref workflow.ContentRef) (string, error)
}

// Raw gives sessions in their stored form.
type Raw interface {
	// Stored returns the stored form of a session, byte for byte, readable or not.
	Stored(ctx context.Context, id string) ([]byte, error)
	// StoredHash returns the hash of the stored form. If the session was listed, the hash is known.
	StoredHash(ctx context.Context, id string) (string, error)
	// Confirm makes the visible state of a session durable: the process that stored it may have died
	// before doing so.
	Confirm(ctx context.Context, id string) error
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
	// Candidate returns the n-th choice, counted from 0; the choices never run out.
	Candidate func(n int) string
	// Taken reports whether a name must not be given out even if no session has it; it may be nil.
	Taken func(name string) bool
	// Named is called once the session has a name, before it is stored: a signature is about the name, too. It may be
	// nil, and is called again if another session was faster.
	Named func(*workflow.Session) error
}

// Give gives a name to a session.
func (n Names) Give(s *workflow.Session, name string) error {
	s.TaskName = name
	if n.Named == nil {
		return nil
	}
	return n.Named(s)
}

// Broken is a stored session that cannot be read, or whose place in the store cannot be trusted.
type Broken struct {
	// Path is relative to the project.
	Path string
	Err  error
	// Listed is true if it can be read, and is in the list too: what the store notes beside it is not what it says.
	Listed bool
}

// CannotBeRead returns the broken sessions missing in lists.
func CannotBeRead(broken []Broken) []Broken {
	return slices.DeleteFunc(slices.Clone(broken), func(b Broken) bool { return b.Listed })
}

// FirstFree returns the number of the first candidate for which taken is false, in a logarithmic number of
// probes: numbers are given out from 0 up, so the taken ones have no gap. After a gap, some later free
// number is returned.
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

// NotFound returns the error for an unknown id or name. names are the existing task names, as far as they
// are known.
func NotFound(ref string, names ...string) error {
	return fault.New(fault.NotFound, "no run has the id or task name %q", ref).
		WithHint("status without a run lists them (in a terminal: bmad-mcp status --all)").Suggest(ref, names)
}
