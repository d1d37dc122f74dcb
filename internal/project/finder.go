package project

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

// Memory remembers where sessions were started.
type Memory interface {
	List() []string
	Add(ctx context.Context, project string) error
}

// Options configure a Finder.
type Options struct {
	// OpenDir opens a project folder; durable.OpenDir if nil.
	OpenDir func(name string) (*durable.Dir, error)
	// Backend opens the store of a project.
	Backend func(store.Place) (store.Backend, error)
	// Watch calls changed when sessions in a shared store may have changed, until the context ends. It may be nil.
	Watch func(ctx context.Context, changed func())
	// Who says on whose behalf the program acts in a folder; nil if nobody is known.
	Who func(folder string) workflow.Person
	// Known may be nil: sessions are then found only in the folders of the Address.
	Known Memory
	// Settings reads the configuration.
	Settings config.Source
	// State remembers which projects of a shared store folders show.
	State trust.UserState
	// Within are the roots that every project has to lie in; with none, a project may be
	// anywhere.
	Within []string
	// Reach decides which folders may be opened if all calls are one caller's; with nil, Within alone does.
	Reach *reach.Reach
	// Language is that of callers whose settings and objective name none.
	Language lang.Language
}

// Finder finds and opens projects. It is safe for concurrent use.
type Finder struct {
	folders
	backend  func(store.Place) (store.Backend, error)
	watch    func(ctx context.Context, changed func())
	known    Memory
	who      func(folder string) workflow.Person
	settings config.Source
	state    trust.UserState
	language lang.Language
}

// New returns a finder.
func New(o Options) *Finder {
	f := &Finder{
		folders: folders{openDir: o.OpenDir, reach: o.Reach}, backend: o.Backend, watch: o.Watch, known: o.Known,
		who: o.Who, settings: o.Settings, state: o.State, language: o.Language,
	}
	if f.openDir == nil {
		f.openDir = durable.OpenDir
	}
	for _, root := range o.Within {
		f.within = append(f.within, trust.PathOf(root))
	}
	return f
}

// RunFolder returns the folder for the records of runs without a host of a session, relative to the project.
func RunFolder(sessionID string) string { return store.RunFolder(sessionID) }

// NewFeed returns a feed of changes in the projects, be their sessions files or in a shared store. Watch and Runs
// of the options are its own.
func (f *Finder) NewFeed(o feed.Options) *feed.Feed {
	o.Watch, o.Runs = f.watch, feed.Folders{Sessions: store.Folder, Documents: artifact.Folder}
	return feed.New(o)
}

// Open opens the project in an existing folder.
func (f *Finder) Open(cwd string) (*Project, error) {
	dir, err := f.open(cwd, f.openNearest)
	if err != nil {
		return nil, err
	}
	return f.read(dir)
}

// read reads the settings of the project in an open folder, which it closes if there is an error.
func (f *Finder) read(dir *durable.Dir) (*Project, error) {
	dir.KeepFolders()
	home, allowed, kind := dir, dir.Path(), kindOf(dir.Path())
	if kind == linkedTree {
		var err error
		if home, err = f.openHome(dir); err != nil {
			_ = dir.Close()
			return nil, err
		}
		allowed = allowedAs(dir, home)
	}
	out := &Project{Dir: dir, Home: home}
	cfg, err := f.settings.Load(home) // those of a worktree are within reach of its engine
	if err != nil {
		out.Close()
		return nil, err
	}
	place, backend, err := Locate(home, cfg, f.state, f.backend)
	if err != nil {
		out.Close()
		return nil, err
	}
	return &Project{Dir: dir, Home: home, allowed: allowed, kind: kind, Backend: backend, Texts: backend, Config: cfg, key: place.Key,
		prompts: map[[2]string]prompts.Prompt{}, absent: map[string]bool{},
		language: f.language}, nil
}

// Language returns the language for a person who has written a text outside of every project.
func (f *Finder) Language(written string) lang.Language {
	return lang.Choose(lang.Auto, written, f.language)
}

// Remember adds a project to the known ones, to find its sessions from elsewhere.
func (f *Finder) Remember(ctx context.Context, p *Project) error {
	if f.known == nil {
		return nil
	}
	return f.known.Add(ctx, p.Home.Path())
}

// listKnown returns the known projects.
func (f *Finder) listKnown() []string {
	if f.known == nil {
		return nil
	}
	return f.known.List()
}

// List returns the projects that are served: the roots, and the known projects in them.
// Without roots, all known projects.
func (f *Finder) List() []string {
	out := slices.Clone(f.within)
	for _, project := range f.listKnown() {
		if _, _, served := f.servedAs(project); (served || len(f.within) == 0) && !slices.Contains(out, project) {
			out = append(out, project)
		}
	}
	return out
}

// maxSome bounds the projects that an answer names.
const maxSome = 8

// Some returns some of the projects below the roots, known ones first.
func (f *Finder) Some() []string {
	var out []string
	add := func(project string) {
		if len(out) < maxSome && !slices.Contains(out, project) {
			out = append(out, project)
		}
	}
	for _, project := range f.listKnown() {
		_, rel, served := f.servedAs(project)
		if rel == "." {
			served = served && Is(project)
		}
		if served && f.Serves(project) {
			add(project)
		}
	}
	for _, root := range f.within {
		for _, project := range below(root, maxSome) {
			add(project)
		}
	}
	return out
}
