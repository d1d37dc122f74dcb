package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/embedding"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/sources"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Parts are the engine and its neighbours.
type Parts struct {
	Engine *engine.Engine
	// Library has the method whose agents the stages may act as.
	Library *method.Library
	Memory  *memory.Memory
	// Summaries has the summaries of sessions that were listed.
	Summaries *filestore.Summaries
}

// lazyParts builds the parts once.
type lazyParts struct {
	once  sync.Once
	parts *Parts
}

// Parts returns the parts for the person at this machine.
func (a *App) Parts() *Parts {
	a.built.once.Do(func() { a.built.parts = a.Build(nil) })
	return a.built.parts
}

// Engine returns the engine for the person at this machine.
func (a *App) Engine() *engine.Engine { return a.Parts().Engine }

// Close closes the parts, if they were built: a fetch that is under way would otherwise count as one
// that failed.
func (a *App) Close() {
	if a.built != nil && a.built.parts != nil {
		a.built.parts.Library.Close()
	}
	a.Databases.closeAll()
}

// UseAudits builds the parts anew: nobody watches a run at its work, so the scores that it claims
// need a second opinion.
func (a *App) UseAudits() {
	a.Tasks.Settings.Scoring = workflow.ScoringAudited
	a.built = &lazyParts{}
}

// Confine builds the parts anew, for an assistant that may open only the folders of the reach it returns.
func (a *App) Confine(opened []string) *reach.Reach {
	a.reach = a.newReach(opened)
	a.built = &lazyParts{}
	return a.reach
}

// person says who the program acts for.
func (a *App) person() func(folder string) workflow.Person {
	if a.Who != nil {
		return a.Who
	}
	return terminal.NewWho()
}

// Person returns who the program acts for in a folder.
func (a *App) Person(folder string) workflow.Person { return a.person()(folder) }

// Build builds the parts; with folders, they are confined to projects in them.
func (a *App) Build(within []string) *Parts {
	out := &Parts{}
	clock := func() time.Time { return out.Engine.Clock() }
	out.Summaries = filestore.NewSummaries(clock)
	who := a.person()
	projects := project.New(project.Options{
		Who:      who,
		Backend:  func(at store.Place) (store.Backend, error) { return a.openStore(at, out.Summaries) },
		Watch:    a.watchStore,
		Known:    KnownProjects(),
		Settings: a.Tasks.Settings,
		State:    Trust(),
		Within:   within,
		Reach:    a.reach,
		Language: a.Terminal.Lang,
	})
	var typed engine.TypedDecisions
	home := ""
	if len(within) == 0 { // over HTTP nobody types at this machine, and nothing of the person's home is served
		typed = Trust()
		home, _ = os.UserHomeDir() // without a home nothing of the person's is served
	}
	var above func(name string) (*durable.Dir, error)
	if a.reach != nil {
		above = openAbove
	}
	r := a.repositoriesOf(projects.OpenFolder, clock)
	out.Library = method.New(method.Options{
		Home: home, Root: os.Getenv("BMAD_ROOT"), Open: projects.OpenFolder, Above: above,
		Copies: r.Copies, Settings: r.SettingsFolders, Close: r.Close,
		Now: clock,
	})
	names := engine.Names{Confirm: mcpserver.ConfirmTool, Program: "bmad-mcp"}
	out.Memory = memory.New(memory.Options{Now: clock, Meaning: newMeaning(), Derived: Trust(), Log: a.Tasks.Log})
	out.Engine = engine.New(engine.Options{
		Who:      who,
		Projects: projects, Typed: typed, Trust: Person{Trust(), SettingsFolder()}, Personas: out.Library, Notes: out.Memory, Names: names, Version: Version(), Log: a.Tasks.Log,
		Agent: os.Getenv("SSH_AUTH_SOCK"),
	})
	return out
}

