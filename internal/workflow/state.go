package workflow

// State is the state of the current stage.
type State string

// The states. The last two end a session.
const (
	Generating           State = "generating"
	Clarifying           State = "clarifying"
	Refining             State = "refining"
	AwaitingConfirmation State = "awaiting_confirmation"
	AwaitingApproval     State = "awaiting_approval"
	Completed            State = "completed"
	Cancelled            State = "cancelled"
)

// States lists every state, in the order in which a stage goes through them.
func States() []State {
	return []State{Generating, Clarifying, Refining, AwaitingConfirmation, AwaitingApproval, Completed, Cancelled}
}

// Active reports whether a session in this state still has work or a decision ahead.
func (s State) Active() bool { return s != Completed && s != Cancelled }

// Gated reports whether the state waits for a person's decision.
func (s State) Gated() bool { return s == AwaitingConfirmation || s == AwaitingApproval }

// WaitsForHuman reports whether a session in this state needs a person to continue: a decision,
// or answers.
func (s State) WaitsForHuman() bool { return s.Gated() || s == Clarifying }

// GateAction returns the action that moves a session from a state in which it waits for the person; "" for the
// other states.
func (s State) GateAction() Action {
	switch s {
	case AwaitingConfirmation:
		return ActionConfirm
	case AwaitingApproval:
		return ActionApprove
	case Clarifying:
		return ActionAnswer
	}
	return ""
}

// Action is a caller's request.
type Action string

// The actions of the tool.
const (
	ActionStart   Action = "start"
	ActionSubmit  Action = "submit"
	ActionAnswer  Action = "answer"
	ActionConfirm Action = "confirm"
	ActionApprove Action = "approve"
	ActionStatus  Action = "status"
	ActionResume  Action = "resume"
	ActionReopen  Action = "reopen"
	ActionCancel  Action = "cancel"
)

// ActionAdopt accepts a session changed outside this program. It is not an action of the tool: only
// a person at a terminal can take it.
const ActionAdopt Action = "adopt"

// Actions lists every action.
func Actions() []Action {
	return []Action{
		ActionStart, ActionSubmit, ActionAnswer, ActionConfirm, ActionApprove,
		ActionStatus, ActionResume, ActionReopen, ActionCancel,
	}
}

// Allowed lists the actions that a session in state s accepts, the most useful first. start is not
// among them: it creates a session.
func (s State) Allowed() []Action {
	switch s {
	case Generating, Refining:
		return []Action{ActionSubmit, ActionStatus, ActionResume, ActionReopen, ActionCancel}
	case Clarifying:
		return []Action{ActionAnswer, ActionStatus, ActionResume, ActionReopen, ActionCancel}
	case AwaitingConfirmation:
		return []Action{ActionConfirm, ActionStatus, ActionResume, ActionReopen, ActionCancel}
	case AwaitingApproval:
		return []Action{ActionApprove, ActionStatus, ActionResume, ActionReopen, ActionCancel}
	case Completed:
		return []Action{ActionStatus, ActionReopen}
	case Cancelled:
		return []Action{ActionStatus}
	}
	return []Action{ActionStatus}
}

// Event is the outcome of an action, fired on the state machine.
type Event string

// The events. EventStarted creates a session, EventPolicyChanged, EventAdopted, EventEdited and EventGranted leave
// the state unchanged: they are not in the table. EventGranted is a yes at a gate that wants several people's;
// EventEdited makes a round of a document that was edited at the gate, ahead of the person's decision.
const (
	EventStarted          Event = "started"
	EventPolicyChanged    Event = "policy_changed"
	EventAdopted          Event = "adopted"
	EventEdited           Event = "edited"
	EventGranted          Event = "granted"
	EventQuestioned       Event = "questioned"
	EventScoredBelow      Event = "scored_below"
	EventScoredReady      Event = "scored_ready"
	EventPlanned          Event = "planned"
	EventScoped           Event = "scoped"
	EventDelivered        Event = "delivered"
	EventFailed           Event = "failed"
	EventDoubted          Event = "doubted"
	EventReturned         Event = "returned"
	EventBlocked          Event = "blocked"
	EventExhausted        Event = "exhausted"
	EventAnswered         Event = "answered"
	EventSkipped          Event = "skipped"
	EventConfirmed        Event = "confirmed"
	EventApproved         Event = "approved"
	EventScopeApproved    Event = "scope_approved"
	EventChangesRequested Event = "changes_requested"
	EventSentBack         Event = "sent_back"
	EventFinished         Event = "finished"
	EventReopened         Event = "reopened"
	EventCancelled        Event = "cancelled"
)
