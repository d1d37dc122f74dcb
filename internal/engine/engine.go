// Package engine holds the use cases of bmad-mcp, one file an action. It owns the
// clock, the ids and the transactions; the faces turn what they receive into a
// [Request], call [Engine.Do], and show the [Reply] or the *fault.Error.
package engine

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/integrity"
	"github.com/bmad-mcp/bmad-mcp/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/views"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Trust is what the person keeps outside of projects.
type Trust interface {
	integrity.Records
	permission.Consent
}

// TypedDecisions are what the person has typed as commands of their host.
type TypedDecisions interface {
	// TakeTyped takes the decision for a gate away, if one was typed for exactly that.
	TakeTyped(ctx context.Context, gate trust.TypedGate, needsWords bool, now time.Time) (words string, ok bool, err error)
}

// Personas knows who acts in the stages of a project.
type Personas interface {
	// Persona describes, in Markdown of at most MaxPersona bytes, who acts in a stage of the
	// project. If nobody does, the error is the reason.
	Persona(project string, stage workflow.Stage) (string, error)
}

// MaxPersona bounds the persona in a reply, in bytes.
const MaxPersona = 1800

// Names are what the faces call the doors of this program.
type Names = standing.Names

// Options are what an Engine needs from outside.
type Options struct {
	// Projects finds and opens the projects.
	Projects *project.Finder
	// Trust is what the person keeps outside of projects; with nil, no history is sealed
	// and no command is run.
	Trust Trust
	// Typed is what the person has typed as commands of their host; with nil, nothing.
	Typed TypedDecisions
	// Personas may be nil: every stage then has its own role.
	Personas Personas
	// Names are what the faces call their tool of decisions and the program.
	Names Names
	// Now and NewID default to the system's clock and random UUIDs.
	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger
}

// Engine runs actions. It is safe for concurrent use. Of sessions it keeps nothing
// but which revision it last told its callers of.
type Engine struct {
	*views.Reader
	projects *project.Finder
	keeper   *integrity.Keeper
	person   permission.Person
	typedBy  TypedDecisions
	personas Personas
	names    Names
	now      func() time.Time
	newID    func() string
	log      *slog.Logger
	born     time.Time
	memory   memory
}

// New returns an engine.
func New(o Options) *Engine {
	e := &Engine{projects: o.Projects, typedBy: o.Typed, personas: o.Personas, names: o.Names, now: o.Now, newID: o.NewID, log: o.Log}
	if e.projects == nil {
		e.projects = project.New(project.Options{})
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.newID == nil {
		e.newID = uuid.NewString
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	e.keeper = integrity.New(o.Trust, e.log)
	e.person = permission.Person{Consent: o.Trust, Names: e.names, Now: e.now, Log: e.log}
	e.Reader = views.New(e.projects, e.keeper, &e.person)
	e.born = e.Now()
	return e
}

// Allow records that the person allows something, with its files as they were shown.
func (e *Engine) Allow(ctx context.Context, w permission.Want) error { return e.person.Allow(ctx, w) }

// Now returns the time by the engine's clock, in the precision that is stored.
func (e *Engine) Now() time.Time { return e.now().UTC().Truncate(time.Millisecond) }

// Clock returns the time with all that the clock gives, for measuring how long something takes.
func (e *Engine) Clock() time.Time { return e.now() }

// memory is which revision of each session this program has told its callers of, and
// when, by a count of calls and answers: clocks can be set back. To be told where a
// session stands, as by a refusal or a list, is less than to be shown it.
type memory struct {
	count atomic.Int64
	told  sync.Map // key of the session → told
	shown sync.Map // key of the session → revision
}

type told struct {
	revision int
	at       int64
}

func (m *memory) tell(key string, revision int) { m.told.Store(key, told{revision, m.count.Add(1)}) }

// show notes what a reply shows. Replies can overtake each other; the newest counts.
func (m *memory) show(key string, revision int) {
	m.tell(key, revision)
	for {
		before, loaded := m.shown.LoadOrStore(key, revision)
		if !loaded || before.(int) >= revision || m.shown.CompareAndSwap(key, before, revision) {
			return
		}
	}
}

// showedOther reports whether the last document of a session that was shown is of another revision.
func (m *memory) showedOther(key string, revision int) bool {
	shown, ok := m.shown.Load(key)
	return ok && shown != revision
}

// knew reports whether the caller could know where a session is: this program had
// named its revision before the call came in.
func (m *memory) knew(key string, revision int, call int64) bool {
	last, _ := m.told.Load(key)
	t, ok := last.(told)
	return ok && t.revision == revision && t.at < call
}