// openAbove opens a folder above a project, in which an installation of the BMAD method may
// lie: any that the rules do not keep out. Only the trees of an installation are read.
func openAbove(name string) (*durable.Dir, error) {
	rules := Rules()
	if why := rules.Judge(rules.Real(name), reach.Opened); !why.Empty() {
		return nil, &reach.Refusal{Folder: name, Why: why}
	}
	return durable.OpenDir(name)
}

// Repositories returns the git repositories of the method, as the engine's clock and folders
// have them.
func (a *App) Repositories() sources.Repositories {
	return a.repositoriesOf(a.Engine().Projects().OpenFolder, a.Engine().Clock)
}

func (a *App) repositoriesOf(open func(name string) (*durable.Dir, error), now func() time.Time) sources.Repositories {
	r := sources.Repositories{Settings: a.Tasks.Settings, State: Trust(), Open: open, Now: now}
	if folder := userFolder("XDG_CACHE_HOME", ".cache"); folder != "" {
		r.Cache = &gitsource.Cache{Folder: filepath.Join(folder, "bmad-mcp", "git"), Now: now, Log: a.Tasks.Log}
	}
	return r
}

// Copies returns the folders with the copies of a project's repositories.
func (a *App) Copies(project string) (folders []string) {
	repositories := a.Repositories()
	remotes, _ := repositories.Of(project)
	for _, r := range remotes {
		if repositories.Cache == nil {
			break
		}
		if c, err := repositories.Cache.Copy(r.Spec); err == nil && c.Dir != "" {
			folders = append(folders, c.Dir)
		}
	}
	return folders
}

// Shelf returns the method's installations for the folder that the command is for.
func (a *App) Shelf(ctx context.Context) (*method.Snapshot, error) {
	folder, err := a.FetchMissing(ctx)
	if err != nil {
		return nil, err
	}
	return a.Parts().Library.At(folder).Speaking(func() lang.Language { return a.Terminal.Lang }), nil
}

// FetchMissing waits for the repositories of the command's folder that were never fetched: no event
// follows when they are there.
func (a *App) FetchMissing(ctx context.Context) (folder string, err error) {
	folder, err = a.Tasks.Project()
	if err == nil && a.Tasks.Cwd != "" {
		_, err = a.Engine().Projects().Where(project.Address{Cwd: folder})
	}
	if err != nil {
		return "", err
	}
	a.Repositories().FetchMissing(ctx, folder, func(spec gitsource.Spec, err error) {
		if err == nil {
			fmt.Fprintln(a.Terminal.Err, a.Terminal.Lang.Say("Fetching %s …", spec))
			return
		}
		a.Terminal.Warnf("%v\n  what to do: check the address; bmad-mcp method sources update tries it again", err)
	})
	return folder, nil
}

// WithBook opens the notes of the project.
func (a *App) WithBook(do func(b *memory.Book) error) error {
	dir, err := a.Tasks.Project()
	if err != nil {
		return err
	}
	p, err := a.Engine().Projects().Open(dir)
	if err != nil {
		return err
	}
	defer p.Close()
	return do(a.Parts().Memory.Of(p))
}

// meaning compares notes with the servers of a project's settings.
type meaning struct{ finder *embedding.Finder }

func newMeaning() meaning { return meaning{embedding.New(os.Getenv)} }

// Nearest implements memory.Meaning.
func (m meaning) Nearest(
	ctx context.Context, p *project.Project, app, query string, list []notes.Note,
) (known map[int]float64, others []notes.Like, err error) {
	c := p.Config
	if c.EmbeddingModel == "" {
		return nil, nil, fault.New(fault.InvalidArgument, "the setting memory_embeddings names no model behind its address")
	}
	at := embedding.Place{Dir: p.Dir, Embeddings: c.MemoryEmbeddings, Model: c.EmbeddingModel, Qdrant: c.MemoryQdrant, App: app}
	return m.finder.Nearest(ctx, at, query, list)
}
