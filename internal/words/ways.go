package words

import (
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Terminal returns the command that a person types to decide, or to answer.
func Terminal(s *standing.Standing) string {
	return s.Names.Program + " " + string(standing.GateAction(s.CurrentState)) + " " + s.TaskName
}

// StillWaiting says that nothing has happened since the person was told about the decision that waits.
func StillWaiting(s *standing.Standing) string {
	if s.Stopped() {
		return s.Say("The person has not accepted the session yet.")
	}
	return s.Say("Nothing is decided yet: %s.", NextMove(s).In(s.Language))
}

// Ways says how the person can decide by their own act.
func Ways(s *standing.Standing) lang.Text {
	command := Terminal(s)
	if s.Call.Leaving() {
		command = s.Names.Program + " " + string(s.Call.Action) + " " + s.TaskName
		if s.Call.Stage != "" {
			command += " --stage " + s.Call.Stage
		}
	}
	if s.Call.HostConfirm && s.CurrentState.Gated() && s.Draft.Edit == nil && !s.Call.Leaving() {
		return lang.T("the human decides here, with the tool %s, about which the host asks the human; or in a terminal: %s", s.Names.Confirm, command)
	}
	if s.Call.Page != "" && !s.Call.Leaving() {
		return lang.T("the human decides on the page %s, or in a terminal: %s", s.Call.Page, command)
	}
	return lang.T("the human decides in a terminal: %s", command)
}

// NextMove names the next step of a session, and how the caller can take it.
func NextMove(s *standing.Standing) lang.Text {
	if standing.GateAction(s.CurrentState) != "" && s.Route() == standing.ByOwnAct {
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
		return lang.T("the workflow is complete; reopen a stage to change something, or start a new session")
	}
	return lang.T("the session is cancelled; start a new one")
}

// GrantNote says by which channel a decision came, if the person did not see it themselves.
func GrantNote(l lang.Language, g workflow.Grant) string {
	switch g.Channel {
	case workflow.ChannelRelayed:
		if g.Note != "" {
			return l.Say("_Relayed by the assistant: %s._ ", g.Note)
		}
		return l.Say("_Relayed by the assistant._ ")
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
