package engine

import (
	"context"
	"strings"

	"bmad-mcp/internal/score"
	"bmad-mcp/internal/store"
	"bmad-mcp/internal/workflow"
)

// adopt gives the current stage of a session that an older server wrote its
// document as a reference: that server kept what an engine handed in, or a
// draft in the session itself.
func (r run) adopt(ctx context.Context, s *workflow.Session) error {
	rec := s.Current()
	if rec.FinalResultRef != nil {
		return nil
	}
	text := rec.InlineDraft()
	for _, ref := range []*workflow.ContentRef{rec.ClaudeResultRef, rec.CodexResultRef} {
		if ref == nil {
			continue
		}
		if body, err := r.project.backend.Read(ctx, *ref); err == nil {
			text = body
			break
		}
	}
	document := score.Read(s.CurrentStage, text).Document
	if strings.TrimSpace(document) == "" {
		return nil
	}
	refs, err := r.project.backend.Put(ctx, s.SessionID, []store.Text{{Stage: s.CurrentStage, Kind: "final_result", Body: document + "\n", At: s.UpdatedAt}})
	if err != nil {
		return err
	}
	r.onFailure(func() { r.project.backend.Drop(refs) })
	rec.FinalResultRef = &refs[0]
	return nil
}
