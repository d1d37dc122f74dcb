package words

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Terminal is the command that a person types to decide, or to answer.
func Terminal(s *standing.Standing) string {
	return s.Names.Program + " " + string(standing.GateAction(s.CurrentState)) + " " + s.TaskName
}

// Ways says how the person can decide by their own act.
func Ways(s *standing.Standing) string {
	command := Terminal(s)
	if s.Call.Leaving() {
		command = s.Names.Program + " " + string(s.Call.Action) + " " + s.TaskName
		if s.Call.Stage != "" {
			command += " --stage " + s.Call.Stage
		}
	}
	ways := []string{"in a terminal: " + command}
	if s.Call.HostConfirm && s.CurrentState.Gated() && !s.Call.Leaving() {
		ways = append([]string{"here, with the tool " + s.Names.Confirm + ", about which the host asks the human"}, ways...)
	}
	return "the human decides " + strings.Join(ways, "; or ")
}

// NextMove names the next step of a session, and how the caller can take it.
func NextMove(s *standing.Standing) string {
	if standing.GateAction(s.CurrentState) != "" && s.Route() == standing.ByOwnAct {
		return Ways(s)
	}
	return NextMoveOf(s.Session)
}

// NextMoveOf names the next step of a session.
func NextMoveOf(s *workflow.Session) string {
	switch s.CurrentState {
	case workflow.Generating, workflow.Refining:
		return "generate the document for stage " + string(s.CurrentStage) + " and submit it"
	case workflow.Clarifying:
		return "show the open questions to the human and call answer with their words"
	case workflow.AwaitingConfirmation:
		return "the human decides: call confirm with confirmed true or false once they have said so"
	case workflow.AwaitingApproval:
		return "the human decides: call approve with approved true or false once they have said so"
	case workflow.Completed:
		return "the workflow is complete; reopen a stage to change something, or start a new session"
	}
	return "the session is cancelled; start a new one"
}

// GrantNote says by which channel a decision came, where the person did not see it themselves.
func GrantNote(g workflow.Grant) string {
	switch g.Channel {
	case workflow.ChannelRelayed:
		if g.Note != "" {
			return "_Relayed by the assistant: " + g.Note + "._ "
		}
		return "_Relayed by the assistant._ "
	case workflow.ChannelElicited:
		return "Decided by you in the form. "
	case workflow.ChannelTyped:
		return "Decided by the command that you typed. "
	case workflow.ChannelHostConfirmed:
		return "Decided by you when the host asked. "
	}
	return ""
}
