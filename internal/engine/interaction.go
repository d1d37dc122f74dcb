package engine

import (
	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// interact says in the reply who is to act, and how the next call looks.
func (r run) interact(s *workflow.Session, st workflow.Stage, out *Reply) {
	out.InteractionType, out.PendingUserActions = WorkflowCompleted, []string{}
	switch s.CurrentState {
	case workflow.Generating, workflow.Refining:
		r.askAssistant(s, st, out)
	case workflow.Clarifying:
		answers := map[string]string{}
		for _, q := range s.Current().Questions {
			answers[q.ID] = "…"
		}
		askHuman(out, "answer_questions")
		out.NextCall = map[string]any{"action": workflow.ActionAnswer, "answers": answers}
	case workflow.AwaitingConfirmation:
		askHuman(out, "confirm", "reject")
		out.NextCall = map[string]any{"action": workflow.ActionConfirm, "stage": st.ID, "confirmed": askFirst}
	case workflow.AwaitingApproval:
		askHuman(out, r.approvals(s, st)...)
		out.NextCall = map[string]any{"action": workflow.ActionApprove, "stage": st.ID, "approved": askFirst}
	case workflow.Completed:
		if len(r.unbuilt(s)) > 0 {
			out.RequiresUserConfirmation = true // they may leave it at that
			out.PendingUserActions = []string{"reopen_" + string(r.builder(s))}
			out.NextCall = map[string]any{"action": workflow.ActionReopen, "stage": r.builder(s)}
		}
	}
	if s.CurrentState.Gated() && r.resubmittable(s) && out.Draft != nil && out.Draft.Modified {
		askHuman(out, "submit_edited", "reject")
		out.NextCall = r.resubmission(s)
	}
	if out.NextCall != nil {
		out.NextCall["session_id"] = s.SessionID
	}
	if s.CurrentState.Gated() {
		out.NextCall["revision"] = s.Revision // a decision is for what the human was shown
	}
	switch {
	case out.NextCall["action"] == workflow.ActionSubmit:
	case r.spoiled(s):
		// A yes is refused while the draft is not what was handed in.
		out.NextCall["feedback"] = "…"
		for _, key := range []string{"confirmed", "approved"} {
			if _, has := out.NextCall[key]; has {
				out.NextCall[key] = false
			}
		}
	case gateAction(s.CurrentState) != "":
		r.gate(s, out)
	}
}

// spoiled reports whether the draft that waits is not what was handed in, and cannot be
// submitted again as it is.
func (r run) spoiled(s *workflow.Session) bool {
	if !s.CurrentState.Gated() || r.blocked(s) {
		return false
	}
	state := r.draftState(s)
	return state == artifact.Missing || state == artifact.Modified && !r.resubmittable(s)
}

// gate says who decides, and how, where that is more than the person's word to the
// assistant, or was asked for.
func (r run) gate(s *workflow.Session, out *Reply) {
	way := r.way(s)
	if way == byWord && r.req.Action != workflow.ActionStatus && r.req.Action != workflow.ActionResume {
		return
	}
	out.Gate = r.gateView(s)
	switch way {
	case byForm:
		// The form is the question: the call that shows it states no decision.
		out.Gate.AskByForm, out.RequiresUserConfirmation = true, false
		delete(out.NextCall, "confirmed")
		delete(out.NextCall, "approved")
	case byFormAgain:
		delete(out.NextCall, "confirmed")
		delete(out.NextCall, "approved")
	case byHost:
		out.NextCall = r.confirmCall(s)
		if out.NextCall["decision"] == workflow.DecisionApprove {
			out.Gate.AskByHost, out.RequiresUserConfirmation = true, false
		}
	case byOwnAct:
		out.NextCall = nil // whatever the assistant calls is refused
	}
}

// confirmTool is the tool about which a host asks the human.
const confirmTool = "bmad-confirm"

// confirmCall is the call about which the host asks the person. Where a yes is more than
// saving a document, the person says first which way it goes.
func (r run) confirmCall(s *workflow.Session) map[string]any {
	call := map[string]any{
		"tool": confirmTool, "session_id": s.SessionID, "stage": s.CurrentStage,
		"decision": workflow.DecisionApprove, "sha256": r.bound(s).SHA256,
	}
	if r.overrides(s) || r.blocked(s) {
		call["decision"], call["feedback"] = "ask the human: approve or request_changes", "their words"
	}
	return call
}

func (r run) gateView(s *workflow.Session) *GateView {
	return &GateView{Policy: r.policy(s).Gate, WaitsFor: "human", Terminal: "bmad-mcp " + terminalCommand(s)}
}

// way is how the human decides where a session waits for them.
type way int

const (
	byWord      way = iota // the assistant asks them, and passes it on
	byForm                 // their host shows them a form
	byFormAgain            // it has, and they did not decide: when they want, it does again
	byHost                 // their host asks them about a call of bmad-confirm
	byOwnAct               // only at a terminal
)

// way returns the best way that the caller has and the policy takes.
func (r run) way(s *workflow.Session) way {
	mode := r.policy(s).Gate
	gated := s.CurrentState.Gated() // questions are put in the call that raises them
	relaying := r.req.Forms
	switch {
	case mode == workflow.GateRelay:
		return byWord
	case r.req.Ask != nil && relaying && gated && r.withheld:
		return byFormAgain
	case r.req.Ask != nil && relaying && gated && !r.req.NoForms:
		return byForm
	case r.req.HostConfirm && gated:
		return byHost
	case mode == workflow.GateStrict && (r.req.Ask == nil || r.req.NoForms):
		return byOwnAct
	}
	return byWord
}

// approvals names the human's choices where a session waits for approval.
func (r run) approvals(s *workflow.Session, st workflow.Stage) []string {
	switch {
	case st.Gate == workflow.GateApproval:
		return []string{"approve", "reject"}
	case st.Gate == workflow.GateScore:
		if st.ID == r.workflow(s).First().ID {
			return []string{"go_on", "accept_below_gate", "cancel"}
		}
		return []string{"go_on", "accept_below_gate", "reopen", "cancel"}
	case r.blocked(s):
		return []string{"unblock", "go_on_without_it", "cancel"}
	case r.reworkSpent(s):
		return []string{"accept_risk", "cancel", "send_back_to_dev", "reopen"}
	}
	return []string{"accept_risk", "send_back_to_dev"}
}

// askFirst stands in a call where only the human's word can.
const askFirst = "ask the human: true or false"

// askHuman makes the reply wait for one of the human's actions.
func askHuman(out *Reply, actions ...string) {
	out.RequiresUserConfirmation, out.InteractionType, out.PendingUserActions = true, UserDecision, actions
}

// askAssistant makes the reply wait for a submission, and first for the human
// where only they know what it is to hold.
func (r run) askAssistant(s *workflow.Session, st workflow.Stage, out *Reply) {
	out.InteractionType, out.PendingUserActions = AwaitingGeneration, []string{"generate_then_submit"}
	switch {
	case r.asksScope(s) && (s.CurrentState == workflow.Generating || r.continuing(s)):
		out.RequiresUserConfirmation = true
		out.PendingUserActions = []string{"specify_sprint_scope_then_generate"}
	case s.CurrentState == workflow.Refining && unexplained(s):
		out.RequiresUserConfirmation = true
		out.InteractionType, out.PendingUserActions = AwaitingRegeneration, []string{"say_what_to_change"}
	case s.CurrentState == workflow.Refining:
		out.InteractionType, out.PendingUserActions = AwaitingRegeneration, []string{"regenerate_then_submit"}
	}
	out.NextCall = map[string]any{"action": workflow.ActionSubmit, "stage": st.ID}
	for i, e := range st.EnginesFor(s.Objective) {
		out.NextCall[string(e)+"_result_path"] = "…"
		if i == 0 { // what another engine writes goes into a file of its own
			out.NextCall[string(e)+"_result_path"] = r.workPath(s)
		}
	}
	if scope := r.defaultScope(s); st.Kind == workflow.KindBuild && len(scope) > 0 && len(scope) <= listed {
		out.NextCall["sprints"] = scope
	}
}

// asksScope reports whether the session is at a stage that builds from a plan: the person says
// which of its sprints are built.
func (r run) asksScope(s *workflow.Session) bool {
	_, planned := r.workflow(s).OfKind(workflow.KindPlan)
	return planned && r.stage(s).Kind == workflow.KindBuild
}

// builder returns the stage that builds; "" where the workflow has none.
func (r run) builder(s *workflow.Session) workflow.StageID {
	st, _ := r.workflow(s).OfKind(workflow.KindBuild)
	return st.ID
}

// unbuilt are the sprints that the workflow could still build.
func (r run) unbuilt(s *workflow.Session) []int {
	if r.builder(s) == "" {
		return nil
	}
	return s.OpenSprints(workflow.SprintPending)
}

// continuing reports whether the build was reopened for sprints that are still open.
func (r run) continuing(s *workflow.Session) bool {
	return r.stage(s).Kind == workflow.KindBuild && s.Moved().Event == workflow.EventReopened &&
		len(s.OpenSprints(workflow.SprintPending)) > 0 && len(s.OpenSprints(workflow.SprintImplemented)) == 0
}

// unexplained reports whether the human has just asked for another round of a
// document without saying what to change.
func unexplained(s *workflow.Session) bool {
	last := s.Moved()
	return (last.Event == workflow.EventChangesRequested || last.Event == workflow.EventReopened) && last.Feedback == ""
}
