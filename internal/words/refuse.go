package words

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// NotNow refuses an action that the session's state does not allow. takesBack is true if it
// is a no to the decision that the session has just moved by.
func NotNow(s *standing.Standing, takesBack bool) error {
	code := fault.NotAllowed
	if s.CurrentState.Gated() {
		code = fault.GatePending
	}
	e := fault.New(code, "%q is not possible while the session is at %s", s.Call.Action, s.Place()).
		WithHint("%s", NextMove(s))
	if takesBack {
		e.AddHint("; to take the decision back, reopen %s", s.Last().FromStage())
	}
	return e
}

// OtherStage refuses a call for another stage than the session's.
func OtherStage(s *standing.Standing) error {
	return fault.New(fault.WrongStage, "the session is at stage %q, not %q", s.CurrentStage, s.Call.Stage).
		WithHint("%s", NextMove(s))
}

// NotEarlier refuses to reopen a stage that the session has not passed.
func NotEarlier(s *standing.Standing) error {
	return fault.New(fault.WrongStage, "stage %q is not before the current stage %q", s.Call.Stage, s.CurrentStage).
		WithHint("reopen an earlier stage; to change the current document, %s", NextMoveOf(s.Session))
}

// NoRevision refuses a call for a revision that the session has not had.
func NoRevision(s *standing.Standing, want int) error {
	return fault.New(fault.InvalidArgument, "the session has no revision %d; it is at %d", want, s.Revision).
		WithHint("pass the revision of the reply you act on, or leave it out")
}

// Lost refuses a call that another one came before: it says who moved the session, and to
// which state. repeated is true if the call asks for the very step that was taken.
func Lost(s *workflow.Session, repeated bool) error {
	last := s.Last()
	if last.Action == "" { // an older server kept no history
		return fault.New(fault.Conflict, "another call changed the session first: it now stands at %s, revision %d", s.Place(), s.Revision).
			WithHint("call status, then decide again")
	}
	what := lang.T("%s by %s on %s took the session from %s to %s, revision %d",
		last.Action, Clip(last.By, 60), last.At.UTC().Format("2006-01-02 15:04:05 MST"), last.From, last.To, s.Revision)
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

// OtherDraft refuses a decision for another draft than the one that waits.
func OtherDraft(hash string) error {
	return fault.New(fault.Conflict, "the draft that waits is not the one this decision is for (sha256 %s)", Clip(hash, 80)).
		WithHint("call status, show the human what waits now, and let them decide")
}

// MissingDraft refuses a decision on a draft that is gone.
func MissingDraft(s *standing.Standing) error {
	return fault.New(fault.Storage, "the draft %s is missing on disk", s.Draft.Path).
		WithHint("restore the file, or ask for another round (%s with false)", s.Call.Action)
}

// NoAudit refuses a yes to a document without the audit that its gate asks for now.
func NoAudit() error {
	return fault.New(fault.GatePending, "the gate asks for an audit now, and this document has none").
		WithHint("ask for another round (confirm with confirmed false) and submit it again")
}

// BelowClaim and BelowAudit refuse a yes to a document whose score the gate no longer accepts.
func BelowClaim(score, gate float64) error {
	return refuseTightened("the claimed score is %s and the gate now asks for %s", score, gate)
}

// BelowAudit is for the score of the audit; see [BelowClaim].
func BelowAudit(score, gate float64) error {
	return refuseTightened("the audit is %s and the gate now asks for %s", score, gate)
}

func refuseTightened(format string, score, gate float64) error {
	return fault.New(fault.GatePending, format, Points(score), Points(gate)).
		WithHint("the gate was tightened since: ask for another round (confirm with confirmed false), or change the configuration and reopen the stage")
}

// NeedsWords says why a decision needs words of the person.
func NeedsWords(s *standing.Standing) lang.Text {
	switch {
	case s.Blocked():
		return lang.T("it was blocked, and goes on only with what the human did or decided")
	case s.AcceptsCritical():
		return lang.T("a critical finding is open; accepting it needs the human's reason")
	}
	return lang.T("accepting this needs the human's reason")
}

// NoWords says that words were needed and none were given.
func NoWords(why lang.Text) lang.Text { return lang.T("%s, and none was given", why) }

// WithoutWords refuses a decision that needs words of the person.
func WithoutWords(why lang.Text) error {
	return fault.New(fault.InvalidArgument, "%s", NoWords(why)).
		WithHint("ask the human, and pass their words as feedback; they are recorded")
}

// NotPersonal refuses a decision that another program brought if only a person's own act
// counts. note says why no person has seen the question.
func NotPersonal(s *standing.Standing, via workflow.Channel, note lang.Text) error {
	why := lang.T("only the human's own act counts here (policy strict), and this call is the assistant's")
	if via == workflow.ChannelScript {
		why = lang.T("only the human's own act counts here (policy strict), and this call is a script's")
	}
	return fault.New(fault.GatePending, "%s", addNote(why, note)).WithHint("%s", Ways(s))
}

// AskedByHost refuses a yes that the assistant passes on if its host asks the person: their
// answer there is worth more than the assistant's word for it.
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
	return fault.New(fault.NotAllowed, "nothing waits for a decision: the session %s stands at %s", s.TaskName, s.Place()).
		WithHint("%s", NextMoveOf(s))
}

