package standing

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Route is the way in which the person decides when a session waits for them.
type Route int

// The routes to the person.
const (
	ByWord      Route = iota // the assistant asks them, and passes it on
	ByForm                   // their host shows them a form
	ByFormAgain              // it has, and they did not decide: when they want, it does again
	ByHost                   // their host asks them about a call of Names.Confirm
	ByOwnAct                 // only at a terminal
)

// Route returns the caller's best route accepted by the policy.
func (s *Standing) Route() Route {
	gated := s.Session.CurrentState.Gated() // questions are put in the same call
	form := s.Call.Asks && s.Call.Forms && gated
	shown := form && !s.Call.NoForms
	relayed := s.Policy.Gate == workflow.GateRelay
	asked := s.Call.Asks && !s.Call.NoForms
	switch {
	case gated && s.Draft.Edit != nil && (relayed || !shown):
		return ByOwnAct // nobody else knows which text they have read
	case relayed:
		return ByWord
	case form && s.Call.Withheld:
		return ByFormAgain
	case shown:
		return ByForm
	case s.Call.HostConfirm && gated:
		return ByHost
	case s.Policy.Gate == workflow.GateStrict && !asked:
		return ByOwnAct
	}
	return ByWord
}

// Handle names the session in the next call. The task name costs a model less than the id; but a person's word is
// for one session, even if another one has the same name by then.
func (s *Standing) Handle() string {
	if s.Named {
		return s.Session.TaskName
	}
	return s.Session.SessionID
}

// Met reports whether the session asks about a document at its gate: the person can then confirm it as well as
// answer.
func (s *Standing) Met() bool { return s.Session.GateMet() && s.Session.Current().Met(s.Policy) }

// BelowFloor reports whether the audit of the waiting document is below the floor of the gate.
func (s *Standing) BelowFloor() bool {
	waits := s.Session.CurrentState.Gated() || s.Met()
	a, floor := s.Session.Current().Audit, s.Policy.AuditFloor
	return waits && a != nil && floor != nil && a.Score < *floor
}

// AtGate returns the facts as they are if the person takes such a document without answering.
func (s *Standing) AtGate() *Standing {
	if !s.Met() {
		return s
	}
	now, session := *s, *s.Session
	session.CurrentState = workflow.AwaitingConfirmation
	now.Session = &session
	return &now
}

// Overrides reports whether a yes lets work go on against the gate.
func (s *Standing) Overrides() bool {
	return s.Session.CurrentState == workflow.AwaitingApproval && s.Stage.Gate != workflow.GateApproval && !s.Blocked()
}

// Blocked reports whether a stage waits for an act or a decision of the person.
func (s *Standing) Blocked() bool {
	return s.Session.CurrentState == workflow.AwaitingApproval && s.Stage.Gate == workflow.GateVerdict && s.Session.Current().Verdict == workflow.Blocked
}

// NeedsReason reports whether an override needs the person's reason: if the ordinary rounds have
// not led there, or if it accepts a critical finding.
func (s *Standing) NeedsReason() bool { return s.RoundsSpent() || s.AcceptsCritical() }

// RoundsSpent reports whether the person is asked because the ordinary rounds have not led there.
func (s *Standing) RoundsSpent() bool {
	return s.Overrides() && (s.Stage.Gate == workflow.GateScore || s.ReworkSpent() || s.Session.Current().Spent())
}

// AcceptsCritical reports whether a yes would let work go on with a critical finding open.
func (s *Standing) AcceptsCritical() bool {
	return s.Overrides() && slices.ContainsFunc(workflow.OpenFindings(s.Session.Current().Findings), func(f workflow.Finding) bool { return f.Severity == "critical" })
}

// ReworkSpent reports whether the work has come back as often as it may without the person
// saying why once more.
func (s *Standing) ReworkSpent() bool {
	return s.Stage.Gate == workflow.GateVerdict && s.Session.ReworkCount >= s.MaxRework
}

// RoundsBelow counts the current stage's submissions since the person last decided on it.
func (s *Standing) RoundsBelow() int {
	n := 0
	for _, e := range slices.Backward(s.Session.History) {
		switch {
		case e.Event == workflow.EventScoredBelow, e.Event == workflow.EventExhausted, e.Event == workflow.EventQuestioned:
			n++
		case e.Event == workflow.EventPolicyChanged, e.Event == workflow.EventGranted, e.Event == workflow.EventAnswered,
			e.Event == workflow.EventSkipped, e.Action == workflow.ActionSubmit:
		default:
			return n
		}
	}
	return n
}

// Unusable reports whether the draft at a gate differs from the document handed in, and cannot be taken as it is.
func (s *Standing) Unusable() bool {
	if !s.Session.CurrentState.Gated() || s.Blocked() {
		return false
	}
	return s.Draft.Missing || s.Draft.Edited && s.Draft.Edit == nil
}
