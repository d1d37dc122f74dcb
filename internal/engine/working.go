package engine

import (
	"context"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The working copy of a stage is the draft that people read and edit. It has one path for
// all rounds. Each round is kept beside it, untouched, as it was submitted: what a gate
// saves is that text, and an edit shows by comparing the two.

// draftText reads the file of the current draft.
func (d *disk) draftText(ctx context.Context, s *standing.Standing) (string, error) {
	if ref := s.Current().FinalResultRef; ref != nil && s.Draft.Path == ref.FilePath {
		return d.text(ctx, *ref)
	}
	work := d.read(s.Draft.Work, 0)
	return string(work.data), work.err
}

// edits returns the text of the working copy where it holds edits that the submission does
// not take: it is neither the document of the last round nor one of the submitted texts.
func (r *run) edits(ctx context.Context, s *standing.Standing, sub *submission) (string, error) {
	r.disk.forget(s.Draft.Work) // people may have edited it meanwhile
	work := r.disk.read(s.Draft.Work, 0)
	if work.missing {
		return "", nil
	}
	if work.err != nil {
		return "", fault.New(fault.Storage, "the working copy %s cannot be read, and the submission would replace it: %w", s.Draft.Work, work.err).
			WithHint("move it elsewhere, then submit again")
	}
	text := string(work.data)
	same := func(other string) bool { return strings.TrimSpace(other) == strings.TrimSpace(text) }
	if strings.TrimSpace(text) == "" || work.hash == r.disk.draftHash(ctx, s) || same(sub.assessment.Document) {
		return "", nil
	}
	for _, given := range sub.texts {
		if same(given) {
			return "", nil
		}
	}
	return text, nil
}

// layOut writes the working copy of the current stage where there is none: of a session
// that an older version wrote, and after someone has removed it.
func (r *run) layOut(ctx context.Context, tx store.Tx, s *workflow.Session) error {
	ref := s.Current().FinalResultRef
	if ref == nil || !s.CurrentState.Active() || r.project.Dir.Exists(artifact.WorkPath(s.TaskName, s.CurrentStage)) {
		return nil
	}
	body, err := r.disk.text(ctx, *ref)
	if err != nil || ref.SHA256 != "" && workflow.Hash([]byte(body)) != ref.SHA256 {
		return nil //nolint:nilerr // the draft stays where it is, and is named there
	}
	return r.saveWork(tx, s, body)
}

// saveWork writes the current stage's working copy, ahead of the session.
func (r *run) saveWork(tx store.Tx, s *workflow.Session, body string) error {
	name := artifact.WorkPath(s.TaskName, s.CurrentStage)
	was := r.disk.read(name, 0)
	undo, err := artifact.SaveWork(r.project.Dir, name, body, was.data, was.err)
	tx.OnFailure(func() {
		undo()
		r.disk.forget(name)
	})
	if err == nil {
		r.disk.keep(name, file{there: true, data: []byte(body), hash: workflow.Hash([]byte(body)), size: int64(len(body))})
	}
	return err
}

// scored returns the text of a stage's last round as it was scored. Where its record is
// gone or was changed, the working copy stands in if it is the same text.
func (d *disk) scored(ctx context.Context, s *standing.Standing, ref workflow.ContentRef) (string, error) {
	body, err := d.text(ctx, ref)
	if err == nil && (ref.SHA256 == "" || workflow.Hash([]byte(body)) == ref.SHA256) {
		return body, nil
	}
	if work := d.read(s.Draft.Work, 0); work.data != nil && work.hash == ref.SHA256 {
		return string(work.data), nil
	}
	return body, err
}

// editedText is the kind of a text that a person had in the working copy and no submission took.
const editedText = "edited"

// textsOf are what a submission is kept as: the document read out of it, what each engine
// handed in, and edits of the working copy that it does not take. index has the place of
// each engine's text; a text that is nothing but the document is stored once.
func textsOf(s *standing.Standing, sub *submission, edits string, at time.Time) (texts []store.Text, index map[workflow.Engine]int) {
	texts = []store.Text{{Stage: s.CurrentStage, Kind: "final_result", Body: sub.assessment.Document + "\n", At: at}}
	index = map[workflow.Engine]int{}
	for _, engine := range workflow.Engines() {
		text, given := sub.texts[engine]
		switch {
		case !given:
		case strings.TrimSpace(text) == sub.assessment.Document:
			index[engine] = 0
		default:
			index[engine] = len(texts)
			texts = append(texts, store.Text{Stage: s.CurrentStage, Kind: string(engine) + "_result", Body: text, At: at})
		}
	}
	if edits != "" {
		texts = append(texts, store.Text{Stage: s.CurrentStage, Kind: editedText, Body: edits, At: at})
	}
	return texts, index
}

// viewed shows the document that waits, as much of it as a reply holds.
func (d *disk) viewed(ctx context.Context, s *standing.Standing) string {
	text, err := d.draftText(ctx, s)
	if err != nil {
		return words.NotViewed(s, err)
	}
	var shown Reply
	shown.Show(reply.NewResource("draft", mimeMarkdown, s.Draft.Path, text))
	return words.Viewed(s, shown.Resource.Text, len(text))
}

// workFromArtifact makes the saved artifact the working copy of a stage that is reopened,
// where people have edited it since: another round starts from that. A working copy with
// edits of its own stays.
func (r *run) workFromArtifact(tx store.Tx, s *standing.Standing) error {
	rec := s.Current()
	if rec.Artifact == nil || rec.FinalResultRef == nil || !s.Saved[rec.Artifact.Path].Modified || s.Draft.Edited {
		return nil
	}
	saved := r.disk.read(rec.Artifact.Path, rec.Artifact.Size)
	if saved.err != nil {
		return nil // it is named in the briefing, and may be there again by then
	}
	return r.saveWork(tx, s.Session, string(saved.data))
}