// ChangedByOthers refuses to change a session that was changed by other hands, or that has approved
// texts that were, under a strict policy.
func ChangedByOthers(s *standing.Standing) *fault.Error {
	if !s.Integrity.Changed() {
		return fault.New(fault.Conflict, "a text is not as it was approved, and the policy is strict: %s", workflow.AlterationsText(s.Altered)).
			WithHint("the human accepts it as it is by typing, at a terminal: %s adopt %s; or has the approved text put back: %s adopt %s --restore; until then nothing goes on",
				s.Names.Program, s.TaskName, s.Names.Program, s.TaskName)
	}
	return fault.New(fault.Conflict, "the session was changed by other hands, and the policy is strict: %s", s.Integrity.Reason()).
		WithHint("the human looks at it and accepts it by typing, at a terminal: %s adopt %s; until then nothing goes on", s.Names.Program, s.TaskName)
}

// NotAdopted refuses to accept a session without a person at a terminal.
func NotAdopted(s *standing.Standing, problem lang.Text) error {
	return fault.New(fault.GatePending, "%s", problem).
		WithHint("type it in a terminal of your own: %s adopt %s", s.Names.Program, s.TaskName)
}

// NoWorkingCopy refuses a submission that names no text while there is no working copy.
func NoWorkingCopy(path string) error {
	return fault.New(fault.InvalidArgument, "submit names no document, and the working copy %s does not exist", path).
		WithHint("write the document there and submit again, or pass claude_result or codex_result, or the path of a file in the project as claude_result_path or codex_result_path")
}

// NothingChanged refuses a submission that names no document while the working copy is still that of
// the round before.
func NothingChanged(path string) error {
	return fault.New(fault.InvalidArgument, "submit names no document, and the working copy %s is still what was handed in last", path).
		WithHint("edit it there and submit again, or pass claude_result or codex_result, or the path of a file in the project as claude_result_path or codex_result_path")
}

// FromBefore refuses a document from before an earlier stage was reopened.
func FromBefore(path string) error {
	return fault.New(fault.InvalidArgument, "%s is the document from before an earlier stage was reopened", path).
		WithHint("work the change in, then submit it; if it needs none, say in the document why it still holds")
}

// NotTakenUp refuses a submission that says nothing about some of the person's change requests.
func NotTakenUp(missing []string) error {
	return fault.New(fault.InvalidArgument, "the submission does not mention %s of the human: %s",
		lang.Count(len(missing), "change request"), strings.Join(missing, ", ")).
		WithHint(`name each in "resolved" of the JSON block at the end, such as {"resolved": [{"id": "%s", "how": "…"}]}; where you do not follow one, add "status": "declined" and give the reason in "how"; nothing was changed`, missing[0])
}

// CommentsNotTaken refuses comments on a draft with an action that is not a decision on it.
func CommentsNotTaken(action string) error {
	return fault.New(fault.InvalidArgument, "%s takes no comments", action).
		WithHint("send them with a decision on the draft that waits, or with answers to its questions; nothing was changed")
}
