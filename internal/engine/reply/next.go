package reply

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// describeTurn says in the reply who is to act, and how the next call looks.
func describeTurn(s *standing.Standing, out *Reply) {
	st := s.Stage
	out.InteractionType, out.PendingUserActions = WorkflowCompleted, []string{}
	switch s.Session.CurrentState {
	case workflow.Generating, workflow.Refining:
		askAssistant(s, out)
	case workflow.Clarifying:
		actions := []string{"answer_questions"}
		if s.Met() { // or their confirmation
			actions = append(actions, "confirm")
		}
		askHuman(out, actions...)
		answers := map[string]string{}
		for _, q := range s.Session.Current().OpenQuestions() {
			answers[q.ID] = "…"
		}
		out.NextCall = map[string]any{"action": workflow.ActionAnswer, "answers": answers}
	case workflow.AwaitingConfirmation:
		askHuman(out, gate.Approvals(s)...)
		out.NextCall = map[string]any{"action": workflow.ActionConfirm, "stage": st.ID, "confirmed": gate.AskFirst.In(s.Language)}
	case workflow.AwaitingApproval:
		askHuman(out, gate.Approvals(s)...)
		out.NextCall = map[string]any{"action": workflow.ActionApprove, "stage": st.ID, "approved": gate.AskFirst.In(s.Language)}
	case workflow.Completed:
		if len(s.Unbuilt()) > 0 {
			out.RequiresUserConfirmation = true // the human may stop here
			out.PendingUserActions = []string{"reopen_" + string(s.Builder())}
			out.NextCall = map[string]any{"action": workflow.ActionReopen, "stage": s.Builder()}
		}
	}
	if out.NextCall != nil {
		out.NextCall["session_id"] = s.Handle()
	}
	if s.Session.CurrentState.Gated() || s.Met() {
		out.NextCall["revision"] = s.Session.Revision // a decision is for the document shown to the human
	}
	switch {
	case s.Unusable():
		// A yes is refused while the draft differs from the submission.
		out.NextCall["feedback"] = "…"
		for _, key := range []string{"confirmed", "approved"} {
			if _, has := out.NextCall[key]; has {
				out.NextCall[key] = false
			}
		}
	case s.Session.CurrentState.GateAction() != "":
		describeDecision(s, out)
	}
}

// describeDecision says who decides, and how, if more than the person's word to the assistant is needed, or if the
// call asks for it.
func describeDecision(s *standing.Standing, out *Reply) {
	if doc := s.Waiting(); s.Call.Chat && s.Session.CurrentState.Gated() && doc != nil {
		out.ShowFirst = s.Say("Before user_message, print all of `%s` in the chat, unless it is there already: the human may see no files here.", doc.Path)
	}
	way := s.Route()
	if way == standing.ByWord && !s.Call.Describing() && !s.Ruled() {
		return
	}
	out.Gate = NewGateView(s)
	if s.IsBarred() && s.Session.CurrentState.Gated() {
		out.NextCall = waitCall(s) // the caller can only say no
		return
	}
	switch way {
	case standing.ByForm, standing.ByFormAgain:
		// The form is the question: the call to show it states no decision.
		if way == standing.ByForm {
			out.Gate.AskByForm, out.RequiresUserConfirmation = true, false
		}
		delete(out.NextCall, "confirmed")
		delete(out.NextCall, "approved")
	case standing.ByHost:
		out.NextCall = gate.ConfirmCall(s)
		if out.NextCall["decision"] == workflow.DecisionApprove {
			out.Gate.AskByHost, out.RequiresUserConfirmation = true, false
		}
	case standing.ByOwnAct:
		out.NextCall = waitCall(s) // whatever else the assistant calls is refused
	}
}

// NewGateView describes a session waiting for the human.
func NewGateView(s *standing.Standing) *GateView {
	view := &GateView{Policy: s.Policy.Gate, WaitsFor: "human", Terminal: words.Terminal(s), Page: s.Call.Page}
	if s.BelowFloor() {
		view.AuditFloor = s.Policy.AuditFloor
	}
	if !s.Ruled() {
		return view
	}
	p := s.Policy
	view.Needs = &Needs{Approvers: p.Approvers, FourEyes: p.Watched(), Quorum: max(p.Quorum, 1), Missing: s.Missing()}
	for _, g := range s.Given() {
		view.Needs.Given = append(view.Needs.Given, Given{g.Person, g.At})
	}
	return view
}

// waitCall returns the status call to wait for the human's own act with; nil for a caller unable to wait.
func waitCall(s *standing.Standing) map[string]any {
	if !s.Call.Waits {
		return nil
	}
	return map[string]any{"action": workflow.ActionStatus, "session_id": s.Handle(), "wait": standing.MaxWait}
}

func askHuman(out *Reply, actions ...string) {
	out.RequiresUserConfirmation, out.InteractionType, out.PendingUserActions = true, UserDecision, actions
}

// askAssistant makes the reply wait for a submission, and first for the human if only they know the content.
func askAssistant(s *standing.Standing, out *Reply) {
	st := s.Stage
	out.InteractionType = AwaitingGeneration
	if s.Session.CurrentState == workflow.Refining && !s.Continuing() {
		out.InteractionType = AwaitingRegeneration
	}
	switch s.Wants() {
	case standing.WantsScope:
		out.PendingUserActions = []string{"specify_sprint_scope_then_generate"}
	case standing.WantsChange:
		out.PendingUserActions = []string{"say_what_to_change"}
	case standing.WantsStart:
		out.PendingUserActions = []string{"start_stage"}
	}
	out.RequiresUserConfirmation = len(out.PendingUserActions) > 0
	if s.Wants() == standing.WantsChange && s.Policy.Gate != workflow.GateStrict {
		out.NextCall = map[string]any{"action": workflow.ActionConfirm, "stage": st.ID, "confirmed": false, "feedback": s.Say("their words")}
		return
	}
	out.NextCall = map[string]any{"action": workflow.ActionSubmit, "stage": st.ID}
	for i, e := range st.EnginesFor(s.Session.Objective) {
		out.NextCall[string(e)+"_result_path"] = "…"
		if i == 0 { // another engine writes into its own file
			out.NextCall[string(e)+"_result_path"] = s.Draft.Work
		}
	}
	if scope := s.DefaultScope(); st.Kind == workflow.KindBuild && len(scope) > 0 && len(scope) <= Listed {
		out.NextCall["sprints"] = scope
	}
}

// markChanged notes in a reply whether the session was changed by other hands, rests on entries that do not count,
// or was moved, and whether nothing goes on before the person has accepted the session or an approved text.
func markChanged(s *standing.Standing, out *Reply) {
	var notes []string // the last one comes first
	if s.Session.CurrentState.Active() {
		notes = append(notes, words.AlteredNote(s))
	}
	notes = append(notes, words.SinceNotes(s)...)
	notes = append(notes, words.HomelessNote(s), words.PendingNote(s), words.MovedNote(s))
	if s.Session.CurrentState.WaitsForHuman() {
		notes = append(notes, words.LooseNote(s), words.KeptNote(s))
	}
	if s.Doubtful() {
		out.Integrity = string(s.Integrity.Status)
		notes = append(notes, words.DoubtNote(s))
	}
	for _, note := range notes {
		if !strings.Contains(out.UserMessage, note) { // the question at a gate has some
			out.UserMessage = note + "\n\n" + out.UserMessage
		}
	}
	if s.Stopped() {
		out.UserMessage = words.Stopped(s)
		out.NextCall, out.Gate = waitCall(s), nil
		askHuman(out, string(workflow.ActionAdopt))
	}
}
