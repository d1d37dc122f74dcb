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
		askHuman(out, r.approvals(s, st)...)
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
	if s.CurrentState.Gated() || s.CurrentState == workflow.Clarifying {
		r.gate(s, out)
	}
}

// gate says who decides, and how, where that is more than the person's word to the
// assistant, or was asked for. Where the person is asked by a form, the call that shows it
// is to be made at once and states no decision: the form is the question.
func (r run) gate(s *workflow.Session, out *Reply) {
	mode := r.policy(s).Gate
	form := s.CurrentState.Gated() && r.byForm(s) && out.NextCall["action"] != workflow.ActionSubmit
	if !form && mode != workflow.GateStrict && r.req.Action != workflow.ActionStatus && r.req.Action != workflow.ActionResume {
		return
	}
	out.Gate = r.gateView(s)
	if form {
		out.Gate.AskByForm, out.RequiresUserConfirmation = true, false
		delete(out.NextCall, "confirmed")
		delete(out.NextCall, "approved")
	}
}

func (r run) gateView(s *workflow.Session) *GateView {
	return &GateView{Policy: r.policy(s).Gate, WaitsFor: "human", Terminal: "bmad-mcp " + terminalCommand(s)}
}

// byForm reports whether the person is asked by a form of their host at the gate.
func (r run) byForm(s *workflow.Session) bool {
	return r.req.Ask != nil && r.req.Via == workflow.ChannelRelayed && !r.req.NoForms && r.policy(s).Gate != workflow.GateRelay
}

// approvals names the human's choices where a session waits for approval.
func (r run) approvals(s *workflow.Session, st workflow.Stage) []string {
	switch {
	case st.Gate == workflow.GateApproval:
		return []string{"approve", "reject"}
	case st.Gate == workflow.GateScore:
		return []string{"one_more_round", "accept_below_gate", "reopen", "cancel"}
	case s.Current().Verdict == workflow.Blocked:
		return []string{"unblock", "accept_risk", "cancel"}
	case r.reworkSpent(s):
		return []string{"accept_risk", "cancel", "send_back_to_dev", "reopen"}
	}
	return []string{"accept_risk", "send_back_to_dev"}
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
