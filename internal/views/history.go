package views

import (
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Step is one entry of a session's history.
type Step struct {
	workflow.Transition
	// Waited is how long the session had waited for the human; nil where it had not.
	Waited *time.Duration
	// Unvouched is true for a decision in an entry that nothing vouches for.
	Unvouched bool
}

// MarshalJSON writes the entry as the session file has it, whether nothing vouches for its
// decision, and the seconds that the session had waited for the human before it.
func (s Step) MarshalJSON() ([]byte, error) {
	data, err := workflow.Marshal(s.Transition)
	if err != nil {
		return data, err
	}
	if s.Unvouched {
		data = append(data[:len(data)-1], `,"unvouched":true}`...)
	}
	if s.Waited == nil {
		return data, nil
	}
	seconds, err := workflow.Marshal(s.Waited.Seconds())
	return append(append(append(data[:len(data)-1], `,"waited_seconds":`...), seconds...), '}'), err
}

// History returns what happened to a session, the oldest first. v is what was found of it.
func History(s *workflow.Session, v workflow.Verification) []Step {
	steps := make([]Step, len(s.History))
	for i, e := range s.History {
		steps[i].Transition = e
		steps[i].Unvouched = e.Grant != nil && !v.Vouches(i+1)
		if from := before(s.History, i); from >= 0 && decision(e) {
			// A clock that was set back shows no wait rather than a negative one.
			waited := max(e.At.Sub(s.History[from].At), 0)
			steps[i].Waited = &waited
		}
	}
	return steps
}

// before returns the index of the move before an entry; -1 if there is none.
func before(history []workflow.Transition, i int) int {
	for i--; i >= 0 && !moves(history[i]); i-- {
	}
	return i
}

// moves reports whether an entry is more than a note.
func moves(e workflow.Transition) bool {
	return e.Event != workflow.EventPolicyChanged && e.Event != workflow.EventAdopted && e.Event != workflow.EventEdited
}

// decision reports whether a transition was the human's answer to a session that waited.
func decision(e workflow.Transition) bool {
	return moves(e) && slices.Contains([]workflow.Action{workflow.ActionAnswer, workflow.ActionConfirm, workflow.ActionApprove}, e.Action)
}

// historyJSON returns a session's history as JSON, the oldest entry first. Where room is
// not 0, entries of at most that many bytes: the newest, and how many are left out.
func historyJSON(s *workflow.Session, v workflow.Verification, room int) (string, error) {
	steps, omitted := History(s, v), 0
	for used, i := 0, len(steps)-1; i >= 0 && room > 0; i-- {
		data, err := workflow.Marshal(steps[i])
		if err != nil {
			return "", err
		}
		if used += len(data) + 1; used > room {
			steps, omitted = steps[i+1:], i+1
			break
		}
	}
	out := map[string]any{"session_id": s.SessionID, "task_name": s.TaskName, "current_stage": s.CurrentStage, "current_state": s.CurrentState, "entries": steps}
	if omitted > 0 {
		out["omitted"] = omitted
	}
	if v.Changed() {
		out["integrity"], out["problem"] = reply.IntegrityChanged, v.Problem
	}
	if room == 0 {
		data, err := workflow.MarshalIndent(out)
		return string(data), err
	}
	data, err := workflow.Marshal(out)
	return string(data) + "\n", err
}
