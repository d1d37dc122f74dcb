package documents

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Repair has the session's artifacts written that never were in this folder: the process was killed before it could
// write them, or this is another checkout. With all, also those that people have removed since. Files edited by
// people stay.
func (d *Disk) Repair(ctx context.Context, s *standing.Standing, all bool) {
	for _, st := range s.Workflow.Stages {
		rec := s.Session.Stages[st.ID]
		f, err := artifact.Saved(s.Session.TaskName, st.Artifact)
		if rec == nil || rec.Artifact == nil || rec.Artifact.Text == nil || err != nil || rec.Artifact.Path != f.Path() {
			continue
		}
		a := rec.Artifact
		now := d.readFile(a.Path, a.Size)
		switch {
		case now.err != nil && !now.missing: // something else is in the file's place
			d.Unwritten = append(d.Unwritten, a.Path)
		case !lacksText(*a, now), !all && !d.neverWrote(s.Session, *a):
		case now.missing && s.Session.Accepted(workflow.Alteration{Stage: st.ID, Path: a.Path, Missing: true}, s.Integrity):
		default:
			if body, ok := d.readArtifact(ctx, s.Session, st); ok {
				d.saveLater(f, *a, body)
			}
		}
	}
}

// Pending returns the text of an artifact that was never written in this folder. It is an error for another one.
func (d *Disk) Pending(ctx context.Context, s *workflow.Session, st workflow.Stage) ([]byte, error) {
	a := s.Record(st.ID).Artifact
	body, ok := "", d.isPending(s, *a, d.readFile(a.Path, a.Size))
	if ok {
		body, ok = d.readArtifact(ctx, s, st)
	}
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(body), nil
}

// neverWrote reports whether an artifact was never written in this folder. A removal, or a switch to another branch,
// leaves the mark of [Disk.noteWritten]. Older programs made none.
func (d *Disk) neverWrote(s *workflow.Session, a workflow.Artifact) bool {
	return (a.Marked || d.project.IsShared()) && !d.project.Dir.Exists(artifact.MarkPath(s.TaskName, a))
}

// noteWritten marks an artifact as written in this folder, if its file is there. A lost mark costs a repair.
func (d *Disk) noteWritten(s *workflow.Session, a workflow.Artifact) {
	mark := artifact.MarkPath(s.TaskName, a)
	if d.project.Dir.Exists(mark) || d.readFile(a.Path, a.Size).hash != a.SHA256 {
		return
	}
	if _, err := d.project.Dir.MkdirAll(path.Dir(mark)); err != nil {
		return
	}
	if f, err := d.project.Dir.Create(mark); err == nil {
		_ = f.Close()
	}
}

// readArtifact returns the text of an artifact in the store; ok is false if it is not the saved text, or not made
// of the approved document. Of a report it cannot be known: an artifact has the rows as tables.
func (d *Disk) readArtifact(ctx context.Context, s *workflow.Session, st workflow.Stage) (body string, ok bool) {
	rec := s.Record(st.ID)
	body, err := d.readText(ctx, *rec.Artifact.Text)
	if err != nil || workflow.Hash([]byte(body)) != rec.Artifact.SHA256 {
		return "", false
	}
	if st.Gate == workflow.GateVerdict || rec.FinalResultRef == nil {
		return body, true
	}
	document, err := d.readText(ctx, *rec.FinalResultRef)
	if err != nil {
		return body, false
	}
	if added := s.Stages[st.Appends]; added != nil && added.FinalResultRef != nil {
		report, err := d.readText(ctx, *added.FinalResultRef)
		appended, _ := s.Definition().Stage(st.Appends)
		if document = appendReport(document, appended, report); err != nil {
			return body, false
		}
	}
	return body, slices.ContainsFunc(append(notesAbove(s, st), ""), func(note string) bool {
		return strings.TrimRight(body, "\n") == strings.TrimRight(note+document, "\n")
	})
}

// notesAbove returns the possible notes above the artifact of a stage: about the last override, in each language.
func notesAbove(s *workflow.Session, st workflow.Stage) (out []string) {
	for _, e := range slices.Backward(s.History) {
		if g := e.Grant; g != nil && e.FromStage() == st.ID && g.Decision == workflow.DecisionOverride {
			for _, l := range lang.All() {
				out = append(out, words.OverrideNote(l, st, s.Record(st.ID), *g))
			}
			break
		}
	}
	return out
}
