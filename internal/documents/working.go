package documents

import (
	"context"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/verdict"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Text reads the document of a stage: the saved artifact, or its last round.
func (d *Disk) Text(ctx context.Context, s *standing.Standing, doc standing.Document) (string, error) {
	if ref := s.Record(doc.Stage).FinalResultRef; ref != nil && doc.Path == ref.FilePath {
		return d.text(ctx, *ref)
	}
	f := d.read(doc.Path, doc.Size)
	return string(f.data), f.err
}

// Edits returns the text of the working copy if it holds edits that a submission does not
// take: it is neither the document of the last round nor one of the submitted texts.
func (d *Disk) Edits(ctx context.Context, s *standing.Standing, submitted ...string) (string, error) {
	d.Forget(s) // people may have edited it meanwhile
	work := d.read(s.Draft.Work, 0)
	if work.missing {
		return "", nil
	}
	if work.err != nil {
		return "", fault.New(fault.Storage, "the working copy %s cannot be read, and the submission would replace it: %w", s.Draft.Work, work.err).
			WithHint("move it elsewhere, then submit again")
	}
	text := string(work.data)
	same := func(other string) bool { return strings.TrimSpace(other) == strings.TrimSpace(text) }
	form := s.Stage.Gate == workflow.GateVerdict && verdict.Read(text, nil).Blank() // nobody's edits
	if form || same("") || work.hash == d.draftHash(ctx, s) || slices.ContainsFunc(submitted, same) {
		return "", nil
	}
	return text, nil
}

// LayOut writes the working copy of the current stage if there is none: the form of a report that
// is begun, and the document of a session that an older version wrote, or after someone has
// removed it.
func (d *Disk) LayOut(ctx context.Context, tx store.Tx, s *standing.Standing) error {
	ref := s.Current().FinalResultRef
	if !s.CurrentState.Active() || d.project.Dir.Exists(artifact.WorkPath(s.TaskName, s.CurrentStage)) {
		return nil
	}
	if ref == nil && s.Stage.Gate == workflow.GateVerdict {
		d.GatherCriteria(ctx, s)
		return d.SaveWork(tx, s.Session, s.Contract().Form()+"\n")
	}
	if ref == nil {
		return nil
	}
	body, err := d.text(ctx, *ref)
	if err != nil || ref.SHA256 != "" && workflow.Hash([]byte(body)) != ref.SHA256 {
		return nil //nolint:nilerr // the draft stays where it is, and is named there
	}
	return d.SaveWork(tx, s.Session, body)
}

// SaveWork writes the current stage's working copy, ahead of the session.
func (d *Disk) SaveWork(tx store.Tx, s *workflow.Session, body string) error {
	name := artifact.WorkPath(s.TaskName, s.CurrentStage)
	was := d.read(name, 0)
	undo, err := artifact.SaveWork(d.project.Dir, name, body, was.data, was.err)
	tx.OnFailure(func() {
		undo()
		delete(d.files, name)
	})
	if err == nil {
		d.files[name] = file{there: true, data: []byte(body), hash: workflow.Hash([]byte(body)), size: int64(len(body))}
	}
	return err
}

// WorkFromArtifact makes the saved artifact the working copy of a stage that is reopened,
// if people have edited it since: another round starts from that. A working copy with
// edits of its own stays.
func (d *Disk) WorkFromArtifact(tx store.Tx, s *standing.Standing) error {
	rec := s.Current()
	if rec.Artifact == nil || rec.FinalResultRef == nil || !s.Saved[rec.Artifact.Path].Modified || s.Draft.Edited {
		return nil
	}
	saved := d.read(rec.Artifact.Path, rec.Artifact.Size)
	if saved.err != nil {
		return nil // it is named in the briefing, and may be there again by then
	}
	return d.SaveWork(tx, s.Session, string(saved.data))
}
