package engine

import (
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Personas knows who acts in a stage, where a project has people for its stages.
type Personas interface {
	// Persona describes, in Markdown of at most MaxPersona bytes, who acts in a stage of the
	// project. Where nobody does, the error says why.
	Persona(project string, stage workflow.Stage) (string, error)
}

// MaxPersona is what a persona may take of a reply, in bytes.
const MaxPersona = 1800

// persona returns what goes before a stage's role prompt: who acts in it, if the settings
// ask for the agents of the installed method. That nobody does is no failure of the action:
// the stage has a role of its own.
func (r run) persona(st workflow.Stage) string {
	if r.project.Config.Personas != config.PersonasBMAD || r.personas == nil {
		return ""
	}
	text, err := r.personas.Persona(r.project.Dir.Path(), st)
	if err != nil {
		return "The settings ask for the BMAD agent of this stage, and there is none to act as (" + clip(err.Error(), 300) + "). Tell the person in a line, and act in the role below.\n\n"
	}
	return clip(text, MaxPersona) + "\n\nThis persona is how you speak and judge. What you hand in, and in which form, is what follows.\n\n"
}
