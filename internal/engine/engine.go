// Package engine holds the use cases of bmad-mcp, one file an action. It owns the
// clock, the ids and the transactions; the faces turn what they receive into a
// [Request], call [Engine.Do], and show the [Reply] or the *fault.Error.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Trust is what the person keeps outside of projects.
type Trust interface {
	Records
	Consent
}

// Records vouch for sessions.
type Records interface {
	// Signer signs histories; ReadSigner is the same for checks, and nil where there is none.
	Signer(ctx context.Context) (workflow.Signer, error)
	ReadSigner() (workflow.Signer, error)
	// Checkpoints returns what this machine has recorded of sessions of a project, by their
	// ids, and Record keeps it.
	Checkpoints(signer workflow.Signer, project string, ids ...string) map[string]workflow.Checkpoint
	Record(ctx context.Context, signer workflow.Signer, project, id string, c workflow.Checkpoint) error
}

// Consent is what the person has allowed.
type Consent interface {
	// Allowed reports whether they have allowed something in a project.
	Allowed(a trust.Allowance) bool
	// InForce returns what they have allowed in a project, Allowances what anywhere.
	InForce(project string) []trust.Allowance
	Allowances() ([]trust.Allowance, error)
	// Bind binds what they have allowed under an older version to the project.
	Bind(ctx context.Context, project string) error
	// Allow records what they allow.
	Allow(ctx context.Context, a trust.Allowance) error
}

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
	// Now and NewID default to the system's clock and random UUIDs.
	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger
}

// Engine runs actions. It is safe for concurrent use. Of sessions it keeps nothing
// but which revision it last told its callers of.
type Engine struct {
	projects *project.Finder
	trust    Trust
	typedBy  TypedDecisions
	personas Personas
	now      func() time.Time
	newID    func() string
	log      *slog.Logger
	born     time.Time
	memory   memory

	signing sync.Mutex
	signs   workflow.Signer // once it was had

	unrecorded sync.Once // whether it was said that nothing can be recorded
}

// New returns an engine.
func New(o Options) *Engine {
	e := &Engine{projects: o.Projects, trust: o.Trust, typedBy: o.Typed, personas: o.Personas, now: o.Now, newID: o.NewID, log: o.Log}
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
	e.born = e.Now()
	return e
}

// Projects finds and opens the projects that the engine works in.
func (e *Engine) Projects() *project.Finder { return e.projects }

// Now returns the time by the engine's clock, in the precision that is stored.
func (e *Engine) Now() time.Time { return e.now().UTC().Truncate(time.Millisecond) }

// Clock returns the time with all that the clock gives, for measuring how long something takes.
func (e *Engine) Clock() time.Time { return e.now() }

// Do runs one action. An error is always a *fault.Error, except the context's
// own when the caller gave up; nothing was changed then.
func (e *Engine) Do(ctx context.Context, req Request) (*Reply, error) {
	reply, err := e.do(ctx, req)
	switch {
	case err == nil:
		fit(reply)
		return reply, nil
	case errors.Is(err, context.Canceled), errors.Is(err, ErrAsked):
		return nil, err
	}
	return nil, fault.From(err)
}

func (e *Engine) do(ctx context.Context, req Request) (*Reply, error) {
	call := e.memory.count.Add(1)
	if err := req.validate(); err != nil {
		return nil, err
	}
	if req.Action == workflow.ActionStart {
		return e.start(ctx, req)
	}
	at := req.Address()
	at.Optional = req.Action == workflow.ActionStatus
	p, id, err := e.projects.Find(ctx, at)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if id == "" { // only status goes without a session
		return e.list(ctx, req, p)
	}
	r := run{Engine: e, project: p, id: id, req: req, call: call, found: new(finding)}
	reply, err := r.act(ctx)
	var none *silence
	if errors.As(err, &none) {
		reply, err = r.stillPending(ctx, none.Silence)
	}
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	r.memory.show(r.key(id), reply.Revision)
	return reply, nil
}

// run is one action on one session.
type run struct {
	*Engine
	project *project.Project
	id      string
	req     Request
	// call is when the call came in, by the engine's memory.
	call int64
	// withheld is true where the person was just asked and took no decision.
	withheld bool
	// found is what the call has found of the session's history.
	found *finding
}

