package permission

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/audit"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Chosen returns the definition that a start asks for, if it may be used: the configured one
// for an empty name.
func (g *Guard) Chosen(name string) (*workflow.Definition, error) {
	if name == "" {
		name = g.project.Config.Workflow
	}
	w, err := g.project.Config.Find(name)
	if err != nil {
		return nil, err
	}
	if !g.MayFollow(w) {
		var usable []string
		for _, other := range g.project.Config.Workflows {
			if g.MayFollow(other) {
				usable = append(usable, other.Name)
			}
		}
		return nil, fault.New(fault.NotAllowed, "the workflow %q comes from the project (%s), and the person has not allowed it as it is: it could leave gates out", w.Name, w.Path).
			WithHint("ask the human to read it and to type `%s allow` in a terminal, in the project; or use one of: %s", g.Names.Program, strings.Join(usable, ", "))
	}
	return w.Definition, nil
}

// MayFollow reports whether a run may follow a workflow: one that the project brings has to be
// allowed as it is.
func (g *Guard) MayFollow(w config.Workflow) bool {
	return w.Definition != nil && (w.By != workflow.SetByProject || g.hasAllowed(g.workflow(w)))
}

// workflow returns the allowance of a workflow that the project brings.
func (g *Guard) workflow(w config.Workflow) trust.Allowance {
	return g.allowance(trust.KindWorkflow, w.Path, workflow.Hash([]byte(w.Text)))
}

// Rubric returns the stage's rubric from the configured folder, or nil. It is trusted if it
// is the person's own, or they have allowed it with this content.
func (g *Guard) Rubric(w *workflow.Definition, st workflow.Stage) (rules *audit.Rubric, trusted bool, err error) {
	own, err := g.project.Rubric(st)
	if err != nil || own == nil {
		return nil, false, err
	}
	parsed, err := own.Parse(w)
	if err != nil {
		return nil, false, err
	}
	// The text that was parsed is the one that is asked about: the file may change meanwhile.
	return &parsed, !own.Brought || g.hasAllowed(g.rubric(own)), nil
}

// rubric returns the allowance of a rubric.
func (g *Guard) rubric(own *project.Rubric) trust.Allowance {
	return g.allowance(trust.KindRubric, own.Path, workflow.Hash(own.Text))
}
