package documents

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Text reads the document of a stage: the saved artifact, or the last round.
func (d *Disk) Text(ctx context.Context, s *standing.Standing, doc standing.Document) (string, error) {
	f := d.readFile(doc.Path, doc.Size)
	if ref := s.Session.Record(doc.Stage).FinalResultRef; ref != nil && (doc.Path == ref.FilePath || f.missing) {
		return d.readText(ctx, *ref)
	}
	return string(f.data), f.err
}

// Edits returns the text of the working copy if a submission would lose edits in it: it is neither the document of
// the last round nor one of the submitted texts.
func (d *Disk) Edits(ctx context.Context, s *standing.Standing, submitted ...string) (string, error) {
	d.Forget(s) // people may have edited it meanwhile
	work := d.readWork(ctx, s)
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

// LayOut has the working copy of the current stage written if there is none, or an outdated one: at the beginning of
// a report its form, else the document.
func (d *Disk) LayOut(ctx context.Context, s *standing.Standing) {
	if !s.Session.CurrentState.Active() || !d.readWork(ctx, s).missing {
		return
	}
	ref := s.Session.Current().FinalResultRef
	if ref == nil {
		if s.Stage.Gate == workflow.GateVerdict {
			d.GatherCriteria(ctx, s)
			d.SaveWork(s.Session, s.Contract().Form()+"\n")
		}
		return
	}
	body, err := d.readText(ctx, *ref)
	if err != nil {
		return // the draft stays where it is, and is named there
	}
	d.SaveWork(s.Session, body)
}

// readWork returns the working copy of the current stage. One with the text of an earlier round counts as missing:
// the newest was handed in from another checkout, or by a process killed since.
func (d *Disk) readWork(ctx context.Context, s *standing.Standing) file {
	name := artifact.WorkPath(s.Session.TaskName, s.Session.CurrentStage)
	f, ref := d.readFile(name, 0), s.Session.Current().FinalResultRef
	if f.err != nil || ref == nil || f.hash == ref.SHA256 {
		return f
	}
	if info, err := d.project.Dir.Stat(name); err != nil || !d.isOutdated(ctx, s, f, info.ModTime(), *ref) {
		return f
	}
	f = file{missing: true, err: fs.ErrNotExist}
	d.files[name] = f
	return f
}

// LayOutTexts writes the texts that a reply names where it names them, if they are only in a shared store.
func (d *Disk) LayOutTexts(ctx context.Context, s *standing.Standing, paths ...string) error {
	for _, name := range paths {
		if !d.project.IsShared() || !store.IsText(s.Session.SessionID, name) {
			continue
		}
		body, err := d.readStored(ctx, workflow.ContentRef{FilePath: name})
		if err != nil || d.readFile(name, int64(len(body))).hash == workflow.Hash([]byte(body)) {
			continue // a text that is gone is told elsewhere
		}
		if err := artifact.LayOut(d.project.Dir, name, body); err != nil {
			return err
		}
	}
	return nil
}

// isOutdated reports whether a working copy written at the given time precedes the newest round: it is an earlier
// round, the file handed in, the form of a report without any entries, or edits replaced and kept by a submission.
// A copy put back on purpose has a later time.
func (d *Disk) isOutdated(ctx context.Context, s *standing.Standing, work file, written time.Time, newest workflow.ContentRef) bool {
	if written.After(newest.LastUpdated) {
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
	was := d.readFile(name, 0)
	f, err := artifact.Work(s.TaskName, s.CurrentStage)
	d.writeLater(name, body, func() error {
		switch {
		case err != nil:
			return err
		case was.err != nil && !was.missing:
			return was.err
		case string(was.data) == body && was.err == nil: // the writer may have crashed before it was durable
			return d.project.Dir.SyncDir(path.Dir(name))
		}
		return artifact.SaveWork(d.project.Dir, f, body)
	})
}

// WorkFromArtifact makes the saved artifact the working copy of a reopened stage, if people have edited it since:
// the next round starts from it. A working copy with its own edits stays.
func (d *Disk) WorkFromArtifact(s *standing.Standing) {
	rec := s.Session.Current()
	if rec.Artifact == nil || rec.FinalResultRef == nil || !s.Saved[rec.Artifact.Path].Modified || s.Draft.Edited {
		return
	}
	if saved := d.readFile(rec.Artifact.Path, rec.Artifact.Size); saved.err == nil { // else the briefing names it, and it may be there again by then
		d.SaveWork(s.Session, string(saved.data))
	}
}
