package engine

import (
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Personas knows who acts in the stages of a project.
type Personas interface {
	// Persona describes, in Markdown of at most MaxPersona bytes, who acts in a stage of the
	// project. If nobody does, the error is the reason.
	Persona(project string, stage workflow.Stage) (string, error)
}

// MaxPersona bounds the persona in a reply, in bytes.
const MaxPersona = 1800

// persona returns the introduction to a stage's role prompt: the agent of the installed
// method that acts in it, if the settings ask for one. Without an agent the action goes on,
// since the stage has a role of its own.
func (r *run) persona(st workflow.Stage) string {
	if r.project.Config.Personas != config.PersonasBMAD || r.personas == nil {
		return ""
	}
	text, err := r.personas.Persona(r.project.Dir.Path(), st)
	if err != nil {
		return words.NoPersona(err)
	}
	return words.Persona(words.Clip(text, MaxPersona))
}
