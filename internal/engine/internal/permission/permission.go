// Package permission decides which content of a project may be used, and which commands may
// run in it, by the person's allowances.
//
// [Person] answers for the person's allowances anywhere, and a [Guard] for one open project: it
// lets a run follow a workflow, trusts a rubric, and runs a verify command, or does not. A
// [Want] is something that waits for a permission. A run keeps the verify commands that it
// began with; the guard notes in its history the values that the configuration has instead.
package permission

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
)

// Consent keeps the person's allowances.
type Consent interface {
	// Allowed reports whether they have allowed something in a project.
	Allowed(a trust.Allowance) bool
	// InForce returns the allowances in a project, Allowances all of them.
	InForce(project string) []trust.Allowance
	Allowances() ([]trust.Allowance, error)
	// Bind binds allowances of an older version to the project.
	Bind(ctx context.Context, project string) error
	// ReadSigner returns the signer of their machine; nil if there is none.
	ReadSigner() (workflow.Signer, error)
	// Allow records allowances.
	Allow(ctx context.Context, a trust.Allowance) error
}

// Person answers for the person who works with this program.
type Person struct {
	// Consent has the person's allowances; with nil, there are none.
	Consent Consent
	Names   standing.Names
	Now     func() time.Time
	Log     *slog.Logger
}

// In returns the guard of a project.
func (p *Person) In(folder *project.Project) *Guard {
	return &Guard{Person: p, project: folder, permits: sync.OnceValue(func() trust.Permits {
		if p.Consent == nil {
			return nil
		}
		return p.Consent.InForce(folder.AllowedAs())
	})}
}

// storedNow returns the time in the precision of stored times.
func (p *Person) storedNow() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }

// hasAllowed reports whether they have allowed something as it is.
func (p *Person) hasAllowed(a trust.Allowance) bool { return p.Consent != nil && p.Consent.Allowed(a) }

// Guard decides which parts of one open project may be used.
type Guard struct {
	*Person
	project *project.Project
	// permits are the allowances in force, read on the first call.
	permits func() trust.Permits
}

// newAllowance returns the record of a person's consent to a thing of the project; hash is the content's, "" if
// the text says everything.
func (g *Guard) newAllowance(kind, text, hash string) trust.Allowance {
	return trust.Allowance{Project: g.project.AllowedAs(), Kind: kind, Text: text, SHA256: hash}
}

// Chosen returns the definition named by a start, if it may be used: the configured one for an empty name.
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
		for _, other := range g.project.Config.Workflows() {
			if g.MayFollow(other) {
				usable = append(usable, other.Name)
			}
		}
		return nil, fault.New(fault.NotAllowed, "the workflow %q comes from the project (%s), and the person has not allowed it as it is: it could leave gates out", w.Name, w.Path).
			WithHint("ask the human to read it and to type `%s allow` in a terminal, in the project; or use one of: %s", g.Names.Program, strings.Join(usable, ", "))
	}
	return w.Definition, nil
}

// MayFollow reports whether a run may follow a workflow: the person has to allow a workflow of the project as it
// is.
func (g *Guard) MayFollow(w config.Workflow) bool {
	return w.Definition != nil && (w.By != workflow.SetByProject || g.hasAllowed(g.workflowAllowance(w)))
}

func (g *Guard) workflowAllowance(w config.Workflow) trust.Allowance {
	return g.newAllowance(trust.KindWorkflow, w.Path, workflow.Hash([]byte(w.Text)))
}

// Rubric returns the project's rubric of a stage, or nil. It is trusted if the person has allowed it with this content.
func (g *Guard) Rubric(w *workflow.Definition, st workflow.Stage) (rules *audit.Rubric, trusted bool, err error) {
	own, err := g.project.Rubric(st)
	if err != nil || own == nil {
		return nil, false, err
	}
	parsed, err := own.Parse(w)
	if err != nil {
		return nil, false, err
	}
	// The person is asked about the parsed text: the file may change meanwhile.
	return &parsed, g.hasAllowed(g.rubricAllowance(own)), nil
}

func (g *Guard) rubricAllowance(own *project.Rubric) trust.Allowance {
	return g.newAllowance(trust.KindRubric, own.Path, workflow.Hash(own.Text))
}
