package engine

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/contract"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// Trust has the person's key, allowances and records, outside of projects.
type Trust interface {
	vouchers
	permission.Consent
	// Hold has them gathered in one go until release is called, at the end of an action.
	Hold() (release func())
}

// TypedDecisions are the decisions typed by the person as commands of their host.
type TypedDecisions interface {
	// TakeTyped takes the decision for a gate away, if one was typed for exactly this gate.
	TakeTyped(ctx context.Context, gate trust.TypedGate, needsWords bool, now time.Time) (words string, ok bool, err error)
}

// Personas knows who acts in the stages of a project.
type Personas interface {
	// Persona describes, in Markdown of at most MaxPersona bytes, which of some agents acts in a
	// stage of the project. If none does, the error is the reason.
	Persona(project, stage string, agents []string) (string, error)
}

// Notes is the memory of a project from run to run. Neither method may change a session.
type Notes interface {
	// Relevant returns the notes relevant to a question, the best first, within the limits of package lesson; none
	// if the settings do not want any.
	Relevant(ctx context.Context, p *project.Project, q lesson.Question) ([]lesson.Note, error)
	// Learn keeps lessons, each once, if the settings want it.
	Learn(ctx context.Context, p *project.Project, lessons []lesson.Lesson) error
}

// MaxPersona bounds the persona in a reply, in bytes.
const MaxPersona = 1800

// Options are the dependencies and settings of an Engine.
type Options struct {
	// Projects finds and opens the projects.
	Projects *project.Finder
	// Trust has the person's key, allowances and records; with nil, no history is signed
	// and no command is run.
	Trust Trust
	// Typed has the decisions typed by the person as commands of their host; nil for none.
	Typed TypedDecisions
	// Personas may be nil: every stage then has its own role.
	Personas Personas
	// Who returns the person on whose behalf the engine acts in a project's folder; nil if nobody is known.
	Who func(folder string) workflow.Person
	// Notes is the memory of the projects from run to run; nil for none.
	Notes Notes
	// Notify, if not nil, sends a notice to the person at a place of their settings. It must neither wait nor fail.
	Notify func(notify.Handed)
	// Names are the faces' names for the tool of decisions and the program.
	Names Names
	// Version is the program's, for statements about runs.
	Version string
	// Agent is the socket of the SSH agent with the person's signing key; "" if there is none.
	Agent string
	// Now and NewID default to the system's clock and random UUIDs.
	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger
}

// Names are the faces' names for the tool of decisions and the program.
type Names = standing.Names

// Engine runs actions. It is safe for concurrent use. Of sessions it keeps only the revision last sent to each
// caller.
type Engine struct {
	options  Options
	keeper   *keeper
	person   *permission.Person
	contract *contract.Runner
	born     time.Time
	memory   *memory
}

// New returns an engine.
func New(o Options) *Engine {
	if o.Projects == nil {
		o.Projects = project.New(project.Options{})
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	if o.Who == nil {
		o.Who = func(string) workflow.Person { return workflow.Person{} }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{options: o, keeper: &keeper{records: o.Trust, log: o.Log}, memory: newMemory(maxRemembered)}
	e.person = &permission.Person{Consent: o.Trust, Names: o.Names, Now: o.Now, Log: o.Log}
	e.contract = contract.New(e.person)
	e.keeper.mayFollow = func(p *project.Project, d *workflow.Definition) bool {
		guard := e.person.In(p)
		return slices.ContainsFunc(p.Config.Workflows(), func(w config.Workflow) bool { return guard.MayFollow(w) && w.Definition.Same(d) })
	}
	e.born = e.Now()
	return e
}

// Want is a thing in a project without effect until the person has allowed it.
type Want = permission.Want

// Allow records the person's permission for w, with the files as they were shown.
func (e *Engine) Allow(ctx context.Context, w Want) error { return e.person.Allow(ctx, w) }

// Now returns the time by the engine's clock, in the precision of stored times.
func (e *Engine) Now() time.Time { return e.options.Now().UTC().Truncate(time.Millisecond) }

// Clock returns the time in the full precision of the clock, for measuring durations.
func (e *Engine) Clock() time.Time { return e.options.Now() }
