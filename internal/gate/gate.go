package gate

import (
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
		return words.OtherDraft(want)
	}
	switch {
	case w.No, s.Blocked(): // nothing is saved
		return nil
	case s.Draft.Edited && (s.Draft.Edit == nil || !Asks(s, w)):
		return words.EditedDraft(s)
	case s.Draft.Missing:
		return words.MissingDraft(s)
	}
	return Opens(s)
}

// Opens refuses a yes at a score gate that asks for more than when the session came to it.
func Opens(s *standing.Standing) error {
	rec, p := s.Current(), s.Policy
	if s.CurrentState != workflow.AwaitingConfirmation || p.GateScore == nil {
		return nil
	}
	audited := p.Scoring == workflow.ScoringAudited
	switch {
	case audited && rec.Audit == nil:
		return words.NoAudit()
	case rec.Score != nil && *rec.Score < *p.GateScore:
		return words.BelowClaim(*rec.Score, *p.GateScore)
	case audited && rec.Audit.Score < *p.GateScore:
		return words.BelowAudit(rec.Audit.Score, *p.GateScore)
	}
	return nil
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
	}
	return words.NeedsWords(s)
}

// Granted returns the record of a decision at a gate, if the gate accepts it.
func Granted(s *standing.Standing, g workflow.Grant) (workflow.Grant, error) {
	if why := NeedsWords(s, g.Decision, g.Feedback, g.Comments); !why.Empty() {
		return g, words.WithoutWords(why)
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
