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
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// Consent keeps the person's allowances.
type Consent interface {
	// Allowed reports whether they have allowed something in a project.
	Allowed(a trust.Allowance) bool
	// InForce returns those in a project, Allowances all of them.
	InForce(project string) []trust.Allowance
	Allowances() ([]trust.Allowance, error)
	// Bind binds allowances of an older version to the project.
	Bind(ctx context.Context, project string) error
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
		return p.Consent.InForce(folder.Dir.Path())
	})}
}

// at returns the time in the precision that is stored.
func (p *Person) at() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }

// hasAllowed reports whether they have allowed something as it is.
func (p *Person) hasAllowed(a trust.Allowance) bool { return p.Consent != nil && p.Consent.Allowed(a) }

// Guard decides which parts of one open project may be used.
type Guard struct {
	*Person
	project *project.Project
	// permits are the allowances in force, read on the first call.
	permits func() trust.Permits
}

// allowance returns the record of a person's consent to something of the project; hash is that of
// its content, "" if the text says everything.
func (g *Guard) allowance(kind, text, hash string) trust.Allowance {
	return trust.Allowance{Project: g.project.Dir.Path(), Kind: kind, Text: text, SHA256: hash}
}
