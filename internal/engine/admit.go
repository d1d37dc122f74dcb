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

// checkAllowed refuses an action if the stage or state of the session does not allow it, if it was meant for
// another revision, or if it lacks an argument.
func (r *run) checkAllowed(ctx context.Context, s *standing.Standing) error {
	if err := request.CheckStage(s.Workflow, r.req.Stage); err != nil {
		return err
	}
	if want := r.req.Revision; want != nil && *want != s.Session.Revision {
		if *want < 0 || *want > s.Session.Revision { // older servers kept no revision: it reads as 0
			return fault.New(fault.InvalidArgument, "the run has no revision %d; it is at %d", *want, s.Session.Revision).
				WithHint("pass the revision of the reply you act on, or leave it out")
		}
		return r.lostRace(ctx, s.Session)
	}
	err := r.req.Fits(s)
	// The human may have seen another document than the waiting one.
	sawOther := r.req.Decides() && r.req.Revision == nil && r.caller.showedOther(s.Session.Revision)
	// A call may have been right when it was sent: another call has moved the session while this one was under
	// way, or before the caller could know of it, or the last move was this very step. The caller has then lost a
	// race, or repeats a call without having seen the answer.
	couldNotKnow := !r.caller.couldKnow(s.Session.Revision, r.call) && !s.Session.Last().At.Before(r.engine.born)
	isLate := couldNotKnow || r.req.Repeats(s.Session)
	switch {
	case err == nil && sawOther:
		return r.lostRace(ctx, s.Session)
	case err == nil:
		return r.req.Complete()
	case isLate:
		return r.lostRace(ctx, s.Session)
	}
	return err
}

// refuseHomeless refuses a step of a run whose worktree was removed: its documents would be written into the main tree.
func (r *run) refuseHomeless(s *standing.Standing) error {
	if s.Homeless == "" || r.req.Action == workflow.ActionCancel {
		return nil
	}
	return fault.New(fault.Conflict, "the worktree of the run is gone: %s", s.Homeless).
		WithHint("%s run --resume %s makes it anew, from the branch %s", s.Names.Program, s.Session.TaskName, s.Session.Branch)
}

// refuseStopped refuses, under a strict policy, to change a session if other hands have changed it or one of the
// approved texts.
func refuseStopped(s *standing.Standing) error {
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
		e = fault.New(fault.Conflict, "not all of the run is confirmed, and the policy is strict: %s", s.Integrity.Reason()).WithHint("%s", words.ToTellApart(s, accept))
	default:
		e = fault.New(fault.Conflict, "a text is not as it was approved, and the policy is strict: %s", workflow.AlterationsText(s.Altered)).
			WithHint("the human accepts it as it is by typing, at a terminal: %s adopt %s; or has the approved text put back: %s adopt %s --restore; until then nothing goes on",
				name, task, name, task)
	}
	e.Allowed = workflow.Names(gate.Allowed(s))
	return e
}

// explainError adds the session and the allowed actions to an error.
func (r *run) explainError(ctx context.Context, err error) error {
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
		f.Allowed = workflow.Names(gate.Allowed(r.gatherNeeded(ctx, s)))
		f.Stage, f.State, f.Revision = string(s.CurrentStage), string(s.CurrentState), s.Revision
		r.caller.noteTold(s.Revision)
	}
	return f.Translated(r.project.Language(s.Objective))
}

// lostRace returns the error for a call after another one has moved the session: it names the other caller and the
// place of the session.
func (r *run) lostRace(ctx context.Context, s *workflow.Session) error {
	// The step is confirmed to the caller here, so it has to be durable: a power failure must not undo it.
	_ = r.project.Backend.Confirm(ctx, s.SessionID)
	return words.Lost(s, r.req.Repeats(s))
}
