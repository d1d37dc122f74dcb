package engine

import (
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// persona returns the introduction to a stage's role prompt: the agent of the installed
// method that acts in it, if the settings ask for one. Without an agent the action goes on,
// since the stage has a role of its own.
func (e *Engine) persona(p *project.Project, st workflow.Stage) string {
	if p.Config.Personas != config.PersonasBMAD || e.personas == nil {
		return ""
	}
	text, err := e.personas.Persona(p.Dir.Path(), st)
	if err != nil {
		return words.NoPersona(err)
	}
	return words.Persona(words.Clip(text, MaxPersona))
}
