package submission

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Keep stores the texts, and the document as the new working copy: the document read out of
// the texts, those that are more than that, and edits of the working copy that the submission
// does not take.
func (sub *Submission) Keep(ctx context.Context, tx store.Tx, disk *documents.Disk, s *standing.Standing, at time.Time) error {
	edits, err := disk.Edits(ctx, s, append(slices.Collect(maps.Values(sub.texts)), sub.Assessment.Document)...)
	if err != nil {
		return err
	}
	var texts []store.Text
	add := func(kind, body string) int {
		texts = append(texts, store.Text{Stage: s.CurrentStage, Kind: kind, Body: body, At: at})
		return len(texts) - 1
	}
	document := add("final_result", sub.Assessment.Document+"\n")
	places := map[workflow.Engine]int{}
	for _, engine := range workflow.Engines() {
		text, given := sub.texts[engine]
		switch {
		case !given:
		case strings.TrimSpace(text) == sub.Assessment.Document:
			places[engine] = document
		default:
			places[engine] = add(string(engine)+"_result", text)
		}
	}
	if edits != "" {
		add("edited", edits)
	}
	refs, err := tx.Put(ctx, texts)
	if err != nil {
		return err
	}
	if edits != "" {
		sub.Edits = refs[len(refs)-1].FilePath
	}
	ref := func(engine workflow.Engine) *workflow.ContentRef {
		if i, given := places[engine]; given {
			return &refs[i]
		}
		return nil
	}
	rec := s.Current()
	rec.FinalResultRef, rec.ClaudeResultRef, rec.CodexResultRef = &refs[document], ref(workflow.Claude), ref(workflow.Codex)
	return disk.SaveWork(tx, s.Session, texts[document].Body)
}
