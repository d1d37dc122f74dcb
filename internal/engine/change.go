package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// change runs apply on the session in one transaction, and returns its new state. prepare
// does before it the work that needs no lock, on the session as the caller saw it; if another
// call changed the session in between, this one is refused.
func (r *run) change(ctx context.Context, prepare func(*standing.Standing) error, apply func(store.Tx, *standing.Standing) error) (*standing.Standing, error) {
	s, err := r.check.get(ctx)
	if err != nil {
		return nil, err
	}
	r.repair(ctx, s)
	before := r.before(ctx, s)
	if err := goesOn(before); err != nil { // before anyone is asked
		return nil, err
	}
	if err := r.admit(ctx, before); err != nil {
		return nil, err
	}
	if err := r.check.keeper.maySign(ctx); err != nil {
		return nil, err
	}
	// A prompt that cannot be read would leave the next stage without its briefing. They
	// are read here and kept: after the session is stored, nothing may fail.
	if err := r.project.CheckPrompts(before.Workflow); err != nil {
		return nil, err
	}
	if err := prepare(before); err != nil {
		return nil, err
	}
	defer r.check.release()
	after, err := r.project.Backend.Update(ctx, r.id, func(tx store.Tx, s *workflow.Session) error {
		return r.applyLocked(ctx, tx, s, *before, apply)
	})
	if err != nil {
		r.disk.Drop()
		return nil, err
	}
	r.check.record(ctx, after)
	r.settle()
	now := r.standing(ctx, after)
	r.prove(ctx, s, now)
	r.learn(ctx, now, after.History[min(len(s.History), len(after.History)):])
	return now, nil
}

// repair writes the files that the session has and this folder lacks. One that was changed by other
// hands writes none.
func (r *run) repair(ctx context.Context, s *workflow.Session) {
	if !r.check.mayWrite() {
		return
	}
	r.disk.Repair(context.WithoutCancel(ctx), r.gatherFacts(s), false)
	r.settle()
}

// settle writes the files of a session that is stored. It fails no action: the next call writes them,
// and the reply describes the files as they are.
func (r *run) settle() {
	if err := r.disk.Settle(); err != nil {
		r.engine.options.Log.Warn("a document is stored, but its file cannot be written", "session", r.id, "error", err)
	}
}

// applyLocked applies a change to the session, which is now locked. now has the facts of before.
func (r *run) applyLocked(ctx context.Context, tx store.Tx, s *workflow.Session, now standing.Standing, apply func(store.Tx, *standing.Standing) error) error {
	r.project.Texts = tx
	defer func() { r.project.Texts = r.project.Backend }()
	before := now.Session
	if s.Revision != before.Revision {
		return r.lostRace(ctx, s)
	}
	r.check.again(ctx, s, before)
	now.Session, now.Integrity, now.Strict = s, r.check.found, r.check.strict
	if err := goesOn(&now); err != nil {
		return err
	}
	if err := r.check.reserve(ctx); err != nil {
		return err
	}
	r.disk.AdoptSprints(ctx, &now)
	if r.req.Action != workflow.ActionSubmit { // that brings a document of its own
		if err := r.disk.Adopt(ctx, tx, &now); err != nil {
			return err
		}
	}
	sign := r.check.signing(ctx, s)
	note := workflow.Transition{At: r.engine.Now(), Action: r.req.Action, By: r.req.By, Person: r.engine.who(r.project)}
	notePolicy(&now, note)
	r.engine.person.In(r.project).NoteVerify(&now, note)
	if err := apply(tx, &now); err != nil {
		return err
	}
	r.disk.LayOut(ctx, r.gatherFacts(s))
	return sign()
}

func policies(w *workflow.Definition) map[workflow.StageID]workflow.Policy {
	out := map[workflow.StageID]workflow.Policy{}
	for _, st := range w.Stages {
		out[st.ID] = st.Policy()
	}
	return out
}

// notePolicy records in the history that the configuration asks for something else than
// at the session's last change, in an entry that begins as note does.
func notePolicy(s *standing.Standing, note workflow.Transition) {
	now := policies(s.Workflow)
	if s.Session.Policy == nil { // an older server kept none
		s.Session.Policy = now
		return
	}
	for _, st := range s.Workflow.Stages {
		before := s.Session.Policy[st.ID]
		if before.AuditFloor == nil { // an older program kept none
			before.AuditFloor = now[st.ID].AuditFloor
			s.Session.Policy[st.ID] = before
		}
	}
	if changes := words.PolicyChanges(s.Workflow, s.Session.Policy, now); len(changes) > 0 {
		note.Event, note.Policy, note.Rules = workflow.EventPolicyChanged, lang.Join(changes, "; ").In(s.Language), now
		setPolicy(s.Session, now)
		s.Session.Note(note)
	}
}

// setPolicy has a session go on under some rules.
func setPolicy(s *workflow.Session, rules map[workflow.StageID]workflow.Policy) {
	if s.Policy == nil {
		s.Policy = map[workflow.StageID]workflow.Policy{}
	}
	for id, p := range rules {
		p.Extra = s.Policy[id].Extra
		s.Policy[id] = p
	}
}
