package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// lost is the error of a call that another one came before: it says by whom the
// session was moved, and where it stands now.
func (r run) lost(ctx context.Context, s *workflow.Session) error {
	// Once told that a step was taken, the caller must not lose it again with the power.
	_ = r.project.Backend.Confirm(ctx, s.SessionID)
	last := s.Last()
	if last.Action == "" { // an older server kept no history
		return fault.New(fault.Conflict, "another call changed the session first: it now stands at %s, revision %d", s.Place(), s.Revision).
			WithHint("call status, then decide again")
	}
	what := fmt.Sprintf("%s by %s on %s took the session from %s to %s, revision %d",
		last.Action, clip(last.By, 60), last.At.UTC().Format("2006-01-02 at 15:04:05 MST"), last.From, last.To, s.Revision)
	switch {
	case r.repeats(s, last):
		return fault.New(fault.Conflict, "this step was taken already: %s", what).WithHint("go on from there: %s", nextMove(s))
	case s.CurrentState.Gated():
		return fault.New(fault.Conflict, "another call came first: %s", what).
			WithHint("call status, show the human what waits now, and let them decide")
	}
	return fault.New(fault.Conflict, "another call came first: %s", what).
		WithHint("call status, then decide again; what is due now: %s", nextMove(s))
}

// decides reports whether the call is a decision at a gate.
func (r run) decides() bool {
	return r.req.Action == workflow.ActionConfirm || r.req.Action == workflow.ActionApprove
}

// refuses reports whether the decision is a no.
func (r run) refuses() bool {
	given := r.req.Confirmed
	if r.req.Action == workflow.ActionApprove {
		given = r.req.Approved
	}
	return given != nil && !*given
}

// takesBack reports whether a no comes after the yes that took the session where it stands.
func (r run) takesBack(s *workflow.Session) bool {
	last := s.Last()
	return r.refuses() && last.Action == r.req.Action && last.Event != workflow.EventChangesRequested && last.Event != workflow.EventSentBack
}

// showedOther reports whether the last document of the session that this program has
// shown to its callers is of another revision than the one that stands.
func (r run) showedOther(s *workflow.Session) bool {
	shown, ok := r.memory.shown.Load(r.key(s.SessionID))
	return ok && shown != s.Revision
}

// key tells sessions apart in the memory, and callers: a copy of a project has the same
// ids, and what one caller was shown another has not seen.
func (r run) key(sessionID string) string {
	return r.project.Dir.Path() + "\x00" + sessionID + "\x00" + r.req.Client
}

// late reports whether a call that does not fit where the session stands would
// have fitted before another call moved it. That is so if the session moved
// while this call was under way, or moved without this program having told its
// callers; and if its last move was this very step: then the caller has lost
// a race, or repeats a call whose answer it never saw.
func (r run) late(s *workflow.Session) bool {
	last := s.Last()
	return !r.knew(s) && !last.At.Before(r.born) || r.repeats(s, last)
}

// repeats reports whether a call asks for the step that a session took last.
func (r run) repeats(s *workflow.Session, last workflow.Transition) bool {
	stage := last.FromStage()
	if last.Action == workflow.ActionReopen { // its stage is where it went
		stage = last.ToStage()
	}
	if last.Action != r.req.Action || r.req.Stage != "" && r.req.Stage != string(stage) {
		return false
	}
	switch r.req.Action {
	case workflow.ActionConfirm, workflow.ActionApprove:
		return r.refuses() == (last.Event == workflow.EventChangesRequested || last.Event == workflow.EventSentBack)
	case workflow.ActionSubmit:
		// A second document while the first waits is for the gate to refuse.
		return stage != s.CurrentStage || !s.CurrentState.Active()
	}
	return true
}

// memory is which revision of each session this program has told its callers of, and
// when, by a count of calls and answers: clocks can be set back. To be told where a
// session stands, as by a refusal or a list, is less than to be shown it.
type memory struct {
	count atomic.Int64
	told  sync.Map // key of the session → told
	shown sync.Map // key of the session → revision
}

type told struct {
	revision int
	at       int64
}

func (m *memory) tell(key string, revision int) { m.told.Store(key, told{revision, m.count.Add(1)}) }

// show notes what a reply shows. Replies can overtake each other; the newest counts.
func (m *memory) show(key string, revision int) {
	m.tell(key, revision)
	for {
		before, loaded := m.shown.LoadOrStore(key, revision)
		if !loaded || before.(int) >= revision || m.shown.CompareAndSwap(key, before, revision) {
			return
		}
	}
}

// knew reports whether the caller could know where the session stands: this program
// had told of it before the call came in.
func (r run) knew(s *workflow.Session) bool {
	last, _ := r.memory.told.Load(r.key(s.SessionID))
	t, ok := last.(told)
	return ok && t.revision == s.Revision && t.at < r.call
}
