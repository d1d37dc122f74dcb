package documents

import (
	"context"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Adopt gives the current stage of a session that an older server wrote its document as a
// reference: that server kept what an engine handed in, or a draft in the session itself.
func (d *Disk) Adopt(ctx context.Context, tx store.Tx, s *standing.Standing) error {
	rec := s.Current()
	if rec.FinalResultRef != nil {
		return nil
	}
	document := score.Read(s.Stage, d.handedIn(ctx, rec)).Document
	if strings.TrimSpace(document) == "" {
		return nil
	}
	refs, err := tx.Put(ctx, []store.Text{{Stage: s.CurrentStage, Kind: "final_result", Body: document + "\n", At: s.UpdatedAt}})
	if err != nil {
		return err
	}
	rec.FinalResultRef = &refs[0]
	return nil
}

// AdoptSprints reads the sprints from the plan of a session without history, which an older
// server did not.
func (d *Disk) AdoptSprints(ctx context.Context, s *standing.Standing) {
	w := s.Workflow
	plan, planned := w.OfKind(workflow.KindPlan)
	if len(s.History) > 0 || len(s.Sprints) > 0 || !planned || w.Index(s.CurrentStage) < w.Index(plan.ID) {
		return
	}
	s.SetSprints(score.Read(plan, d.handedIn(ctx, s.Record(plan.ID))).Sprints)
}
