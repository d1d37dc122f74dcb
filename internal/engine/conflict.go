package engine

import (
	"strings"

	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/workflow"
)

// lost is the error of a call that another one came before: it says by whom the
// session was moved, and where it stands now.
func (r run) lost(s *workflow.Session) error {
	last := s.Last()
	if last.Action == "" { // an older server kept no history
		return fault.New(fault.Conflict, "another call changed the session first: it now stands at %s, revision %d", s.Place(), s.Revision).
			WithHint("call status, then decide again")
	}
	return fault.New(fault.Conflict, "another call came first: %s by %s at %s took the session from %s to %s, revision %d",
		last.Action, clip(last.By, 60), last.At.UTC().Format("15:04:05 MST"), last.From, last.To, s.Revision).
		WithHint("if that was this same step, go on: %s; else call status and decide again", nextMove(s))
}

// late reports whether a call that does not fit where the session stands would
// have fitted before another call moved it. That is so if the session moved
// while this call was under way, or moved without this program having told its
// callers; and if its last move was this very step: then the caller has lost
// a race, or repeats a call whose answer it never saw.
func (r run) late(s *workflow.Session) bool {
	last, known := s.Last(), r.began
	if told, _ := r.told.Load(s.SessionID); told != s.Revision {
		known = r.born
	}
	if !last.At.Before(known) {
		return true
	}
	from, _, _ := strings.Cut(last.From, "/")
	if last.Action == workflow.ActionReopen { // its stage is where it went
		from, _, _ = strings.Cut(last.To, "/")
	}
	if last.Action != r.req.Action || r.req.Stage != "" && r.req.Stage != from {
		return false
	}
	// A second document while the first waits is for the gate to refuse.
	return r.req.Action != workflow.ActionSubmit || from != string(s.CurrentStage) || !s.CurrentState.Active()
}
