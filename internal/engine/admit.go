package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// admit refuses an action that the session's stage or state does not allow, or
// that was meant for another revision of it.
func (r *run) admit(ctx context.Context, s *standing.Standing) error {
	if err := CheckStage(s.Workflow, r.req.Stage); err != nil {
		return err
	}
	if want := r.req.Revision; want != nil && *want != s.Revision {
		if *want < 0 || *want > s.Revision { // 0 is that of a session of an older server
			return words.NoRevision(s, *want)
		}
		return r.lost(ctx, s.Session)
	}
	err := r.fits(s)
	if err == nil && r.req.decides() && r.req.Revision == nil && r.memory.showedOther(r.key(s.SessionID), s.Revision) {
		return r.lost(ctx, s.Session) // the human has seen another document than the one that waits
	}
	if err != nil && r.late(s.Session) {
		return r.lost(ctx, s.Session)
	}
	return err
}

// fits refuses an action that the session's stage or state does not allow.
func (r *run) fits(s *standing.Standing) error {
	if r.req.Action == workflow.ActionReopen {
		return r.req.canReopen(s)
	}
	if want := workflow.StageID(r.req.Stage); want != "" && want != s.CurrentStage {
		return words.OtherStage(s)
	}
	if r.req.resubmits(r.project, s) {
		return nil
	}
	return r.req.allowed(s)
}

// allowed refuses an action that the session's state does not allow.
func (q *Request) allowed(s *standing.Standing) error {
	if slices.Contains(s.CurrentState.Allowed(), q.Action) {
		return nil
	}
	return words.NotNow(s, q.takesBack(s.Last()))
}

// canReopen refuses to go back to a stage that the session has not passed.
func (q *Request) canReopen(s *standing.Standing) error {
	if err := q.allowed(s); err != nil {
		return err
	}
	w, target := s.Workflow, workflow.StageID(q.Stage)
	if s.CurrentState != workflow.Completed && w.Index(target) >= w.Index(s.CurrentStage) {
		return words.NotEarlier(s)
	}
	return nil
}

// resubmits reports whether the call submits again, from its path, a draft that was
// edited while it waited at its gate.
func (q *Request) resubmits(p *project.Project, s *standing.Standing) bool {
	if q.Action != workflow.ActionSubmit || !s.Resubmits() {
		return false
	}
	for _, result := range q.results(s) {
		if p.Local(result.Path) != s.Draft.Path {
			return false
		}
	}
	return true
}

// goesOn refuses to change a session that was changed by other hands, under a strict policy.
func goesOn(s *standing.Standing) error {
	if !s.Stopped {
		return nil
	}
	e := words.ChangedByOthers(s)
	e.Allowed = actionNames(gate.Allowed(s))
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
	s, getErr := r.project.Backend.Get(ctx, r.id)
	if getErr != nil {
		return f.Translated(r.language(r.project, ""))
	}
	if len(f.Allowed) == 0 {
		f.Allowed = actionNames(gate.Allowed(r.before(ctx, s)))
		f.Stage, f.State, f.Revision = string(s.CurrentStage), string(s.CurrentState), s.Revision
		r.memory.tell(r.key(r.id), s.Revision)
	}
	return f.Translated(r.language(r.project, s.Objective))
}
