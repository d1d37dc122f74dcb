package documents

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Text reads the document of a stage: the saved artifact, or its last round.
func (d *Disk) Text(ctx context.Context, s *standing.Standing, doc standing.Document) (string, error) {
	if ref := s.Session.Record(doc.Stage).FinalResultRef; ref != nil && doc.Path == ref.FilePath {
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

// LayOut has the working copy of the current stage written if there is none: the form of a report
// that is begun, and the document of a session that an older version wrote, or after someone has
// removed it. A copy that is still an earlier round makes room for the newest, which another checkout has
// handed in, or a process that was killed.
func (d *Disk) LayOut(ctx context.Context, s *standing.Standing) {
	ref := s.Session.Current().FinalResultRef
	if !s.Session.CurrentState.Active() {
		return
	}
	info, err := d.project.Dir.Stat(artifact.WorkPath(s.Session.TaskName, s.Session.CurrentStage))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil, ref == nil, !d.isOutdated(ctx, s, info.ModTime(), *ref):
		return
	}
	if ref == nil {
		if s.Stage.Gate == workflow.GateVerdict {
			d.GatherCriteria(ctx, s)
			d.SaveWork(s.Session, s.Contract().Form()+"\n")
		}
		return
	}
	body, err := d.text(ctx, *ref)
	if err != nil {
		return // the draft stays where it is, and is named there
	}
	d.SaveWork(s.Session, body)
}

// isOutdated reports whether a working copy that was written at a moment has not heard of the newest round:
// it is still an earlier one, the file that it was handed in by, the form of a report that nobody has filled in, or
// edits that a submission has replaced and kept. Someone who puts such a text back does that later, and means it.
func (d *Disk) isOutdated(ctx context.Context, s *standing.Standing, written time.Time, newest workflow.ContentRef) bool {
	if written.After(newest.LastUpdated) {
		return false
	}
	work := d.read(artifact.WorkPath(s.Session.TaskName, s.Session.CurrentStage), 0)
	if work.err != nil || work.hash == newest.SHA256 {
		return false
	}
	given := func(ref *workflow.ContentRef) bool { return ref.SHA256 == work.hash }
	form := s.Stage.Gate == workflow.GateVerdict && verdict.Read(string(work.data), nil).Blank()
	if form || slices.ContainsFunc(s.Session.Current().Refs(), given) {
		return true
	}
	return slices.ContainsFunc(s.Session.History, func(e workflow.Transition) bool {
		switch {
		case e.FromStage() != s.Session.CurrentStage:
			return false
		case e.SHA256 == work.hash:
			return true
		case e.Kept == "":
			return false
		}
		kept, err := d.hashStored(ctx, e.Kept)
		return err == nil && kept == work.hash
	})
}

// SaveWork has the current stage's working copy written once the session is stored.
func (d *Disk) SaveWork(s *workflow.Session, body string) {
	name := artifact.WorkPath(s.TaskName, s.CurrentStage)
	was := d.read(name, 0)
	f, err := artifact.Work(s.TaskName, s.CurrentStage)
	d.later(name, body, func() error {
		switch {
		case err != nil:
			return err
		case was.err != nil && !was.missing:
			return was.err
		case string(was.data) == body && was.err == nil: // its writer may have crashed before it was durable
			return d.project.Dir.SyncDir(path.Dir(name))
		}
		return artifact.SaveWork(d.project.Dir, f, body)
	})
}

// WorkFromArtifact makes the saved artifact the working copy of a stage that is reopened,
// if people have edited it since: another round starts from that. A working copy with
// edits of its own stays.
func (d *Disk) WorkFromArtifact(s *standing.Standing) {
	rec := s.Session.Current()
	if rec.Artifact == nil || rec.FinalResultRef == nil || !s.Saved[rec.Artifact.Path].Modified || s.Draft.Edited {
		return
	}
	if saved := d.read(rec.Artifact.Path, rec.Artifact.Size); saved.err == nil { // else the briefing names it, and it may be there again by then
		d.SaveWork(s.Session, string(saved.data))
	}
}
