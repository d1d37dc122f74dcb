package engine

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// People edit the working copy while it waits at a gate. A draft that was changed is not
// what was scored, so no decision saves it; it can be submitted again from its path
// instead, which is the one submission a gate takes.

// draftState says what has become of the current document since it was scored. Without a
// working copy it is the record of the round that counts.
func (r run) draftState(s *workflow.Session) artifact.State {
	ref := s.Current().FinalResultRef
	if ref == nil {
		return artifact.Unchanged
	}
	if r.project.Dir.Exists(r.workPath(s)) {
		return artifact.StateOf(r.project.Dir, workflow.Artifact{Path: r.workPath(s), SHA256: r.draftHash(s)})
	}
	stat, err := r.project.Texts.Stat(context.Background(), *ref)
	switch hash := r.draftHash(s); {
	case err == nil && !stat.Exists:
		return artifact.Missing
	case err == nil && hash != "" && stat.SHA256 != hash:
		return artifact.Modified
	}
	return artifact.Unchanged
}

// draftHash returns the hash of the document that waits, as it was handed in: what a
// decision is for. A session of an older server may know none; it is that of the text then.
func (r run) draftHash(s *workflow.Session) string {
	rec := s.Current()
	if rec.FinalResultRef != nil && rec.FinalResultRef.SHA256 != "" {
		return rec.FinalResultRef.SHA256
	}
	for _, e := range slices.Backward(s.History) {
		if e.Action == workflow.ActionSubmit && e.FromStage() == s.CurrentStage && e.SHA256 != "" {
			return e.SHA256
		}
	}
	if text := r.handedIn(context.Background(), rec); text != "" {
		if rec.FinalResultRef != nil {
			return workflow.Hash([]byte(text))
		}
		return workflow.Hash([]byte(score.Read(r.stage(s), text).Document + "\n"))
	}
	return ""
}

// draftEdited reports whether the current document was changed after it was scored.
func (r run) draftEdited(s *workflow.Session) bool { return r.draftState(s) == artifact.Modified }

// changedSince is the error of a decision on a draft that is no longer the one that was scored.
func (r run) changedSince(s *workflow.Session) error {
	st := r.stage(s)
	e := fault.New(fault.Conflict, "the draft %s was changed after it was scored, so it was not saved", r.draftPath(s))
	if !r.resubmittable(s) {
		return e.WithHint("it counts as it was judged: restore the file, or call approve with false and say what to change")
	}
	e.NextCall = r.resubmission(s)
	again := "submit it again from its path, so that the text as it is now is judged"
	if st.Gate == workflow.GateScore {
		again += `; assess it first, and put the line "Quality Score: n/100" into it`
	}
	return e.WithHint("%s. Or call %s with false and say what to change", again, r.req.Action)
}

// resubmittable reports whether a stage's document may be submitted again while it
// waits: a failed review or QA report waits for the human's word on the work, which
// another report must not take away, and spent rounds for their word on another one.
func (r run) resubmittable(s *workflow.Session) bool {
	switch r.stage(s).Gate {
	case workflow.GateVerdict:
		return false
	case workflow.GateScore:
		return s.CurrentState == workflow.AwaitingConfirmation
	}
	return true
}

// resubmission is the call that submits the current document from where it is.
func (r run) resubmission(s *workflow.Session) map[string]any {
	engine := r.stage(s).EnginesFor(s.Objective)[0]
	return map[string]any{
		"action": workflow.ActionSubmit, "stage": s.CurrentStage, "session_id": s.SessionID,
		string(engine) + "_result_path": r.draftPath(s),
	}
}

// resubmits reports whether the call submits again, from its path, a draft that was
// edited while it waited at its gate.
func (r run) resubmits(s *workflow.Session) bool {
	if r.req.Action != workflow.ActionSubmit || !s.CurrentState.Gated() || !r.resubmittable(s) || !r.draftEdited(s) {
		return false
	}
	for _, result := range r.results(s) {
		if r.project.Local(result.Path) != r.draftPath(s) {
			return false
		}
	}
	return true
}

// notStale refuses a stage's own document from before an earlier stage was reopened,
// submitted from where it stands unchanged: it cannot have taken the change into account.
func (r run) notStale(s *workflow.Session) error {
	rec := s.Current()
	if rec.Artifact == nil || !rec.Artifact.Stale {
		return nil
	}
	for _, result := range r.results(s) {
		given := r.project.Local(result.Path)
		stale := given == rec.Artifact.Path && artifact.StateOf(r.project.Dir, *rec.Artifact) == artifact.Unchanged
		if ref := rec.FinalResultRef; stale || ref != nil && (given == ref.FilePath || given == r.draftPath(s)) && !r.draftEdited(s) {
			return fault.New(fault.InvalidArgument, "%s is the document from before an earlier stage was reopened", given).
				WithHint("work the change in, then submit it; if it needs none, say in the document why it still holds")
		}
	}
	return nil
}

// sameAsBefore says so where a submission is word for word the stage's document of
// before: whoever decides on it should know.
func sameAsBefore(rec *workflow.Record, sub *submission) []string {
	if rec.FinalResultRef == nil || workflow.Hash([]byte(sub.assessment.Document+"\n")) != rec.FinalResultRef.SHA256 {
		return nil
	}
	if rec.Artifact != nil && rec.Artifact.Stale {
		return []string{"word for word the document from before an earlier stage was reopened"}
	}
	return []string{"word for word the document of the round before"}
}
