package gate

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// AskFirst is the place in a call for the person's word alone.
var AskFirst = lang.T("ask the human: true or false")

// ConfirmCall returns the call about which the host asks the person. If a yes is more than saving
// a document, the person says first which way it goes.
func ConfirmCall(s *standing.Standing) map[string]any {
	call := map[string]any{
		"tool": s.Names.Confirm, "session_id": s.Handle(), "stage": s.CurrentStage,
		"decision": workflow.DecisionApprove, "sha256": Bind(s).SHA256,
	}
	if s.Overrides() || s.Blocked() {
		call["decision"], call["feedback"] = s.Say("ask the human: approve or request_changes"), s.Say("their words")
	}
	return call
}

// Allowed lists the actions that the session accepts in its state, and with its draft as it is.
func Allowed(s *standing.Standing) []workflow.Action {
	actions := s.Workflow.Allowed(s.Session)
	if s.Stopped() {
		return slices.DeleteFunc(actions, func(a workflow.Action) bool {
			return a != workflow.ActionStatus && a != workflow.ActionResume
		})
	}
	if LeavingPolicy(s) == workflow.GateStrict && (!s.Call.Asks || s.Call.NoForms) {
		// An action that only the person's own act can do is not offered to the caller.
		own := []workflow.Action{workflow.ActionReopen, workflow.ActionCancel}
		if s.Policy.Gate == workflow.GateStrict {
			own = append(own, standing.GateAction(s.CurrentState))
		}
		actions = slices.DeleteFunc(actions, func(a workflow.Action) bool { return slices.Contains(own, a) })
	}
	if s.Met() {
		actions = slices.Insert(actions, 1, workflow.ActionConfirm)
	}
	return actions
}

// Approvals names the person's choices if a session waits for approval.
func Approvals(s *standing.Standing) []string {
	switch {
	case s.Stage.Gate == workflow.GateApproval:
		return []string{"approve", "reject"}
	case s.Stage.Gate == workflow.GateScore:
		if s.Stage.ID == s.Workflow.First().ID {
			return []string{"go_on", "accept_below_gate", "cancel"}
		}
		return []string{"go_on", "accept_below_gate", "reopen", "cancel"}
	case s.Blocked():
		return []string{"unblock", "go_on_without_it", "cancel"}
	case !s.FailedWork(s.Stage):
		return []string{"accept_risk", "ask_again"}
	case s.ReworkSpent():
		return []string{"accept_risk", "cancel", "send_back_to_dev", "reopen"}
	}
	return []string{"accept_risk", "send_back_to_dev"}
}
