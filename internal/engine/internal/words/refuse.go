package words

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Lost refuses a call after another one has moved the session: it says who moved the session, and to which state.
// repeated is true if the call asks for the same step.
func Lost(s *workflow.Session, repeated bool) error {
	last := s.Last()
	if last.Action == "" { // an older server kept no history
		return fault.New(fault.Conflict, "another call changed the run first: it now stands at %s, revision %d", s.Place(), s.Revision).
			WithHint("call status, then decide again")
	}
	what := lang.T("%s by %s on %s took the run from %s to %s, revision %d",
		last.Action, visible.Fit(last.Actor(), 100), last.At.UTC().Format("2006-01-02 15:04:05 MST"), last.From, last.To, s.Revision)
	switch {
	case repeated:
		return fault.New(fault.Conflict, "this step was taken already: %s", what).WithHint("go on from there: %s", NextMoveOf(s))
	case s.CurrentState.Gated():
		return fault.New(fault.Conflict, "another call came first: %s", what).
			WithHint("call status, show the human what waits now, and let them decide")
	}
	return fault.New(fault.Conflict, "another call came first: %s", what).
		WithHint("call status, then decide again; the next step: %s", NextMoveOf(s))
}

// NoWords says that words were needed and none were given.
func NoWords(why lang.Text) lang.Text { return lang.T("%s, and none was given", why) }

// NotPersonal refuses a decision that another program brought if only a person's own act
// counts. note says why no person has seen the question.
func NotPersonal(s *standing.Standing, via workflow.Channel, note lang.Text) error {
	why := lang.T("only the human's own act counts here (policy strict), and this call is the assistant's")
	if via == workflow.ChannelScript {
		why = lang.T("only the human's own act counts here (policy strict), and this call is a script's")
	}
	return fault.New(fault.GatePending, "%s", addNote(why, note)).WithHint("%s", Ways(s))
}

// AskedByHost refuses a relayed yes if the host asks the person: their answer there is worth more than the
// assistant's word for it.
func AskedByHost(s *standing.Standing, note lang.Text) *fault.Error {
	why := lang.T("this host asks the human about each call of %s, so the assistant's word for a yes does not count here", s.Names.Confirm)
	return fault.New(fault.GatePending, "%s", addNote(why, note)).
		WithHint("call %s with the same decision, the stage and the sha256 of the draft; or %s", s.Names.Confirm, Ways(s))
}

func addNote(why, note lang.Text) lang.Text {
	if note.Empty() {
		return why
	}
	return lang.T("%s; %s", why, note)
}

// ApproveNeeds refuses an approve that states no decision.
func ApproveNeeds() error {
	return fault.New(fault.InvalidArgument, "approve needs approved: true or false").
		WithHint("ask the human; true goes on, false sends it back with their feedback")
}

// NothingWaits refuses a decision on a session that waits for none.
func NothingWaits(s *workflow.Session) error {
	return fault.New(fault.NotAllowed, "nothing waits for a decision: the run %s stands at %s", s.TaskName, s.Place()).
		WithHint("%s", NextMoveOf(s))
}

// NothingWaitsAtWorkers is NothingWaits for a run that the workers of a team have.
func NothingWaitsAtWorkers(s *workflow.Session) error {
	return fault.New(fault.NotAllowed, "nothing waits for a decision: the run %s stands at %s", s.TaskName, s.Place()).
		WithHint("a worker of the team has it: bmad-mcp queue show %s", s.TaskName)
}

// CommentsNotTaken refuses comments on a draft with an action that is not a decision on it.
func CommentsNotTaken(action string) error {
	return fault.New(fault.InvalidArgument, "%s takes no comments", action).
		WithHint("send them with a decision on the draft that waits, or with answers to its questions; nothing was changed")
}
