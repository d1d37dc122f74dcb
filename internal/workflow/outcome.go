package workflow

import "slices"

// Reading has the facts about a submission that decide the outcome.
type Reading struct {
	// Claimed is the submission's own score; nil if it states none.
	Claimed *float64
	// Audited is the score of the audit; nil if there is none.
	Audited *float64
	// Returned is true if a report does not have the form that it owes.
	Returned bool
	// Exhausted is true if another round below the gate, or another return, needs the person's
	// consent.
	Exhausted bool
	// Questions is true if the submission has questions for the person.
	Questions bool
	Verdict   Verdict
	// Doubted is true if something speaks against a pass.
	Doubted bool
	// Scoping is true for a scope, required first by a workflow that starts with a build.
	Scoping bool
}

// Outcome returns the event of a submission. first is true for the first submission of the stage:
// the questions in it are put to the person at any score, because an early high score is easily
// claimed, while an answer adds knowledge.
func (w *Definition) Outcome(st Stage, first bool, r Reading) Event {
	if r.Scoping {
		if r.Questions {
			return EventQuestioned
		}
		return EventScoped
	}
	switch st.Gate {
	case GateScore:
		ready := st.Policy().Met(r.Claimed, r.Audited)
		mayAsk := first || !ready
		switch {
		case r.Questions && mayAsk:
			return EventQuestioned
		case ready:
			return EventScoredReady
		case r.Exhausted:
			return EventExhausted
		default:
			return EventScoredBelow
		}
	case GateApproval:
		return EventPlanned
	case GateNone:
		if r.Returned {
			return EventReturned
		}
	case GateVerdict:
		switch {
		case r.Returned && r.Exhausted:
			return EventExhausted
		case r.Returned:
			return EventReturned
		case r.Verdict == Blocked:
			return EventBlocked
		case !r.Verdict.Passes():
			return EventFailed
		case r.Doubted:
			return EventDoubted
		}
	}
	return w.finishedIfLast(st, EventDelivered)
}

// Requirements returns the stage whose document names the criteria that a later report owes rows for; ok is false if
// there is none.
func (w *Definition) Requirements() (st Stage, ok bool) {
	owes := slices.ContainsFunc(w.Stages, func(st Stage) bool { return st.Gate == GateVerdict && st.Owed() == OwesCriteria })
	for _, one := range w.Stages {
		document := one.Kind == KindDocument && one.Gate == GateScore
		if document && (!ok || one.RubricName() == string(PO)) {
			st, ok = one, owes
		}
	}
	return st, ok
}

// Decision returns the event of a person's decision at the gate of s. Yes continues. No sends a
// document back to its stage and failed work to the judged stage; if the report speaks against no
// work, no asks for another report. A blocked stage runs again with the person's words after
// either.
func (w *Definition) Decision(s *Session, yes bool) Event {
	st, _ := w.Stage(s.CurrentStage)
	blocked := st.Gate == GateVerdict && s.Current().Verdict == Blocked
	switch {
	case blocked, s.CurrentState == Refining: // the words for a no
		return EventChangesRequested
	case yes && s.CurrentState == AwaitingConfirmation:
		return w.finishedIfLast(st, EventConfirmed)
	case yes && w.Scoping(s):
		return EventScopeApproved
	case yes:
		return w.finishedIfLast(st, EventApproved)
	case st.Gate == GateVerdict && s.FailedWork(st):
		return EventSentBack
	default:
		return EventChangesRequested
	}
}

// Scoping reports whether the session is at a build stage whose scope a person still has to
// approve.
func (w *Definition) Scoping(s *Session) bool {
	st, ok := w.Stage(s.CurrentStage)
	return ok && w.StartsByBuilding(st) && s.Current().ApprovedScope == nil
}

// Current returns the session's stage as it is now: a build stage without an approved scope submits
// the scope first, at a separate gate.
func (w *Definition) Current(s *Session) Stage {
	st, _ := w.Stage(s.CurrentStage)
	if w.Scoping(s) {
		st.Gate, st.DocumentName = GateApproval, "scope"
		st.Rubric = "document"
		st.Artifact, st.Verify = "", false
	}
	return st
}

// Gated reports whether a person decides at a stage, always or in some cases.
func (w *Definition) Gated(st Stage) bool { return st.Gate != GateNone || w.StartsByBuilding(st) }

// finishedIfLast returns e, or EventFinished after the last stage.
func (w *Definition) finishedIfLast(st Stage, e Event) Event {
	if _, ok := w.Next(st.ID); !ok {
		return EventFinished
	}
	return e
}

// Allowed lists the session's possible actions now: the actions of the state, except reopen if
// there is no earlier stage.
func (w *Definition) Allowed(s *Session) []Action {
	allowed := s.CurrentState.Allowed()
	if s.CurrentState != Completed && s.CurrentStage == w.First().ID {
		allowed = slices.DeleteFunc(allowed, func(a Action) bool { return a == ActionReopen })
	}
	return allowed
}