func (r run) act(ctx context.Context) (*Reply, error) {
	switch r.req.Action {
	case workflow.ActionSubmit:
		return r.submit(ctx)
	case workflow.ActionAnswer:
		return r.answer(ctx)
	case workflow.ActionConfirm, workflow.ActionApprove:
		return r.decide(ctx)
	case workflow.ActionStatus:
		return r.status(ctx)
	case workflow.ActionResume:
		return r.resume(ctx)
	case workflow.ActionReopen:
		return r.reopen(ctx)
	case workflow.ActionCancel:
		return r.cancel(ctx)
	}
	return nil, unknownAction(string(r.req.Action))
}

// change runs apply on the session in one transaction. prepare, which may be nil,
// does before it what needs no lock, on the session as the caller saw it; when
// another call changed the session in between, this one has lost and is told so.
func (r run) change(ctx context.Context, prepare func(*workflow.Session) error, apply store.Change) (*workflow.Session, error) {
	before, err := r.get(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.goesOn(before); err != nil { // before anyone is asked
		return nil, err
	}
	if err := r.admit(ctx, before); err != nil {
		return nil, err
	}
	// A prompt that cannot be read would leave the next stage without its briefing. They
	// are read here and kept: after the session is stored, nothing may fail.
	if err := r.project.CheckPrompts(r.workflow(before)); err != nil {
		return nil, err
	}
	if prepare != nil {
		if err := prepare(before); err != nil {
			return nil, err
		}
	}
	s, err := r.project.Backend.Update(ctx, r.id, func(tx store.Tx, s *workflow.Session) error {
		r.project.Texts = tx
		defer func() { r.project.Texts = r.project.Backend }()
		if s.Revision != before.Revision {
			return r.lost(ctx, s)
		}
		signer := r.signer(ctx)
		c := r.lookAgain(s, before, signer)
		if err := r.goesOn(s); err != nil {
			return err
		}
		if err := r.adopt(ctx, tx, s); err != nil {
			return err
		}
		seal := s.SealAfter(signer, r.found.Verification)
		r.notePolicy(s)
		r.noteVerify(s)
		if err := apply(tx, s); err != nil {
			return err
		}
		if err := r.layOut(ctx, tx, s); err != nil {
			return err
		}
		if c != nil && r.found.Changed() { // a revision is never given twice
			s.Revision = max(s.Revision, c.Revision)
		}
		seal()
		return nil
	})
	if err == nil {
		r.record(ctx, s)
	}
	return s, err
}

// admit refuses an action that the session's stage or state does not allow, or
// that was meant for another revision of it.
func (r run) admit(ctx context.Context, s *workflow.Session) error {
	if err := CheckStage(r.workflow(s), r.req.Stage); err != nil {
		return err
	}
	if want := r.req.Revision; want != nil && *want != s.Revision {
		if *want < 0 || *want > s.Revision { // 0 is that of a session of an older server
			return fault.New(fault.InvalidArgument, "the session has no revision %d; it is at %d", *want, s.Revision).
				WithHint("pass the revision of the reply you act on, or leave it out")
		}
		return r.lost(ctx, s)
	}
	err := r.fits(s)
	if err == nil && r.decides() && r.req.Revision == nil && r.showedOther(s) {
		return r.lost(ctx, s) // the human has seen another document than the one that waits
	}
	if err != nil && r.late(s) {
		return r.lost(ctx, s)
	}
	return err
}

// fits refuses an action that the session's stage or state does not allow.
func (r run) fits(s *workflow.Session) error {
	if r.req.Action == workflow.ActionReopen {
		return r.canReopen(s)
	}
	if want := workflow.StageID(r.req.Stage); want != "" && want != s.CurrentStage {
		return fault.New(fault.WrongStage, "the session stands at stage %q, not %q", s.CurrentStage, want).
			WithHint("%s", r.nextMove(s))
	}
	if r.resubmits(s) {
		return nil
	}
	return r.allowed(s)
}

// allowed refuses an action that the session's state does not allow.
func (r run) allowed(s *workflow.Session) error {
	if slices.Contains(s.CurrentState.Allowed(), r.req.Action) {
		return nil
	}
	code := fault.NotAllowed
	if s.CurrentState.Gated() {
		code = fault.GatePending
	}
	e := fault.New(code, "%q is not possible while the session stands at %s", r.req.Action, s.Place()).
		WithHint("%s", r.nextMove(s))
	switch {
	case r.decides() && r.takesBack(s):
		e.Hint += "; to take the decision back, reopen " + string(s.Last().FromStage())
	case r.req.Action == workflow.ActionSubmit && s.CurrentState.Gated() && r.resubmittable(s) && r.draftEdited(s):
		e.Hint += "; the draft was edited: it alone can be submitted now, from " + r.draftPath(s)
	}
	return e
}

// nextMove says what a session waits for, and how the caller can bring it.
func (r run) nextMove(s *workflow.Session) string {
	if gateAction(s.CurrentState) != "" && r.way(s) == byOwnAct {
		return r.ways(s)
	}
	return nextMove(s)
}

// nextMove says what a session waits for.
func nextMove(s *workflow.Session) string {
	switch s.CurrentState {
	case workflow.Generating, workflow.Refining:
		return "generate the document for stage " + string(s.CurrentStage) + " and submit it"
	case workflow.Clarifying:
		return "show the open questions to the human and call answer with their words"
	case workflow.AwaitingConfirmation:
		return "the human decides: call confirm with confirmed true or false once they have said so"
	case workflow.AwaitingApproval:
		return "the human decides: call approve with approved true or false once they have said so"
	case workflow.Completed:
		return "the workflow is complete; reopen a stage to change something, or start a new session"
	}
	return "the session is cancelled; start a new one"
}

// explain adds the session and its allowed actions to an error.
func (r run) explain(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrAsked) {
		return err
	}
	f := fault.From(store.Trouble(r.project.Dir, err))
	f.SessionID = r.id
	if s, getErr := r.project.Backend.Get(context.WithoutCancel(ctx), r.id); getErr == nil && len(f.Allowed) == 0 {
		f.Allowed = r.allowedActions(s)
		f.Stage, f.State, f.Revision = string(s.CurrentStage), string(s.CurrentState), s.Revision
		r.memory.tell(r.key(r.id), s.Revision)
	}
	return f
}

