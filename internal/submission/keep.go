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

// Keep stores the texts, and the document as the new working copy. Edits of that which the
// submission does not take are kept as a text of the round.
func (sub *Submission) Keep(ctx context.Context, tx store.Tx, disk *documents.Disk, s *standing.Standing, at time.Time) error {
	edits, err := disk.Edits(ctx, s, append(slices.Collect(maps.Values(sub.texts)), sub.Assessment.Document)...)
	if err != nil {
		return err
	}
	texts, index := sub.kept(s.CurrentStage, edits, at)
	refs, err := tx.Put(ctx, texts)
	if err != nil {
		return err
	}
	if edits != "" {
		sub.Edits = refs[len(refs)-1].FilePath
	}
	ref := func(engine workflow.Engine) *workflow.ContentRef {
		if i, given := index[engine]; given {
			return &refs[i]
		}
		return nil
	}
	rec := s.Current()
	rec.FinalResultRef, rec.ClaudeResultRef, rec.CodexResultRef = &refs[0], ref(workflow.Claude), ref(workflow.Codex)
	return disk.SaveWork(tx, s.Session, texts[0].Body)
}

// editedText is the kind of a text that a person had in the working copy and no submission took.
const editedText = "edited"

// kept are the texts that a submission is kept as: the document read out of it, those that the
// engines handed in, and edits of the working copy that it does not take. index has the place
// of each engine's text; a text that is nothing but the document is stored once.
func (sub *Submission) kept(stage workflow.StageID, edits string, at time.Time) (texts []store.Text, index map[workflow.Engine]int) {
	add := func(kind, body string) {
		texts = append(texts, store.Text{Stage: stage, Kind: kind, Body: body, At: at})
	}
	add("final_result", sub.Assessment.Document+"\n")
	index = map[workflow.Engine]int{}
	for _, engine := range workflow.Engines() {
		text, given := sub.texts[engine]
		switch {
		case !given:
		case strings.TrimSpace(text) == sub.Assessment.Document:
			index[engine] = 0
		default:
			index[engine] = len(texts)
			add(string(engine)+"_result", text)
		}
	}
	if edits != "" {
		add(editedText, edits)
	}
	return texts, index
}
