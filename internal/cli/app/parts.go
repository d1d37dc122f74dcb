package app

import (
	"cmp"
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

// Parts are the engine and the packages around it.
type Parts struct {
	Engine *engine.Engine
	// Library has the installations of the BMAD method, whose agents lend their personas to stages.
	Library *method.Library
	Memory  *memory.Memory
	// Summaries caches the summaries of listed sessions.
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

// Close closes the parts, if they were built: otherwise a fetch under way would count as failed. It ends the log.
func (a *App) Close() {
	if a.built != nil && a.built.parts != nil {
		a.built.parts.Library.Close()
	}
	a.Databases.closeAll()
	a.log.flush()
}

// UseAudits builds new parts with audits: nobody watches a headless run, so its claimed scores need a second
// opinion.
func (a *App) UseAudits() {
	a.Tasks.Settings.Scoring = workflow.ScoringAudited
	a.built = &lazyParts{}
}

// Confine builds new parts, for an assistant confined to the folders of the returned reach.
func (a *App) Confine(opened []string) *reach.Reach {
	a.reach = a.newReach(opened)
	a.built = &lazyParts{}
	return a.reach
}

// personFunc returns a.Who, or else a function for the account of the process.
func (a *App) personFunc() func(folder string) workflow.Person {
	if a.Who != nil {
		return a.Who
	}
	return terminal.NewWho()
}

// Build builds the parts. If within has folders, only projects in them are served.
func (a *App) Build(within []string) *Parts {
	out := &Parts{}
	clock := func() time.Time { return out.Engine.Clock() }
	out.Summaries = filestore.NewSummaries(clock)
	who := a.personFunc()
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
	if len(within) == 0 { // not over HTTP, where nothing of the person's home is served
		typed = Trust()
		home, _ = os.UserHomeDir() // without a home folder, nothing in it is served
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
	out.Memory = memory.New(memory.Options{Now: clock, Meaning: newMeaning(), Derived: Trust(), CodeCache: cacheFolder("code"), IsClosed: isClosed, Log: a.Tasks.Log})
	out.Engine = engine.New(engine.Options{
		Who:      who,
		Projects: projects, Typed: typed, Trust: Person{Trust(), SettingsFolder()}, Personas: out.Library, Notes: out.Memory, Names: names, Version: Version(), Log: a.Tasks.Log,
		Agent: os.Getenv("SSH_AUTH_SOCK"), Notify: a.notifyPerson,
	})
	return out
}

// cacheFolder returns a folder of the person's cache; "" without a home folder.
func cacheFolder(name string) string {
	if folder := userFolder("XDG_CACHE_HOME", ".cache"); folder != "" {
		return filepath.Join(folder, "bmad-mcp", name)
	}
	return ""
}

// isClosed reports whether the rules close a folder in a project, for example one with keys.
func isClosed(folder string) bool { return !Rules().Judge(folder, reach.Opened).Empty() }

// openAbove opens a folder above a project, to look for an installation of the BMAD method, unless the rules
// keep the folder out. Only the trees of an installation are read.
func openAbove(name string) (*durable.Dir, error) {
	rules := Rules()
	if why := rules.Judge(rules.Real(name), reach.Opened); !why.Empty() {
		return nil, &reach.Refusal{Folder: name, Why: why}
	}
	return durable.OpenDir(name)
}

// Repositories returns the git repositories of the method, with the engine's clock and folders.
func (a *App) Repositories() sources.Repositories {
	return a.repositoriesOf(a.Engine().Projects().OpenFolder, a.Engine().Clock)
}

func (a *App) repositoriesOf(open func(name string) (*durable.Dir, error), now func() time.Time) sources.Repositories {
	r := sources.Repositories{Settings: a.Tasks.Settings, State: Trust(), Open: open, Now: now}
	if folder := cacheFolder("git"); folder != "" {
		r.Cache = &gitsource.Cache{
			Folder: folder, Now: now, Log: a.Tasks.Log, Registry: cmp.Or(os.Getenv("npm_config_registry"), os.Getenv("NPM_CONFIG_REGISTRY")),
		}
	}
	return r
}

// Copies returns the folders with the copies of a project's repositories, and the addresses of these.
func (a *App) Copies(project string) (folders, addresses []string) {
	repositories := a.Repositories()
	remotes, _ := repositories.Of(project)
	for _, r := range remotes {
		if repositories.Cache == nil {
			break
		}
		if c, err := repositories.Cache.Copy(r.Spec); err == nil && c.Dir != "" {
			folders, addresses = append(folders, c.Dir), append(addresses, r.Spec.String())
		}
	}
	return folders, addresses
}

// Shelf returns the method's installations for the folder of the command.
func (a *App) Shelf(ctx context.Context) (*method.Snapshot, error) {
	folder, err := a.FetchMissing(ctx)
	if err != nil {
		return nil, err
	}
	return a.Parts().Library.At(folder).Speaking(func() lang.Language { return a.Terminal.Lang }), nil
}

// FetchMissing fetches the repositories of the command's folder not fetched before, and waits for them: a
// command ends before it could be notified.
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

// WithBook calls do with the open notes of the project.
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

// placeOf returns the servers of a project.
func placeOf(p *project.Project, app string) (embedding.Place, error) {
	c := p.Config
	if c.EmbeddingModel == "" {
		return embedding.Place{}, fault.New(fault.InvalidArgument, "the setting memory_embeddings names no model behind its address")
	}
	return embedding.Place{Dir: p.Dir, Embeddings: c.MemoryEmbeddings, Model: c.EmbeddingModel, Qdrant: c.MemoryQdrant, App: app}, nil
}

// Nearest implements memory.Meaning.
func (m meaning) Nearest(
	ctx context.Context, p *project.Project, app, query string, list []notes.Note,
) (known map[int]float64, others []notes.Like, err error) {
	at, err := placeOf(p, app)
	if err != nil {
		return nil, nil, err
	}
	return m.finder.Nearest(ctx, at, query, list)
}

// Likeness implements memory.Meaning.
func (m meaning) Likeness(ctx context.Context, p *project.Project, query string, texts []string) ([]float64, error) {
	at, err := placeOf(p, "")
	if err != nil {
		return nil, err
	}
	return m.finder.Likeness(ctx, at, query, texts)
}

// UseQueue builds new parts, which put each new session into the queue of the team in the step that stores it.
func (a *App) UseQueue(order NewOrder) {
	a.order = order
	a.built = &lazyParts{}
}
