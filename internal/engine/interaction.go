package engine

import "bmad-mcp/internal/workflow"

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
		out.NextCall = map[string]any{"action": workflow.ActionConfirm, "stage": st.ID, "confirmed": "true or false: the human decides"}
	case workflow.AwaitingApproval:
		switch {
		case st.Gate != workflow.GateVerdict:
			askHuman(out, "approve", "reject")
		case s.ReworkCount >= manyReworks-1:
			askHuman(out, "accept_risk", "cancel", "send_back_to_dev")
		default:
			askHuman(out, "accept_risk", "send_back_to_dev")
		}
		out.NextCall = map[string]any{"action": workflow.ActionApprove, "stage": st.ID, "approved": "true or false: the human decides"}
	case workflow.Completed:
		if len(s.OpenSprints(workflow.SprintPending)) > 0 {
			out.PendingUserActions = []string{"reopen_dev"}
			out.NextCall = map[string]any{"action": workflow.ActionReopen, "stage": workflow.Dev}
		}
	}
	if s.CurrentState.Gated() && resubmittable(st) && out.Draft != nil && out.Draft.Modified {
		askHuman(out, "submit_edited", "reject")
		out.NextCall = r.resubmission(s)
	}
	if out.NextCall != nil {
		out.NextCall["session_id"] = s.SessionID
	}
	if s.CurrentState.Gated() {
		out.NextCall["revision"] = s.Revision // a decision is for what the human was shown
	}
}

// askHuman makes the reply wait for one of the human's actions.
func askHuman(out *Reply, actions ...string) {
	out.RequiresUserConfirmation, out.InteractionType, out.PendingUserActions = true, UserDecision, actions
}

// askAssistant makes the reply wait for a submission, and first for the human
// where only they know what it is to hold.
func (r run) askAssistant(s *workflow.Session, st workflow.Stage, out *Reply) {
	out.InteractionType, out.PendingUserActions = AwaitingGeneration, []string{"generate_then_submit"}
	switch {
	case st.ID == workflow.Dev && (s.CurrentState == workflow.Generating || continuing(s)):
		out.RequiresUserConfirmation = true
		out.PendingUserActions = []string{"specify_sprint_scope_then_generate"}
	case s.CurrentState == workflow.Refining && unexplained(s):
		out.RequiresUserConfirmation = true
		out.InteractionType, out.PendingUserActions = AwaitingRegeneration, []string{"say_what_to_change"}
	case s.CurrentState == workflow.Refining:
		out.InteractionType, out.PendingUserActions = AwaitingRegeneration, []string{"regenerate_then_submit"}
	}
	out.NextCall = map[string]any{"action": workflow.ActionSubmit, "stage": st.ID}
	for _, e := range st.EnginesFor(s.Objective) {
		out.NextCall[string(e)+"_result_path"] = "…"
	}
	if scope := r.defaultScope(s); st.ID == workflow.Dev && len(scope) > 0 && len(scope) <= listed {
		out.NextCall["sprints"] = scope
	}
}

// continuing reports whether dev was reopened to build sprints that are still open.
func continuing(s *workflow.Session) bool {
	return s.CurrentStage == workflow.Dev && s.Last().Event == workflow.EventReopened &&
		len(s.OpenSprints(workflow.SprintPending)) > 0 && len(s.OpenSprints(workflow.SprintImplemented)) == 0
}

// unexplained reports whether the human has just asked for another round of a
// document without saying what to change.
func unexplained(s *workflow.Session) bool {
	return s.Last().Event == workflow.EventChangesRequested && s.Last().Feedback == ""
}
