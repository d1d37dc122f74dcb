package engine

import (
	"context"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// adopt stores the document of the current stage by reference in a session that an older
// server wrote: that server kept the results as they were handed in, or a draft in the
// session itself.
func (r run) adopt(ctx context.Context, s *workflow.Session) error {
	r.adoptSprints(ctx, s)
	rec := s.Current()
	// A submission brings a document of its own.
	if rec.FinalResultRef != nil || r.req.Action == workflow.ActionSubmit {
		return nil
	}
	document := score.Read(s.CurrentStage, r.handedIn(ctx, rec)).Document
	if strings.TrimSpace(document) == "" {
		return nil
	}
	refs, err := r.project.Backend.Put(ctx, s.SessionID, []store.Text{{Stage: s.CurrentStage, Kind: "final_result", Body: document + "\n", At: s.UpdatedAt}})
	if err != nil {
		return err
	}
	r.onFailure(func() { r.project.Backend.Drop(refs) })
	rec.FinalResultRef = &refs[0]
	return nil
}

// handedIn returns the text of a stage that an older server kept, if any.
func (r run) handedIn(ctx context.Context, rec *workflow.Record) string {
	for _, ref := range rec.Refs() {
		if body, err := r.project.Backend.Read(ctx, *ref); err == nil {
			return body
		}
	}
	return rec.InlineDraft()
}

// adoptSprints reads the sprints from the plan of a session without history, which an older
// server did not.
func (r run) adoptSprints(ctx context.Context, s *workflow.Session) {
	w := r.project.Config.Workflow
	if len(s.History) > 0 || len(s.Sprints) > 0 || w.Index(s.CurrentStage) < w.Index(workflow.SM) {
		return
	}
	s.SetSprints(score.Read(workflow.SM, r.handedIn(ctx, s.Record(workflow.SM))).Sprints)
}
