package engine

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// admit refuses an action that the session's stage or state does not allow, that was meant for
// another revision of it, or that lacks an argument.
func (r *run) admit(ctx context.Context, s *standing.Standing) error {
	if err := request.CheckStage(s.Workflow, r.req.Stage); err != nil {
		return err
	}
	if want := r.req.Revision; want != nil && *want != s.Session.Revision {
		if *want < 0 || *want > s.Session.Revision { // 0 is that of a session of an older server
			return fault.New(fault.InvalidArgument, "the run has no revision %d; it is at %d", *want, s.Session.Revision).
				WithHint("pass the revision of the reply you act on, or leave it out")
		}
		return r.lostRace(ctx, s.Session)
	}
	err := r.req.Fits(s)
	// The human may have seen another document than the one that waits.
	unseen := r.req.Decides() && r.req.Revision == nil && r.caller.showedOther(s.Session.Revision)
	// A call that does not fit would have fitted before another one moved the session, if that moved while
	// this call was under way, or without this program having told its callers; and if its last move was
	// this very step: then the caller has lost a race, or repeats a call whose answer it never saw.
	untold := !r.caller.couldKnow(s.Session.Revision, r.call) && !s.Session.Last().At.Before(r.engine.born)
	late := untold || r.req.Repeats(s.Session)
	switch {
	case err == nil && unseen:
		return r.lostRace(ctx, s.Session)
	case err == nil:
		return r.req.Complete()
	case late:
		return r.lostRace(ctx, s.Session)
	}
	return err
}

// goesOn refuses to change a session that was changed by other hands, or that has approved texts that
// were, under a strict policy.
func goesOn(s *standing.Standing) error {
	if !s.Stopped() {
		return nil
	}
	name, task := s.Names.Program, s.Session.TaskName
	accept := lang.T("the human looks at it and accepts it by typing, at a terminal: %s adopt %s; until then nothing goes on", name, task)
	var e *fault.Error
	switch {
	case s.Integrity.Changed():
		e = fault.New(fault.Conflict, "the run was changed by other hands, and the policy is strict: %s", s.Integrity.Reason()).WithHint("%s", accept)
	case s.Doubtful():
		if len(s.Integrity.Strangers) > 0 {
			accept = lang.T("the human says whose the key is by typing, at a terminal: %s allow; or accepts the run as it is: %s adopt %s; until then nothing goes on", name, name, task)
		}
		e = fault.New(fault.Conflict, "not all of the run is confirmed, and the policy is strict: %s", s.Integrity.Reason()).WithHint("%s", accept)
	default:
		e = fault.New(fault.Conflict, "a text is not as it was approved, and the policy is strict: %s", workflow.AlterationsText(s.Altered)).
			WithHint("the human accepts it as it is by typing, at a terminal: %s adopt %s; or has the approved text put back: %s adopt %s --restore; until then nothing goes on",
				name, task, name, task)
	}
	e.Allowed = workflow.Names(gate.Allowed(s))
	return e
}

// explain adds the session and its allowed actions to an error.
func (r *run) explain(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, request.ErrAsked) {
		return err
	}
	f := fault.From(store.Trouble(r.project.Dir, err))
	f.SessionID = r.id
	ctx = context.WithoutCancel(ctx)
	s, getErr := r.project.Backend.Get(ctx, r.id)
	if getErr != nil {
		return f.Translated(r.project.Language(""))
	}
	if len(f.Allowed) == 0 {
		f.Allowed = workflow.Names(gate.Allowed(r.before(ctx, s)))
		f.Stage, f.State, f.Revision = string(s.CurrentStage), string(s.CurrentState), s.Revision
		r.caller.tell(s.Revision)
	}
	return f.Translated(r.project.Language(s.Objective))
}

// lostRace returns the error of a call that another one came before: it says by whom the
// session was moved, and where it is now.
func (r *run) lostRace(ctx context.Context, s *workflow.Session) error {
	// Once told that a step was taken, the caller must not lose it again with the power.
	_ = r.project.Backend.Confirm(ctx, s.SessionID)
	return words.Lost(s, r.req.Repeats(s))
}
