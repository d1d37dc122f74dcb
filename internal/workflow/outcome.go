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
}

// Outcome returns the event that a submission leads to. first is true for the
// first submission of the stage: its questions are put to the human whatever the
// score, because an early high score is cheap and an answer is not.
func (w *Workflow) Outcome(st Stage, first bool, r Reading) Event {
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

// Decision returns the event of a human's decision at a gate: yes goes on; no
// sends a document back to its stage, and failed work back to dev. A stage that was
// blocked goes on with what the human says, whichever it is.
func (w *Workflow) Decision(st Stage, state State, verdict Verdict, yes bool) Event {
	switch {
	case st.Gate == GateVerdict && verdict == Blocked:
		return EventChangesRequested
	case yes && state == AwaitingConfirmation:
		return w.onward(st, EventConfirmed)
	case yes:
		return w.onward(st, EventApproved)
	case st.Gate == GateVerdict:
		return EventSentBack
	default:
		return EventChangesRequested
	}
}

// onward returns e, or EventFinished where no stage follows.
func (w *Workflow) onward(st Stage, e Event) Event {
	if _, ok := w.Next(st.ID); !ok {
		return EventFinished
	}
	return e
}
