package gate

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Word is a decision as the call itself states it.
type Word struct {
	Via workflow.Channel
	// Given is true if the call states a decision, and No if it is a no.
	Given, No bool
	// Draft is the hash of the draft to decide on; empty takes any.
	Draft string
}

// Decision returns the decision expressed by the word.
func (w Word) Decision() workflow.Decision {
	if w.No {
		return workflow.DecisionChanges
	}
	return workflow.DecisionApprove
}

func isBlank(text string) bool { return visible.Trim(text) == "" }

// Decidable refuses a decision on a draft other than the scored one, before anyone is asked about it. A person in
// a form sees the edits, and can take them.
func Decidable(s *standing.Standing, w Word) error {
	want, waits := strings.ToLower(w.Draft), Bind(s).SHA256
	isOther := want != "" && want != waits
	rejectsSubmitted := w.No && want == s.Draft.SHA256
	if isOther && !rejectsSubmitted {
		return fault.New(fault.Conflict, "the draft that waits is not the one this decision is for (sha256 %s)", visible.Fit(want, 80)).
			WithHint("call status, show the human what waits now, and let them decide")
	}
	if barred := words.Barred(s); barred != nil && w.Given && !w.No { // before anyone is asked
		return barred
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

// Opens refuses a yes at a score gate if the gate asks for more than when the session came to it.
func Opens(s *standing.Standing) error {
	rec, p := s.Session.Current(), s.Policy
	if s.Session.CurrentState != workflow.AwaitingConfirmation || p.GateScore == nil {
		return nil
	}
	audited, gate := p.Scoring == workflow.ScoringAudited, words.Points(*p.GateScore)
	var below lang.Text
	switch {
	case audited && rec.Audit == nil:
		return fault.New(fault.GatePending, "the gate asks for an audit now, and this document has none").
			WithHint("ask for another round (confirm with confirmed false) and submit it again")
	case rec.Score != nil && *rec.Score < *p.GateScore:
		below = lang.T("the stated score is %s and the gate now needs %s", words.Points(*rec.Score), gate)
	case audited && rec.Audit.Score < *p.GateScore:
		below = lang.T("our check gives form %s, and the gate now needs %s", words.Points(rec.Audit.Score), gate)
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
	// A relayed no opens nothing, so the person is asked only about a yes; but if a no is the decision to go on,
	// about it too.
	return s.Policy.Gate == workflow.GateAuto && (!w.No || s.RoundsSpent() || s.Blocked())
}

// OwnWord refuses a decision stated by the call itself if the call's word does not count. note is the reason why
// no person has seen the question.
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
	case !isBlank(given), s.Blocked() && len(comments) > 0:
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
	if barred := words.Barred(s); barred != nil {
		return g, barred
	}
	if s.Overrides() {
		g.Decision = workflow.DecisionOverride
	}
	return g, Opens(s)
}

// LeavingPolicy returns the policy for cancelling and reopening: the strictest of the stages reached so far, since
// their decisions are undone.
func LeavingPolicy(s *standing.Standing) workflow.GateMode {
	for _, st := range s.Workflow.Stages[:s.Workflow.Index(s.Session.CurrentStage)] {
		if st.Policy().Gate == workflow.GateStrict && s.Workflow.Gated(st) {
			return workflow.GateStrict
		}
	}
	return s.Policy.Gate
}

// Exhausted reports whether the present submission is the last one before the person is asked whether the stage
// goes on.
func Exhausted(s *standing.Standing) bool { return s.RoundsBelow()+1 >= s.MaxIterations }

// AskFirst is the place in a call for the person's word alone.
var AskFirst = lang.T("ask the human: true or false")

// ConfirmCall returns the call about which the host asks the person. If a yes is more than saving
// a document, the person says first which way it goes.
func ConfirmCall(s *standing.Standing) map[string]any {
	call := map[string]any{
		"tool": s.Names.Confirm, "session_id": s.Handle(), "stage": s.Session.CurrentStage,
		"decision": workflow.DecisionApprove, "sha256": Bind(s).SHA256,
	}
	if s.Overrides() || s.Blocked() {
		call["decision"], call["feedback"] = s.Say("ask the human: approve or request_changes"), s.Say("their words")
	}
	return call
}

// Allowed lists the actions accepted in the state of the session, with the draft as it is.
func Allowed(s *standing.Standing) []workflow.Action {
	actions := s.Workflow.Allowed(s.Session)
	if s.Stopped() {
		return slices.DeleteFunc(actions, func(a workflow.Action) bool {
			return a != workflow.ActionStatus && a != workflow.ActionResume
		})
	}
	cannotAsk := !s.Call.Asks || s.Call.NoForms
	if LeavingPolicy(s) == workflow.GateStrict && cannotAsk {
		// The caller is not offered actions reserved for the person.
		own := []workflow.Action{workflow.ActionReopen, workflow.ActionCancel}
		if s.Policy.Gate == workflow.GateStrict {
			own = append(own, s.Session.CurrentState.GateAction())
		}
		actions = slices.DeleteFunc(actions, func(a workflow.Action) bool { return slices.Contains(own, a) })
	}
	if s.Met() || s.LacksWords() {
		actions = slices.Insert(actions, 1, workflow.ActionConfirm)
	}
	return actions
}

// Approvals names the person's choices if a session waits for a decision.
func Approvals(s *standing.Standing) []string {
	all := gateApprovals(s)
	if !s.IsBarred() {
		return all
	}
	return slices.DeleteFunc(all, func(act string) bool {
		return slices.Contains([]string{"confirm", "approve", "accept_below_gate", "accept_risk"}, act)
	})
}

func gateApprovals(s *standing.Standing) []string {
	switch {
	case s.Session.CurrentState == workflow.AwaitingConfirmation:
		return []string{"confirm", "reject"}
	case s.Stage.Gate == workflow.GateApproval:
		return []string{"approve", "reject"}
	case s.Stage.Gate == workflow.GateScore:
		if s.Stage.ID == s.Workflow.First().ID {
			return []string{"go_on", "accept_below_gate", "cancel"}
		}
		return []string{"go_on", "accept_below_gate", "reopen", "cancel"}
	case s.Blocked():
		return []string{"unblock", "go_on_without_it", "cancel"}
	case !s.Session.FailedWork(s.Stage):
		return []string{"accept_risk", "ask_again"}
	case s.ReworkSpent():
		return []string{"accept_risk", "cancel", "send_back_to_dev", "reopen"}
	}
	return []string{"accept_risk", "send_back_to_dev"}
}
