// Package memory keeps what a team has learned in a project: decisions, failures, learnings of
// agents, shared context and stories, as notes that people can read, review and merge.
//
//	<folder>/structured/<type>.jsonl           one note a line, at most 128 kB; then <type>-000001.jsonl …
//	<folder>/structured/.gitattributes         merges the lines of two branches
//	.bmad-task/locks/memory.lock               held while a note is written
//
// The folder is committed with the repository. The notes are a fold of all lines that does not
// depend on their order ([Fold]), so that git's union of two branches means the same on both
// sides. A line that cannot be read is a [Problem], hides no other, and is never dropped.
//
// # Invariants
//
//   - Notes are data: none opens a gate or changes a session, and a briefing quotes them with
//     author and file (TestBriefingsQuoteNotes).
//   - A memory that fails costs notes, never a step (TestNotesNeverFailAnAction).
//   - The fold of the lines does not depend on their order, because git merges them
//     (TestFoldIsOrderFree, TestGitMergesBothWays).
package memory

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// Paths relative to the project.
const (
	// DefaultFolder holds the notes of a project that has no folder of the method for them.
	DefaultFolder = ".claude/bmad-memory"
	// Subfolder of the folder holds our own notes.
	Subfolder = "structured"
	// LockFile is held while notes or the queue change.
	LockFile = locksFolder + "/memory.lock"

	locksFolder = store.Folder + "/locks"
	ignoreFile  = store.Folder + "/.gitignore"
)

// methodFolders are those in which the kits of the method keep their memory.
var methodFolders = []string{"_bmad/_memory", "_grimoire/_memory"}

// Options are what a Memory needs of its program.
type Options struct {
	// Now is the clock of this machine.
	Now func() time.Time
	// NewID makes a unique id, for tasks of the queue; by default a random one.
	NewID func() string
	// Meaning finds notes by what they mean; with nil, words alone count.
	Meaning Meaning
	Log     *slog.Logger
}

// Memory has the notes of all projects. It is safe for concurrent use, and reads nothing before
// the first use.
type Memory struct {
	Options
	pace pace

	mu     sync.Mutex
	opened *recent.Map[string, *notes]
}

// maxProjects bounds the projects whose notes are kept in memory.
const maxProjects = 16

// New returns the memory of all projects.
func New(o Options) *Memory {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	return &Memory{Options: o, opened: recent.New[string, *notes](maxProjects)}
}

// Book is the notes of one open project.
type Book struct {
	m *Memory
	p *project.Project
	// folder is that of all memory of the project, relative to it.
	folder string
	notes  *notes
}

// Of returns the notes of a project, which stays the caller's to close.
func (m *Memory) Of(p *project.Project) *Book {
	b := &Book{m: m, p: p, folder: Folder(p)}
	key := p.Dir.Join(b.own())
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.opened.Get(key)
	if !ok {
		known = newNotes()
		m.opened.Put(key, known)
	}
	b.notes = known
	return b
}

// Folder returns the folder of a project's memory, relative to the project: the one that the
// person has set, else the one that has notes of ours, else the first that the method has made,
// else our own.
func Folder(p *project.Project) string {
	if p.Config.MemoryDir != "" {
		return p.Config.MemoryDir
	}
	for _, below := range []string{"/" + Subfolder, ""} {
		for _, name := range usualFolders() {
			if info, err := p.Dir.Stat(name + below); err == nil && info.IsDir() {
				return name
			}
		}
	}
	return DefaultFolder
}

// usualFolders are those where the memory can be that no setting names.
func usualFolders() []string { return append(slices.Clone(methodFolders), DefaultFolder) }

// own is the folder of our notes, relative to the project.
func (b *Book) own() string { return path.Join(b.folder, Subfolder) }

// Exists reports whether the project has notes of ours, or a folder for them.
func (b *Book) Exists() bool {
	_, err := b.p.Dir.Stat(b.own())
	return !errors.Is(err, fs.ErrNotExist)
}

// Path returns the folder of our notes, relative to the project.
func (b *Book) Path() string { return b.own() }

// Usable refuses what goes with the memory where the person has switched it off.
func (b *Book) Usable() error { return b.allowed() }

// allowed refuses everything where the person has switched the memory off.
func (b *Book) allowed() error {
	if b.p.Config.Memory == config.MemoryOff {
		return fault.New(fault.NotAllowed, "the project memory is switched off").
			WithHint("the setting memory is off; the person can set it to auto or on in their settings, unless the project's %s has it", config.ProjectFile)
	}
	return nil
}

// maxPace is how many writes one process may make in a minute.
const maxPace = 600

// pace bounds the writes of a process.
type pace struct {
	mu    sync.Mutex
	since time.Time
	count int
}

// take counts a write, and refuses it where there were too many.
func (p *pace) take(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.since) >= time.Minute || now.Before(p.since) {
		p.since, p.count = now, 0
	}
	if p.count++; p.count > maxPace {
		return fault.New(fault.NotAllowed, "more than %d notes were written within a minute", maxPace).
			WithHint("wait a minute; to bring in many notes at once: bmad-mcp memory import FILE --apply")
	}
	return nil
}

// reading brings the notes up to the files, those of other programs too, and locks them until done.
func (b *Book) reading(ctx context.Context) (done func(), err error) {
	if err := b.allowed(); err != nil {
		return nil, err
	}
	b.notes.mu.Lock()
	if err := b.current(ctx); err != nil {
		b.notes.mu.Unlock()
		return nil, err
	}
	return b.notes.mu.Unlock, nil
}
