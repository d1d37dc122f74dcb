package engine

import (
	"cmp"
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// changeSession runs apply on the session in one transaction, and returns the new state. prepare does the work
// without a lock beforehand, on the session as the caller saw it; the call is refused if another one changed the
// session in between.
func (r *run) changeSession(ctx context.Context, prepare func(*standing.Standing) error, apply func(store.Tx, *standing.Standing) error) (*standing.Standing, error) {
	s, err := r.check.readSession(ctx)
	if err != nil {
		return nil, err
	}
	before := r.gatherNeeded(ctx, s)
	if err := cmp.Or(refuseStopped(before), r.refuseHomeless(before)); err != nil { // before anyone is asked
		return nil, err
	}
	if err := r.checkAllowed(ctx, before); err != nil {
		return nil, err
	}
	if err := r.check.keeper.maySign(ctx); err != nil {
		return nil, err
	}
	// Without a readable prompt the next stage would have no briefing. The prompts are read here and kept: after
	// the session is stored, nothing may fail.
	if err := r.project.CheckPrompts(before.Workflow); err != nil {
		return nil, err
	}
	if err := prepare(before); err != nil {
		return nil, err
	}
	defer r.check.releaseRecord()
	after, err := r.project.Backend.Update(ctx, r.id, func(tx store.Tx, s *workflow.Session) error {
		return r.applyLocked(ctx, tx, s, *before, apply)
	})
	if err != nil {
		r.disk.Drop()
		return nil, err
	}
	r.check.recordSession(ctx, after)
	r.writeFiles(after)
	now := r.gatherAll(ctx, after)
	r.writeStatement(ctx, s, now)
	r.keepLessons(ctx, now, after.History[min(len(s.History), len(after.History)):])
	if !r.req.Notifies {
		r.engine.Notify(r.project, after, eventOf(r.req.Action, now))
	}
	return now, nil
}

// writeFiles writes the files of a stored session. It fails no action: the next step writes them, and the reply
// describes the files as they are.
func (r *run) writeFiles(s *workflow.Session) {
	if err := r.disk.Settle(s); err != nil {
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
	r.check.checkLocked(ctx, s, before)
	now.Session, now.Integrity, now.Strict = s, r.check.found, r.check.strict
	if err := refuseStopped(&now); err != nil {
		return err
	}
	if err := r.check.reserveRecord(ctx); err != nil {
		return err
	}
	r.disk.AdoptSprints(ctx, &now)
	if r.req.Action != workflow.ActionSubmit { // a submission brings a document of its own
		if err := r.disk.Adopt(ctx, tx, &now); err != nil {
			return err
		}
	}
	sign := r.check.prepareSignature(ctx, s)
	note := workflow.Transition{At: r.engine.Now(), Action: r.req.Action, By: r.req.By, Person: r.engine.personOf(r.project)}
	notePolicy(&now, note)
	r.engine.person.In(r.project).NoteVerify(&now, note)
	if err := apply(tx, &now); err != nil {
		return err
	}
	after := r.gatherFacts(s)
	if r.check.mayWrite() {
		r.disk.Repair(ctx, after, false)
	}
	r.disk.LayOut(ctx, after)
	return sign()
}

func policiesOf(w *workflow.Definition) map[workflow.StageID]workflow.Policy {
	out := map[workflow.StageID]workflow.Policy{}
	for _, st := range w.Stages {
		out[st.ID] = st.Policy()
	}
	return out
}

// notePolicy records in the history a difference between the configured rules and the ones at the session's last
// change, in an entry with the fields of note.
func notePolicy(s *standing.Standing, note workflow.Transition) {
	now := policiesOf(s.Workflow)
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
