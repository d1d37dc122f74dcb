package words

import (
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The labels of choices that take a session away from its stage, or accept it.
var (
	CancelLabel = lang.T("Cancel this run")
	AdoptLabel  = lang.T("Adopt it as it is")
)

// TakeLabel returns the label of the choice to take a document that has reached its gate without
// answering its questions.
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

// plainLabels returns those for a document as it was scored.
func plainLabels(s *standing.Standing) (yes, no string) {
	switch {
	case s.Blocked():
		return s.Say("It can go on, and say what you did"), s.Say("Go on without it, and say how")
	case s.Overrides() && s.Stage.Gate == workflow.GateScore:
		return s.Say("Accept it below the gate, and say why"), s.Say("More rounds, and say what to change")
	case s.Current().Spent():
		return s.Say("Go on without a verdict, and say why"), s.Say("Ask for the report again")
	case s.Overrides() && s.Current().Doubted() && !s.FailedWork(s.Stage):
		return s.Say("It passes: go on"), s.Say("Ask for the report again")
	case s.NeedsReason():
		return s.Say("Accept the risk, and say why"), s.Say("Send it back to the developer")
	case s.Overrides() && s.Current().Doubted():
		return s.Say("It passes: go on"), s.Say("Send it back to the developer")
	case s.Overrides():
		return s.Say("Accept the risk and go on"), s.Say("Send it back to the developer")
	}
	if s.Stage.Kind == workflow.KindBuild {
		return s.Say("Approve: make this change, and nothing else"), s.Say("Request changes, and say which")
	}
	return s.Say("Approve: save it and go on"), s.Say("Request changes, and say which")
}

// The questions that ask for a person's words, once they have made a choice that needs them.
var (
	AskChanges = lang.T("What is to change?")
	AskReason  = lang.T("Why do you accept it? Your reason is recorded.")
	AskDone    = lang.T("What did you do or decide?")
	AskWithout = lang.T("How does it go on without that?")
)
