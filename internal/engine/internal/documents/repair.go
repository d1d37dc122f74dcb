package documents

import (
	"context"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Repair has the files written that the session has and this folder lacks: its process was killed
// between the two, or this is another checkout. Of a run that has ended it is the document of its last
// step, unless all are asked for: the others may have been cleared away. Files that people have edited stay.
func (d *Disk) Repair(ctx context.Context, s *standing.Standing, all bool) {
	for _, st := range s.Workflow.Stages {
		a := s.Session.Record(st.ID).Artifact
		f, err := artifact.Saved(s.Session.TaskName, st.Artifact)
		switch {
		case a == nil, a.Text == nil, err != nil, a.Path != f.Path():
			continue
		case !all && !s.Session.CurrentState.Active() && s.Session.Last().FromStage() != st.ID:
			continue
		case !d.lacks(s, st.ID, *a):
			continue
		}
		if body, ok := d.readArtifact(ctx, s.Session, st); ok {
			d.saveLater(f, *a, body)
		}
	}
	d.LayOut(ctx, s)
}

// readArtifact returns the text of an artifact that the store has; ok is false if it is not the one that was saved, or not
// made of the document that was approved. Of a report nothing can be told: an artifact has its rows as tables.
func (d *Disk) readArtifact(ctx context.Context, s *workflow.Session, st workflow.Stage) (body string, ok bool) {
	rec := s.Record(st.ID)
	body, err := d.text(ctx, *rec.Artifact.Text)
	if err != nil || workflow.Hash([]byte(body)) != rec.Artifact.SHA256 {
		return "", false
	}
	if st.Gate == workflow.GateVerdict || rec.FinalResultRef == nil {
		return body, true
	}
	document, err := d.text(ctx, *rec.FinalResultRef)
	if err != nil {
		return body, false
	}
	if ref := s.Record(st.Appends).FinalResultRef; st.Appends != "" && ref != nil {
		report, err := d.text(ctx, *ref)
		appended, _ := s.Definition().Stage(st.Appends)
		if document = appendReport(document, appended, report); err != nil {
			return body, false
		}
	}
	return body, slices.ContainsFunc(append(notesAbove(s, st), ""), func(note string) bool {
		return strings.TrimRight(body, "\n") == strings.TrimRight(note+document, "\n")
	})
}

// notesAbove returns the notes that can stand above the artifact of a stage: by its last override, in each language.
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

// lacks reports whether the file of an artifact is not there, or still the one that it replaces.
func (d *Disk) lacks(s *standing.Standing, stage workflow.StageID, a workflow.Artifact) bool {
	f := d.read(a.Path, a.Size)
	switch {
	case f.missing && !f.there:
		return !s.Session.Accepted(workflow.Alteration{Stage: stage, Path: a.Path, Missing: true}, s.Integrity)
	case f.err != nil: // something else is in its place
		d.Unwritten = append(d.Unwritten, a.Path)
	}
	return f.hash != "" && f.hash == a.Replaces && f.hash != a.SHA256
}
