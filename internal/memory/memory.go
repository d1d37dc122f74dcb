package memory

import (
	"context"
	"log/slog"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// Paths relative to the project.
const (
	// DefaultFolder holds the notes of a project without a folder of the method for them.
	DefaultFolder = ".claude/bmad-memory"
	// Subfolder of the folder holds our own notes.
	Subfolder = "structured"
)

// methodFolders are the folders in which the kits of the method keep their memory.
var methodFolders = []string{"_bmad/_memory", "_grimoire/_memory"}

// Options are the parts of the program behind a Memory.
type Options struct {
	// Now is the clock of this machine.
	Now func() time.Time
	// NewID makes a unique id, for tasks of the queue; by default a random one.
	NewID func() string
	// Meaning finds notes by their meaning; if it is nil, words alone count.
	Meaning Meaning
	// Derived keeps the index of the notes; if it is nil, each program makes its own.
	Derived Derived
	// CodeCache is the path of the folder for the indexes of projects' files; "" keeps none.
	CodeCache string
	// IsClosed reports whether the program may not read in a folder, by the path of the system; nil closes none.
	IsClosed func(folder string) bool
	Log      *slog.Logger
}

// Meaning compares texts by their meaning, with servers named by the person in the settings of a project.
type Meaning interface {
	// Nearest returns the likeness of a query to notes, from -1 to 1, by their place in the list, and similar
	// notes of other programs. app is the name of the project for servers.
	Nearest(ctx context.Context, p *project.Project, app, query string, list []notes.Note) (known map[int]float64, others []notes.Like, err error)
	// Likeness returns the likeness of a query to each of some texts, which it does not keep.
	Likeness(ctx context.Context, p *project.Project, query string, texts []string) ([]float64, error)
}

// Derived keeps data outside of all projects that the program can derive again. It does not return anybody
// else's writing there.
type Derived interface {
	Derived(name string) []byte
	KeepDerived(name string, data []byte) error
	DropDerived(name string) error
}

// Memory has the notes of all projects. It is safe for concurrent use, and reads nothing before
// the first use.
type Memory struct {
	Options
	pace   pace
	opened *recent.Map[string, *kept]
}

// maxProjects bounds the projects whose notes are kept in memory.
const maxProjects = 16

// New returns the memory of all projects.
func New(o Options) *Memory {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.IsClosed == nil {
		o.IsClosed = func(string) bool { return false }
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	return &Memory{Options: o, opened: recent.New[string, *kept](maxProjects)}
}

// Book is the notes of one open project.
type Book struct {
	m     *Memory
	p     *project.Project
	notes *notes.Folder
	*kept
}

// Of returns the notes of a project, which stays the caller's to close.
func (m *Memory) Of(p *project.Project) *Book {
	p = p.AtHome()
	b := &Book{m: m, p: p, notes: &notes.Folder{Dir: p.Dir, Path: path.Join(Folder(p), Subfolder), Now: m.Now}}
	m.opened.Change(p.Dir.Join(b.notes.Path), func(known *kept, ok bool) *kept {
		if !ok {
			known = &kept{set: notes.NewSet()}
		}
		b.kept, b.notes.Set = known, known.set
		return known
	})
	return b
}

// Folder returns the folder of a project's memory, relative to the project: the one with notes of ours, else the
// first one made by the method, else our own.
func Folder(p *project.Project) string {
	isMissing := func(name string) bool {
		info, err := p.Dir.Stat(name)
		return err != nil || !info.IsDir()
	}
	made := slices.DeleteFunc(usualFolders(), isMissing)
	for _, name := range made {
		if !isMissing(name + "/" + Subfolder) {
			return name
		}
	}
	return append(made, DefaultFolder)[0]
}

// usualFolders returns the folders of a memory without a setting.
func usualFolders() []string { return append(slices.Clone(methodFolders), DefaultFolder) }

// OwnFolders returns the folders of a project that may have notes of ours; each ends with a slash.
func OwnFolders() (out []string) {
	for _, name := range usualFolders() {
		out = append(out, path.Join(name, Subfolder)+"/")
	}
	return out
}

// Path returns the folder of our notes, relative to the project.
func (b *Book) Path() string { return b.notes.Path }

// Usable returns an error if the person has switched the memory off.
func (b *Book) Usable() error {
	if b.p.Config.Memory == config.MemoryOff {
		return fault.New(fault.NotAllowed, "the project memory is switched off").
			WithHint("the setting memory is off; the person can set it to auto or on in their settings, unless the project's %s has it", config.ProjectFile)
	}
	return nil
}

// Queue returns the project's tasks for agents.
func (b *Book) Queue() (*queue.Queue, error) {
	if err := b.Usable(); err != nil {
		return nil, err
	}
	return &queue.Queue{Project: b.p, Now: b.m.Now, NewID: b.m.NewID, Pace: func() error { return b.m.pace.countWrite(b.m.Now()) }}, nil
}

// maxPace is how many writes one process may make in a minute.
const maxPace = 600

// pace bounds the writes of a process.
type pace struct {
	mu    sync.Mutex
	since time.Time
	count int
}

// countWrite counts a write, and returns an error if there were too many.
func (p *pace) countWrite(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.since) >= time.Minute || now.Before(p.since) {
		p.since, p.count = now, 0
	}
	if p.count++; p.count > maxPace {
		return fault.New(fault.NotAllowed, "more than %d notes were written within a minute", maxPace).
			WithHint("wait a minute")
	}
	return nil
}
