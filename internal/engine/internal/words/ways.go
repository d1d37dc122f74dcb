package words

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Terminal returns the command that a person types to decide, or to answer.
func Terminal(s *standing.Standing) string { return s.Names.Program + " decide " + s.Session.TaskName }

// StillWaiting says that nothing has happened since the person was told about the decision that waits.
func StillWaiting(s *standing.Standing) string {
	if s.Stopped() {
		return s.Say("The person has not accepted the run yet.")
	}
	return s.Say("Nothing is decided yet: %s.", NextMove(s).In(s.Language))
}

// Ways says how the person can decide by their own act.
func Ways(s *standing.Standing) lang.Text {
	command := Terminal(s)
	if s.Call.Leaving() {
		command = s.Names.Program + " " + string(s.Call.Action) + " " + s.Session.TaskName
		if s.Call.Stage != "" {
			command += " --stage " + s.Call.Stage
		}
	}
	if s.Call.HostConfirm && s.Session.CurrentState.Gated() && s.Draft.Edit == nil && !s.Call.Leaving() {
		return lang.T("the human decides here, with the tool %s, about which the host asks the human; or in a terminal: %s", s.Names.Confirm, command)
	}
	if s.Call.Page != "" && !s.Call.Leaving() {
		return lang.T("the human decides on the page %s, or in a terminal: %s", s.Call.Page, command)
	}
	return lang.T("the human decides in a terminal: %s", command)
}

// NextMove names the next step of a session, and how the caller can take it.
func NextMove(s *standing.Standing) lang.Text {
	if s.Session.CurrentState.GateAction() != "" && s.Route() == standing.ByOwnAct {
		return Ways(s)
	}
	return NextMoveOf(s.Session)
}

// NextMoveOf names the next step of a session.
func NextMoveOf(s *workflow.Session) lang.Text {
	switch s.CurrentState {
	case workflow.Generating, workflow.Refining:
		return lang.T("generate the document for stage %s and submit it", s.CurrentStage)
	case workflow.Clarifying:
		return lang.T("show the open questions to the human and call answer with their words")
	case workflow.AwaitingConfirmation:
		return lang.T("the human decides: call confirm with confirmed true or false once they have said so")
	case workflow.AwaitingApproval:
		return lang.T("the human decides: call approve with approved true or false once they have said so")
	case workflow.Completed:
		return lang.T("the workflow is complete; reopen a stage to change something, or start a new run")
	}
	return lang.T("the run is cancelled; start a new one")
}

// GrantNote says by which channel a decision came, if the person did not see it themselves.
func GrantNote(l lang.Language, g workflow.Grant) string {
	switch g.Channel {
	case workflow.ChannelRelayed:
		if g.Note != "" {
			return l.Say("_Passed on by the assistant: %s._ ", g.Note)
		}
		return l.Say("_Passed on by the assistant._ ")
	case workflow.ChannelElicited:
		return l.Say("Decided by you in the form. ")
	case workflow.ChannelTyped:
		return l.Say("Decided by the command that you typed. ")
	case workflow.ChannelHostConfirmed:
		return l.Say("Decided by you when the host asked. ")
	case workflow.ChannelBrowser:
		return l.Say("Decided by you in the browser. ")
	case workflow.ChannelPasskey:
		return l.Say("Decided by you with your passkey. ")
	}
	return ""
}

// The labels of choices to take a session away from the stage, or to accept it.
var (
	CancelLabel = lang.T("Cancel this run")
	AdoptLabel  = lang.T("Adopt it as it is")
)

// TakeLabel returns the label of the choice to take a document at its gate without answering the questions.
func TakeLabel(s *standing.Standing) string {
	if s.Draft.Edit != nil {
		return s.Say("Approve the draft with this change, without answers")
	}
	return s.Say("Approve the draft as it is, without answers")
}

// ReopenLabel returns the label of the choice to go back to a stage.
func ReopenLabel(stage workflow.StageID) lang.Text { return lang.T("Reopen %s", stage) }

// Labels returns the labels of the two choices at the gate of a session.
func Labels(s *standing.Standing) (yes, no string) {
	yes, no = plainLabels(s)
	switch {
	case s.Draft.Edit == nil:
	case s.Overrides() && s.Stage.Gate == workflow.GateVerdict && s.NeedsReason():
		yes = s.Say("Accept it with this change, and say why")
	case s.Overrides() && s.Stage.Gate == workflow.GateVerdict:
		yes = s.Say("Accept it with this change")
	case s.Overrides():
		yes = s.Say("Accept it below the gate with this change, and say why")
	default:
		yes = s.Say("Approve with this change")
	}
	return yes, no
}

// plainLabels returns the labels for a document as it was scored.
func plainLabels(s *standing.Standing) (yes, no string) {
	switch {
	case s.Blocked():
		return s.Say("It can go on, and say what you did"), s.Say("Go on without it, and say how")
	case s.Overrides() && s.Stage.Gate == workflow.GateScore:
		return s.Say("Accept it below the gate, and say why"), s.Say("More rounds, and say what to change")
	case s.Session.Current().Spent():
		return s.Say("Go on without a verdict, and say why"), s.Say("Ask for the report again")
	case s.Overrides() && s.Session.Current().Doubted() && !s.Session.FailedWork(s.Stage):
		return s.Say("It passes: go on"), s.Say("Ask for the report again")
	case s.NeedsReason():
		return s.Say("Accept the risk, and say why"), s.Say("Send it back to the developer")
	case s.Overrides() && s.Session.Current().Doubted():
		return s.Say("It passes: go on"), s.Say("Send it back to the developer")
	case s.Overrides():
		return s.Say("Accept the risk and go on"), s.Say("Send it back to the developer")
	}
	if s.Stage.Kind == workflow.KindBuild {
		return s.Say("Approve: make this change, and nothing else"), s.Say("Request changes, and say which")
	}
	return s.Say("Approve: save it and go on"), s.Say("Request changes, and say which")
}

// OfferLabels returns the labels of the choice to take the offer with a yes: a full one, and a short one.
func OfferLabels(s *standing.Standing) (full, short string) {
	full = s.Say("Approve, and let the server run `%s` at %s", s.Offer.Command, offerStages(s))
	if s.Draft.Edit != nil {
		full = s.Say("Approve with this change, and let the server run `%s` at %s", s.Offer.Command, offerStages(s))
	}
	return full, s.Say("Approve, and run `%s`", s.Offer.Command)
}

// offerStages names the stages at which an offered command runs.
func offerStages(s *standing.Standing) string {
	var labels []string
	for _, st := range s.Workflow.Stages {
		if st.Verify {
			labels = append(labels, st.Label)
		}
	}
	if last := len(labels) - 1; last > 0 {
		return s.Say("%s and %s", strings.Join(labels[:last], ", "), labels[last])
	}
	return strings.Join(labels, "")
}

// OfferChanged refuses to allow a command that differs from the command shown to the person.
func OfferChanged(o workflow.Offer) error {
	return fault.New(fault.Conflict, "what `%s` runs has changed since the question was asked, or it is not offered any more; nothing was decided", visible.Fit(o.Command, 120)).
		WithHint("look at the change, and decide once more")
}

// The questions that ask for a person's words, once they have made a choice that needs them.
var (
	AskChanges = lang.T("What is to change?")
	AskReason  = lang.T("Why do you accept it? Your reason is recorded.")
	AskDone    = lang.T("What did you do or decide?")
	AskWithout = lang.T("How does it go on without that?")
)
