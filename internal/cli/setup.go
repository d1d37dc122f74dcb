package cli

import (
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/contract"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
)

// setUp makes the engine. A configuration that cannot be read does not keep the
// program from starting: each action reports it.
func (a *app) setUp() error {
	level := a.readSettings()
	a.log = slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: level}))
	a.engine, a.library = a.newEngine(nil)
	return nil
}

// readSettings reads the settings for the folder that the program works for, as far as they can
// be read, and returns the level of the log.
func (a *app) readSettings() (level slog.Level) {
	a.settings = config.Source{UserFolder: userFolder("XDG_CONFIG_HOME", ".config"), Environ: os.Environ()}
	level = slog.LevelWarn
	dir := a.openProject()
	if dir != nil {
		defer func() { _ = dir.Close() }()
	}
	c, err := a.settings.Load(dir)
	a.language, a.model, a.unread = c.Language, c.Model, err
	if err == nil {
		level, a.hostConfirm = c.LogLevel, c.HostConfirm
		if a.toolsets == nil {
			a.toolsets = c.Toolsets
		}
	} else if l := os.Getenv("BMAD_LANGUAGE"); l != "" { // the variables come last
		a.language = l
	}
	a.speak("")
	return level
}

// newEngine makes the engine, and the library of the method whose agents its stages may act
// as; with folders, both are confined to projects in them.
func (a *app) newEngine(within []string) (*engine.Engine, *library.Library) {
	var e *engine.Engine
	clock := func() time.Time { return e.Clock() }
	a.kept = filestore.NewSummaries(clock)
	projects := project.New(project.Options{
		Backend:  func(dir *durable.Dir) store.Backend { return a.kept.Store(dir) },
		Known:    knownProjects(a),
		Settings: a.settings,
		Within:   within,
		Reach:    a.reach,
		Language: a.Lang,
	})
	library := a.newLibrary(projects.OpenFolder, clock, len(within) > 0)
	var typed engine.TypedDecisions
	if len(within) == 0 { // over HTTP nobody types at this machine
		typed = a.trust()
	}
	names := standing.Names{Confirm: mcpserver.ConfirmTool, Program: "bmad-mcp"}
	a.memory = memory.New(memory.Options{Now: clock, Meaning: newMeaning(), Log: a.log})
	a.contract = contract.New(&permission.Person{Consent: a.trust(), Names: names, Now: clock, Log: a.log})
	e = engine.New(engine.Options{Projects: projects, Typed: typed, Trust: a.trust(), Personas: library, Notes: a.memory, Names: names, Log: a.log})
	return e, library
}

// serverOptions returns the options of a server for some places.
func serverOptions(a *app, l *library.Library, places mcpserver.Places) mcpserver.Options {
	return mcpserver.Options{
		Version: version(), Places: places, HostConfirm: a.hostConfirm,
		Method: l, Memory: a.memory, Contract: a.contract, Model: newDelegate(a), Toolsets: a.toolsets, Log: a.log,
		Page: draftPage(a.stateFolder()),
	}
}

// completeTasks completes the task names of the project in a shell.
func (a *app) completeTasks(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || a.setUp() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, err := a.project()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	known, others, err := a.engine.Known(cmd.Context(), project.Address{Cwd: dir})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	known = slices.Clone(known)
	store.SortByAge(known)
	var names []cobra.Completion
	for _, s := range known {
		names = append(names, cobra.CompletionWithDesc(s.TaskName, string(s.CurrentStage)+", "+string(s.CurrentState)))
	}
	return append(names, others...), cobra.ShellCompDirectiveNoFileComp
}
