package engine

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// policies are those of all stages, as configured.
func policies(w *workflow.Definition) map[workflow.StageID]workflow.Policy {
	out := map[workflow.StageID]workflow.Policy{}
	for _, st := range w.Stages {
		out[st.ID] = st.Policy()
	}
	return out
}

// notePolicy records in the history that the configuration asks for something else than
// at the session's last change.
func (r *run) notePolicy(s *standing.Standing) {
	now := policies(s.Workflow)
	if s.Session.Policy == nil { // an older server kept none
		s.Session.Policy = now
		return
	}
	var changes []string
	for _, st := range s.Workflow.Stages {
		before, after := s.Session.Policy[st.ID], now[st.ID]
		if before.Same(after) || !s.Workflow.Gated(st) {
			continue
		}
		changes = append(changes, words.PolicyChange(st.ID, before, after).In(s.Language))
		after.Extra = before.Extra
		s.Session.Policy[st.ID] = after
	}
	if len(changes) > 0 {
		s.Note(workflow.Transition{At: r.Now(), Action: r.req.Action, Event: workflow.EventPolicyChanged, By: r.req.By, Policy: strings.Join(changes, "; ")})
	}
}
