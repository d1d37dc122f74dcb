package workflow

// Reading is what a submission amounts to for the rules.
type Reading struct {
	// Claimed is the score the submission states of itself; nil when it states none.
	Claimed *float64
	// Audited is the score of the audit; nil where the policy does not ask for it.
	Audited *float64
	// Exhausted is true when one more round below the gate is for the human to grant.
	Exhausted bool
	// Questions is true when the submission asks the human something.
	Questions bool
	Verdict   Verdict
	// Doubted is true where something speaks against the pass that is stated.
	Doubted bool
	// Scoping is true for the scope that a workflow which starts by building asks for first.
	Scoping bool
}

// Outcome returns the event that a submission leads to. first is true for the
// first submission of the stage: its questions are put to the human whatever the
// score, because an early high score is cheap and an answer is not.
func (w *Definition) Outcome(st Stage, first bool, r Reading) Event {
	if r.Scoping {
		if r.Questions {
			return EventQuestioned
		}
		return EventScoped
	}
	switch st.Gate {
	case GateScore:
		ready := r.Claimed != nil && *r.Claimed >= st.GateScore && (r.Audited == nil || *r.Audited >= st.GateScore)
		switch {
		case r.Questions && (first || !ready):
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
	case GateVerdict:
		if r.Verdict == Blocked {
			return EventBlocked
		}
		// Only a stated pass goes on by itself, and only where nothing speaks against it.
		if !r.Verdict.Passes() {
			return EventFailed
		}
		if r.Doubted {
			return EventDoubted
		}
	}
	return w.onward(st, EventDelivered)
}

// Decision returns the event of a human's decision at the gate where s waits: yes goes on; no
// sends a document back to its stage, and failed work to the stage that it judges. A stage
// that was blocked goes on with what the human says, whichever it is.
func (w *Definition) Decision(s *Session, yes bool) Event {
	st, _ := w.Stage(s.CurrentStage)
	blocked := st.Gate == GateVerdict && s.Current().Verdict == Blocked
	switch {
	case blocked:
		return EventChangesRequested
	case yes && s.CurrentState == AwaitingConfirmation:
		return w.onward(st, EventConfirmed)
	case yes && w.Scoping(s):
		return EventScopeApproved
	case yes:
		return w.onward(st, EventApproved)
	case st.Gate == GateVerdict:
		return EventSentBack
	default:
		return EventChangesRequested
	}
}

// Scoping reports whether the session is at a stage that builds, and whose scope a person
// still has to approve.
func (w *Definition) Scoping(s *Session) bool {
	st, ok := w.Stage(s.CurrentStage)
	return ok && w.StartsByBuilding(st) && s.Current().ApprovedScope == nil
}

// Current returns the stage where a session is, as it is now: a build whose scope a person still
// has to approve hands in that scope, at a gate of its own.
func (w *Definition) Current(s *Session) Stage {
	st, _ := w.Stage(s.CurrentStage)
	if w.Scoping(s) {
		st.Gate, st.DocumentName, st.Artifact, st.Rubric, st.Verify = GateApproval, "scope", "", "document", false
	}
	return st
}

// Gated reports whether a person decides at a stage, always or in some cases.
func (w *Definition) Gated(st Stage) bool { return st.Gate != GateNone || w.StartsByBuilding(st) }

// onward returns e, or EventFinished where no stage follows.
func (w *Definition) onward(st Stage, e Event) Event {
	if _, ok := w.Next(st.ID); !ok {
		return EventFinished
	}
	return e
}
