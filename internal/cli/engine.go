package cli

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
)

// newEngine makes the engine, and the library of the method whose agents its stages may act
// as; with folders, both are confined to projects in them.
func (a *app) newEngine(within []string) (*engine.Engine, *library.Library) {
	projects := project.New(project.Options{
		Backend:  func(dir *durable.Dir) store.Backend { return filestore.New(dir) },
		Known:    knownProjects(a),
		Settings: a.settings,
		Within:   within,
		Reach:    a.reach,
		Language: a.lang,
	})
	var e *engine.Engine
	library := a.newLibrary(projects.OpenFolder, func() time.Time { return e.Clock() }, len(within) > 0)
	var typed engine.TypedDecisions
	if len(within) == 0 { // over HTTP nobody types at this machine
		typed = a.trust()
	}
	names := engine.Names{Confirm: mcpserver.ConfirmTool, Program: "bmad-mcp"}
	e = engine.New(engine.Options{Projects: projects, Typed: typed, Trust: a.trust(), Personas: library, Names: names, Log: a.log})
	return e, library
}