// allowedActions lists what the session accepts where it stands, and with its draft as it is.
func (r run) allowedActions(s *workflow.Session) []string {
	names := actionNames(r.workflow(s).Allowed(s))
	if r.stopped() {
		return slices.DeleteFunc(names, func(name string) bool {
			return name != string(workflow.ActionStatus) && name != string(workflow.ActionResume)
		})
	}
	if r.leavingPolicy(s) == workflow.GateStrict && (r.req.Ask == nil || r.req.NoForms) {
		// What only the human's own act can do is not offered to the caller.
		own := []workflow.Action{workflow.ActionReopen, workflow.ActionCancel}
		if r.policy(s).Gate == workflow.GateStrict {
			own = append(own, gateAction(s.CurrentState))
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(own, workflow.Action(name)) })
	}
	if s.CurrentState.Gated() && r.resubmittable(s) && r.draftEdited(s) {
		names = append([]string{string(workflow.ActionSubmit)}, names...)
	}
	return names
}

func actionNames(actions []workflow.Action) []string {
	out := make([]string, len(actions))
	for i, a := range actions {
		out[i] = string(a)
	}
	return out
}

// fire moves the session by one event of this action.
func (r run) fire(ctx context.Context, s *workflow.Session, event workflow.Event, note workflow.Transition) error {
	return r.workflow(s).Fire(ctx, s, workflow.Firing{
		Event: event, Action: r.req.Action, By: r.req.By, At: r.Now(),
		Stage: workflow.StageID(r.req.Stage), Note: note,
	})
}

// stage returns the definition of the session's current stage.
func (r run) stage(s *workflow.Session) workflow.Stage {
	return r.workflow(s).Current(s)
}

func unknownAction(name string) error {
	return fault.New(fault.InvalidArgument, "unknown action %q", name).
		WithHint("use one of: %s", strings.Join(actionNames(workflow.Actions()), ", "))
}
