package engine

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
)

// admit refuses an action that the session's stage or state does not allow, or
// that was meant for another revision of it.
func (r *run) admit(ctx context.Context, s *standing.Standing) error {
	if err := request.CheckStage(s.Workflow, r.req.Stage); err != nil {
		return err
	}
	if want := r.req.Revision; want != nil && *want != s.Revision {
		if *want < 0 || *want > s.Revision { // 0 is that of a session of an older server
			return words.NoRevision(s, *want)
		}
		return r.lost(ctx, s.Session)
	}
	err := r.req.Fits(r.project, s)
	if err == nil && r.req.Decides() && r.req.Revision == nil && r.memory.showedOther(r.key(s.SessionID), s.Revision) {
		return r.lost(ctx, s.Session) // the human has seen another document than the one that waits
	}
	if err != nil && r.late(s.Session) {
		return r.lost(ctx, s.Session)
	}
	return err
}

// goesOn refuses to change a session that was changed by other hands, under a strict policy.
func goesOn(s *standing.Standing) error {
	if !s.Stopped {
		return nil
	}
	e := words.ChangedByOthers(s)
	e.Allowed = request.ActionNames(gate.Allowed(s))
	return e
}

// explain adds the session and its allowed actions to an error.
func (r *run) explain(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrAsked) {
		return err
	}
	f := fault.From(store.Trouble(r.project.Dir, err))
	f.SessionID = r.id
	ctx = context.WithoutCancel(ctx)
	if s, getErr := r.project.Backend.Get(ctx, r.id); getErr == nil && len(f.Allowed) == 0 {
		f.Allowed = request.ActionNames(gate.Allowed(r.before(ctx, s)))
		f.Stage, f.State, f.Revision = string(s.CurrentStage), string(s.CurrentState), s.Revision
		r.memory.tell(r.key(r.id), s.Revision)
	}
	return f
}
