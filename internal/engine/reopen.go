package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// reopen takes the session back to an earlier stage. What follows from that
// stage is marked stale and kept.
func (r run) reopen(ctx context.Context) (*Reply, error) {
	target := workflow.StageID(r.req.Stage)
	var grant *workflow.Grant
	s, err := r.change(ctx, func(s *workflow.Session) (err error) {
		grant, err = r.leave(ctx, s, workflow.DecisionReopen, "Reopen "+string(target))
		return err
	}, func(tx store.Tx, s *workflow.Session) error {
		if err := r.fire(ctx, s, workflow.EventReopened, workflow.Transition{Feedback: grant.Feedback, Grant: grant}); err != nil {
			return err
		}
		rec := s.Current()
		rec.Feedback, rec.Questions = grant.Feedback, nil
		return r.workFromArtifact(tx, s)
	})
	if err != nil {
		return nil, err
	}
	var stale []string
	for _, st := range r.workflow(s).Stages {
		if a := s.Record(st.ID).Artifact; a != nil && a.Stale {
			stale = append(stale, "`"+a.Path+"`")
		}
	}
	said := fmt.Sprintf("Reopened %s.", target)
	if len(stale) > 0 {
		said += " Out of date until their stages are done again: " + strings.Join(stale, ", ") + "."
	}
	d := short
	if r.continuing(s) {
		d = whole
	}
	return r.reply(s, d, said+"\n\n"+r.message(s))
}

// canReopen refuses to go back to a stage that the session has not passed.
func (r run) canReopen(s *workflow.Session) error {
	if err := r.allowed(s); err != nil {
		return err
	}
	w, target := r.workflow(s), workflow.StageID(r.req.Stage)
	if s.CurrentState != workflow.Completed && w.Index(target) >= w.Index(s.CurrentStage) {
		return fault.New(fault.WrongStage, "stage %q is not before the current stage %q", target, s.CurrentStage).
			WithHint("reopen an earlier stage; to change the current document, %s", nextMove(s))
	}
	return nil
}
