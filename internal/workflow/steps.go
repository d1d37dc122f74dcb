package workflow

import (
	"slices"
	"time"
)

// Step is one entry of a session's history.
type Step struct {
	Transition
	// Waited is the time for which the session had waited for the human; nil if it had not.
	Waited *time.Duration
	// Unvouched is true for a decision in an entry that nothing vouches for.
	Unvouched bool
}

// Unsigned returns the step without the signatures and hashes of parts, which a model has no use
// for.
func (s Step) Unsigned() Step {
	s.Signature, s.Parts = "", nil
	if s.Grant != nil {
		g := *s.Grant
		g.Signature = ""
		s.Grant = &g
	}
	return s
}

// MarshalJSON writes the entry as the session file has it, whether nothing vouches for the
// decision, and the seconds that the session had waited for the human before it.
func (s Step) MarshalJSON() ([]byte, error) {
	data, err := Marshal(s.Transition)
	if err != nil {
		return data, err
	}
	if s.Unvouched {
		data = append(data[:len(data)-1], `,"unvouched":true}`...)
	}
	if s.Waited == nil {
		return data, nil
	}
	seconds, err := Marshal(s.Waited.Seconds())
	return append(append(append(data[:len(data)-1], `,"waited_seconds":`...), seconds...), '}'), err
}

// Steps returns the events of a session, the oldest first. v is the result of the session's check.
func (s *Session) Steps(v Verification) []Step {
	steps := make([]Step, len(s.History))
	var moved *time.Time // last, before the entry
	for i, e := range s.History {
		steps[i].Transition = e
		steps[i].Unvouched = e.Grant != nil && !v.Vouches(i+1)
		if !isMove(e) {
			continue
		}
		if answers := []Action{ActionAnswer, ActionConfirm, ActionApprove}; moved != nil && slices.Contains(answers, e.Action) {
			// A clock set back shows no wait rather than a negative one.
			steps[i].Waited = new(max(e.At.Sub(*moved), 0))
		}
		moved = &steps[i].At
	}
	return steps
}

// isMove reports whether an entry is more than a note.
func isMove(e Transition) bool {
	return e.Event != EventPolicyChanged && e.Event != EventAdopted && e.Event != EventEdited && e.Event != EventGranted
}
