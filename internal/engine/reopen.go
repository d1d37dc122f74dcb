package engine

import (
	"cmp"
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// reopen takes the session back to an earlier stage. The documents of the later stages are marked stale and kept.
func (r *run) reopen(ctx context.Context) (Outcome, error) {
	target := workflow.StageID(r.req.Stage)
	var grant *workflow.Grant
	s, err := r.changeSession(ctx, func(s *standing.Standing) (err error) {
		grant, err = r.decideLeaving(ctx, s, workflow.DecisionReopen, words.ReopenLabel(target))
		return err
	}, func(_ store.Tx, s *standing.Standing) error {
		feedback := cmp.Or(grant.Feedback, r.req.Feedback)
		if err := r.fireEvent(ctx, s, workflow.EventReopened, workflow.Transition{Feedback: feedback, Grant: grant}); err != nil {
			return err
		}
		rec := s.Session.Current()
		rec.Feedback = feedback
		rec.DropOpenQuestions()
		for _, st := range s.Workflow.Stages[s.Workflow.Index(s.Session.CurrentStage):] {
			s.Session.Record(st.ID).DropRequests(workflow.RequestOutdated)
		}
		r.disk.WorkFromArtifact(r.gatherAll(ctx, s.Session))
		return nil
	})
	if err != nil {
		return Outcome{}, err
	}
	d := reply.Short
	if s.Continuing() {
		d = reply.Whole
	}
	return r.buildReply(ctx, s, d, words.Reopened(s)+words.Message(s))
}
