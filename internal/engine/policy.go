package engine

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// policy returns what the current stage's gate asks for: what is configured now, but at
// a pending gate no less than when the session came to it.
func (r run) policy(s *workflow.Session) workflow.Policy {
	p := r.stage(s).Policy()
	if s.CurrentState.Gated() && s.Current().Policy != nil {
		p = p.Stricter(*s.Current().Policy)
	}
	return p
}

// policies are those of all stages, as configured.
func policies(w *workflow.Workflow) map[workflow.StageID]workflow.Policy {
	out := map[workflow.StageID]workflow.Policy{}
	for _, st := range w.Stages {
		out[st.ID] = st.Policy()
	}
	return out
}

// notePolicy records in the history that the configuration asks for something else than
// at the session's last change.
func (r run) notePolicy(s *workflow.Session) {
	now := policies(r.project.Config.Workflow)
	if s.Policy == nil { // an older server kept none
		s.Policy = now
		return
	}
	var changes []string
	for _, st := range r.project.Config.Workflow.Stages {
		before, after := s.Policy[st.ID], now[st.ID]
		if before.Same(after) || st.Gate == workflow.GateNone {
			continue
		}
		changes = append(changes, fmt.Sprintf("%s: %s → %s", st.ID, policyText(before), policyText(after)))
		after.Extra = before.Extra
		s.Policy[st.ID] = after
	}
	if len(changes) > 0 {
		s.Note(workflow.Transition{At: r.Now(), Action: r.req.Action, Event: workflow.EventPolicyChanged, By: r.req.By, Policy: strings.Join(changes, "; ")})
	}
}

// policyText says a policy in words.
func policyText(p workflow.Policy) string {
	if p.GateScore == nil {
		return string(p.Gate)
	}
	return fmt.Sprintf("%s, %s %s", p.Gate, p.Scoring, points(*p.GateScore))
}
