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

// Repair has the session's missing files written: the process was killed before it could write them, or this is
// another checkout. Of an ended run it writes only the document of the last step, unless all is set: the user may
// have cleared the others away. Files edited by people stay.
func (d *Disk) Repair(ctx context.Context, s *standing.Standing, all bool) {
	for _, st := range s.Workflow.Stages {
		a := s.Session.Record(st.ID).Artifact
		f, err := artifact.Saved(s.Session.TaskName, st.Artifact)
		switch {
		case a == nil, a.Text == nil, err != nil, a.Path != f.Path():
			continue
		case !all && !s.Session.CurrentState.Active() && s.Session.Last().FromStage() != st.ID:
			continue
		case !d.lacksArtifact(s, st.ID, *a):
			continue
		}
		if body, ok := d.readArtifact(ctx, s.Session, st); ok {
			d.saveLater(f, *a, body)
		}
	}
	d.LayOut(ctx, s)
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
	if ref := s.Record(st.Appends).FinalResultRef; st.Appends != "" && ref != nil {
		report, err := d.readText(ctx, *ref)
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

// lacksArtifact reports whether the file of an artifact is missing, or has the text before it.
func (d *Disk) lacksArtifact(s *standing.Standing, stage workflow.StageID, a workflow.Artifact) bool {
	f := d.readFile(a.Path, a.Size)
	switch {
	case f.missing && !f.there:
		return !s.Session.Accepted(workflow.Alteration{Stage: stage, Path: a.Path, Missing: true}, s.Integrity)
	case f.err != nil: // something else is in the file's place
		d.Unwritten = append(d.Unwritten, a.Path)
	}
	return f.hash != "" && f.hash == a.Replaces && f.hash != a.SHA256
}
