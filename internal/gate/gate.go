package gate

import (
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Word is a decision as the call itself states it.
type Word struct {
	Via workflow.Channel
	// Given is true if the call states a decision, and No if it is a no.
	Given, No bool
	// Draft is the hash of the draft that the decision is for; empty takes any.
	Draft string
}

// Decision returns the decision that the word is for.
func (w Word) Decision() workflow.Decision {
	if w.No {
		return workflow.DecisionChanges
	}
	return workflow.DecisionApprove
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// Decidable refuses a decision on a draft that is not the one that was scored, before anyone is
// asked about it. A person who is asked sees the edits, and can take them.
func Decidable(s *standing.Standing, w Word) error {
	want, waits := strings.ToLower(w.Draft), Bind(s).SHA256
	if want != "" && want != waits && (!w.No || want != s.Draft.SHA256) {
		return fault.New(fault.Conflict, "the draft that waits is not the one this decision is for (sha256 %s)", words.Clip(want, 80)).
			WithHint("call status, show the human what waits now, and let them decide")
	}
	switch {
	case w.No, s.Blocked(): // nothing is saved
		return nil
	case s.Draft.Edited && (s.Draft.Edit == nil || !Asks(s, w)):
		return words.EditedDraft(s)
	case s.Draft.Missing:
		return fault.New(fault.Storage, "the draft %s is missing on disk", s.Draft.Path).
			WithHint("restore the file, or ask for another round (%s with false)", s.Call.Action)
	}
	return Opens(s)
}

// Opens refuses a yes at a score gate that asks for more than when the session came to it.
func Opens(s *standing.Standing) error {
	rec, p := s.Current(), s.Policy
	if s.CurrentState != workflow.AwaitingConfirmation || p.GateScore == nil {
		return nil
	}
	audited, gate := p.Scoring == workflow.ScoringAudited, words.Points(*p.GateScore)
	var below lang.Text
	switch {
	case audited && rec.Audit == nil:
		return fault.New(fault.GatePending, "the gate asks for an audit now, and this document has none").
			WithHint("ask for another round (confirm with confirmed false) and submit it again")
	case rec.Score != nil && *rec.Score < *p.GateScore:
		below = lang.T("the claimed score is %s and the gate now asks for %s", words.Points(*rec.Score), gate)
	case audited && rec.Audit.Score < *p.GateScore:
		below = lang.T("the audit is %s and the gate now asks for %s", words.Points(rec.Audit.Score), gate)
	default:
		return nil
	}
	return fault.New(fault.GatePending, "%s", below).
		WithHint("the gate was tightened since: ask for another round (confirm with confirmed false), or change the configuration and reopen the stage")
}

// Asks reports whether the question goes to the person, if the call can reach them.
func Asks(s *standing.Standing, w Word) bool {
	switch {
	case !s.Call.Asks:
		return false
	case w.Via == "", s.Policy.Gate == workflow.GateStrict:
		return true
	}
	// A no that the assistant passes on opens nothing, so the person is asked about a yes;
	// but if a no is the decision to go on, about that too.
	return s.Policy.Gate == workflow.GateAuto && (!w.No || s.RoundsSpent() || s.Blocked())
}

// OwnWord refuses a decision that the call itself states if its word does not count. note
// says why no person has seen the question.
func OwnWord(s *standing.Standing, w Word, note lang.Text) error {
	switch {
	case s.Draft.Edited && !w.No && !s.Blocked():
		return words.EditedDraft(s)
	case s.Policy.Gate == workflow.GateStrict && !w.Via.Personal():
		return words.NotPersonal(s, w.Via, note)
	case s.Policy.Gate == workflow.GateAuto && s.Call.HostConfirm && w.Via == workflow.ChannelRelayed && !w.No:
		e := words.AskedByHost(s, note)
		e.NextCall = ConfirmCall(s)
		return e
	case s.Call.Action == workflow.ActionApprove && !w.Given:
		return words.ApproveNeeds()
	}
	return nil
}

// NeedsWords says why a decision needs words of the person and has none; empty if it does not.
// Comments ask for changes, but do not say why a risk is accepted.
func NeedsWords(s *standing.Standing, d workflow.Decision, given string, comments []workflow.Comment) lang.Text {
	switch {
	case !blank(given), s.Blocked() && len(comments) > 0:
		return lang.Text{}
	case !s.Blocked() && (d == workflow.DecisionChanges || !s.NeedsReason()):
		return lang.Text{}
	case s.Blocked():
		return lang.T("it was blocked, and goes on only with what the human did or decided")
	case s.AcceptsCritical():
		return lang.T("a critical finding is open; accepting it needs the human's reason")
	}
	return lang.T("accepting this needs the human's reason")
}

// Granted returns the record of a decision at a gate, if the gate accepts it.
func Granted(s *standing.Standing, g workflow.Grant) (workflow.Grant, error) {
	if why := NeedsWords(s, g.Decision, g.Feedback, g.Comments); !why.Empty() {
		return g, fault.New(fault.InvalidArgument, "%s", words.NoWords(why)).
			WithHint("ask the human, and pass their words as feedback; they are recorded")
	}
	if g.Decision == workflow.DecisionChanges {
		return g, nil
	}
	if s.Overrides() {
		g.Decision = workflow.DecisionOverride
	}
	return g, Opens(s)
}

// LeavingPolicy returns the policy for cancelling and reopening: the strictest of the stages that
// the session has come to, since the decision there is undone.
func LeavingPolicy(s *standing.Standing) workflow.GateMode {
	for _, st := range s.Workflow.Stages[:s.Workflow.Index(s.CurrentStage)] {
		if st.Policy().Gate == workflow.GateStrict && s.Workflow.Gated(st) {
			return workflow.GateStrict
		}
	}
	return s.Policy.Gate
}

// Exhausted reports whether the submission that is being taken is the last one before the
// person is asked whether the stage goes on.
func Exhausted(s *standing.Standing) bool { return s.RoundsBelow()+1 >= s.MaxIterations }
