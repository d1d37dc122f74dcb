package words

import (
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The labels of choices that take a session away from where it is, or accept it.
var (
	CancelLabel = lang.T("Cancel this run")
	AdoptLabel  = lang.T("Adopt it as it is")
	TakeAsItIs  = lang.T("Confirm the draft as it is, without answers")
)

// ReopenLabel is the label of the choice to go back to a stage.
func ReopenLabel(stage workflow.StageID) lang.Text { return lang.T("Reopen %s", stage) }

// Labels are those of the two choices at the gate of a session.
func Labels(s *standing.Standing) (yes, no string) {
	switch {
	case s.Blocked():
		return s.Say("It can go on (say what you did below)"), s.Say("Go on without it (say how below)")
	case s.Overrides() && s.Stage.Gate == workflow.GateScore:
		return s.Say("Accept it below the gate (say why below)"), s.Say("More rounds (say what to change below)")
	case s.NeedsReason():
		return s.Say("Accept the risk (say why below)"), s.Say("Send it back to the developer")
	case s.Overrides() && s.Current().Doubted():
		return s.Say("It passes: go on"), s.Say("Send it back to the developer")
	case s.Overrides():
		return s.Say("Accept the risk and go on"), s.Say("Send it back to the developer")
	}
	if s.Stage.Kind == workflow.KindBuild {
		return s.Say("Approve: make this change, and nothing else"), s.Say("Request changes (say what below)")
	}
	return s.Say("Approve: save it and go on"), s.Say("Request changes (say what below)")
}
