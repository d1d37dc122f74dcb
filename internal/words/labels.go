package words

import (
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The labels of choices that take a session away from where it is, or accept it.
const (
	CancelLabel = "Cancel this run"
	AdoptLabel  = "Adopt it as it stands"
)

// ReopenLabel is the label of the choice to go back to a stage.
func ReopenLabel(stage workflow.StageID) string { return "Reopen " + string(stage) }

// Labels are those of the two choices at the gate of a session.
func Labels(s *standing.Standing) (yes, no string) {
	switch {
	case s.Blocked():
		return "It can go on (say what you did below)", "Go on without it (say how below)"
	case s.Overrides() && s.Stage.Gate == workflow.GateScore:
		return "Accept it below the gate (say why below)", "More rounds (say what to change below)"
	case s.NeedsReason():
		return "Accept the risk (say why below)", "Send it back to the developer"
	case s.Overrides() && s.Current().Doubted():
		return "It passes: go on", "Send it back to the developer"
	case s.Overrides():
		return "Accept the risk and go on", "Send it back to the developer"
	}
	return "Approve: save it and go on", "Request changes (say what below)"
}
