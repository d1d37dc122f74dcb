package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The working copy of a stage is the draft that people read and edit. It has one path for
// all rounds. Each round is kept beside it, untouched, as it was submitted: what a gate
// saves is that text, and an edit shows by comparing the two.

// workPath returns where the working copy of the current stage belongs.
func (r run) workPath(s *workflow.Session) string {
	return artifact.WorkPath(s.TaskName, s.CurrentStage)
}

// draftPath returns the file of the current draft that people are shown: the working copy,
// or the record of the last round where an older version made none.
func (r run) draftPath(s *workflow.Session) string {
	ref := s.Current().FinalResultRef
	if name := r.workPath(s); ref == nil || r.project.Dir.Exists(name) {
		return name
	}
	return ref.FilePath
}

// draftText reads the file of the current draft.
func (r run) draftText(ctx context.Context, s *workflow.Session) (string, error) {
	if ref := s.Current().FinalResultRef; ref != nil && r.draftPath(s) == ref.FilePath {
		return r.project.Texts.Read(ctx, *ref)
	}
	data, err := r.project.Dir.ReadFile(r.workPath(s), durable.MaxText)
	return string(data), err
}

// draftSize returns the size of the current draft; known where it cannot be had.
func (r run) draftSize(s *workflow.Session, known int64) int64 {
	if info, err := r.project.Dir.Stat(r.workPath(s)); err == nil {
		return info.Size()
	}
	if stat, err := r.project.Texts.Stat(context.Background(), *s.Current().FinalResultRef); err == nil && stat.Exists {
		return stat.Size
	}
	return known
}

// results are what the call hands in: the working copy where it names nothing else.
func (r run) results(s *workflow.Session) []Result {
	if len(r.req.Results) > 0 || r.req.Action != workflow.ActionSubmit {
		return r.req.Results
	}
	return []Result{{Engine: r.stage(s).EnginesFor(s.Objective)[0], Path: r.workPath(s)}}
}

// noWorkingCopy is the error of a submission that names no text while there is no working copy.
func (r run) noWorkingCopy(s *workflow.Session) error {
	return fault.New(fault.InvalidArgument, "submit names no document, and the working copy %s does not exist", r.workPath(s)).
		WithHint("write the document there and submit again, or pass claude_result or codex_result, or the path of a file in the project as claude_result_path or codex_result_path")
}

// edits returns the text of the working copy where it holds edits that the submission does
// not take: it is neither the document of the last round nor one of the submitted texts.
func (r run) edits(s *workflow.Session, sub *submission) (string, error) {
	data, err := r.project.Dir.ReadFile(r.workPath(s), durable.MaxText)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fault.New(fault.Storage, "the working copy %s cannot be read, and the submission would replace it: %w", r.workPath(s), err).
			WithHint("move it elsewhere, then submit again")
	}
	text := string(data)
	same := func(other string) bool { return strings.TrimSpace(other) == strings.TrimSpace(text) }
	if strings.TrimSpace(text) == "" || workflow.Hash(data) == r.draftHash(s) || same(sub.assessment.Document) {
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
func (r run) layOut(ctx context.Context, tx store.Tx, s *workflow.Session) error {
	ref := s.Current().FinalResultRef
	if ref == nil || !s.CurrentState.Active() || r.project.Dir.Exists(r.workPath(s)) {
		return nil
	}
	body, err := r.project.Texts.Read(ctx, *ref)
	if err != nil || ref.SHA256 != "" && workflow.Hash([]byte(body)) != ref.SHA256 {
		return nil //nolint:nilerr // the draft stays where it is, and is named there
	}
	return r.saveWork(tx, s, body)
}

// saveWork writes the current stage's working copy, ahead of the session.
func (r run) saveWork(tx store.Tx, s *workflow.Session, body string) error {
	undo, err := artifact.SaveWork(r.project.Dir, r.workPath(s), body)
	tx.OnFailure(undo)
	return err
}

// scored returns the text of a stage's last round as it was scored. Where its record is
// gone or was changed, the working copy stands in if it is the same text.
func (r run) scored(ctx context.Context, s *workflow.Session, ref workflow.ContentRef) (string, error) {
	body, err := r.project.Texts.Read(ctx, ref)
	if err == nil && (ref.SHA256 == "" || workflow.Hash([]byte(body)) == ref.SHA256) {
		return body, nil
	}
	if data, workErr := r.project.Dir.ReadFile(r.workPath(s), durable.MaxText); workErr == nil && ref.SHA256 != "" && workflow.Hash(data) == ref.SHA256 {
		return string(data), nil
	}
	return body, err
}

// editedText is the kind of a text that a person had in the working copy and no submission took.
const editedText = "edited"

// texts are what a submission is kept as: the document read out of it, what each engine
// handed in, and edits of the working copy that it does not take. index has the place of
// each engine's text; a text that is nothing but the document is stored once.
func (r run) texts(s *workflow.Session, sub *submission, edits string) (texts []store.Text, index map[workflow.Engine]int) {
	at := r.Now()
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
func (r run) viewed(ctx context.Context, s *workflow.Session) string {
	name := r.draftPath(s)
	again := "Say **decide** when you are ready: the form asks again. Or say what to change."
	text, err := r.draftText(ctx, s)
	if err != nil {
		return fmt.Sprintf("The document `%s` cannot be read: %v. Nothing was decided.", name, err)
	}
	var shown Reply
	shown.show(newResource("draft", mimeMarkdown, name, text))
	end := ""
	if shown.Resource.Truncated {
		end = fmt.Sprintf("\n\n… The first %d of %d bytes; all of it is in `%s`.", len(shown.Resource.Text), len(text), name)
	}
	return fmt.Sprintf("Nothing was decided. The document, `%s`:\n\n---\n\n%s%s\n\n---\n\n%s", name, visible.Text(shown.Resource.Text), end, again)
}

// workFromArtifact makes the saved artifact the working copy of a stage that is reopened,
// where people have edited it since: another round starts from that. A working copy with
// edits of its own stays.
func (r run) workFromArtifact(tx store.Tx, s *workflow.Session) error {
	rec := s.Current()
	if rec.Artifact == nil || rec.FinalResultRef == nil || artifact.StateOf(r.project.Dir, *rec.Artifact) != artifact.Modified || r.draftEdited(s) {
		return nil
	}
	data, err := r.project.Dir.ReadFile(rec.Artifact.Path, durable.MaxText)
	if err != nil {
		return nil //nolint:nilerr // it is named in the briefing, and may be there again by then
	}
	return r.saveWork(tx, s, string(data))
}
