package documents

import (
	"cmp"
	"context"
	"path"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// SaveArtifact makes the current stage's document the deliverable. [Disk.Settle] writes the file once the session
// is stored.
func (d *Disk) SaveArtifact(ctx context.Context, tx store.Tx, s *standing.Standing, grant workflow.Grant, at time.Time) error {
	rec, st := s.Session.Current(), s.Stage
	if st.Artifact == "" {
		return nil
	}
	if rec.FinalResultRef == nil {
		return fault.New(fault.Storage, "the run has no document for stage %q", st.ID).
			WithHint("send it back (confirm or approve with false) and submit it again")
	}
	body, err := d.readScored(ctx, s.Draft.Work, *rec.FinalResultRef)
	if err != nil {
		return err
	}
	decided := cmp.Or(grant.SHA256, rec.FinalResultRef.SHA256)
	if decided != "" && workflow.Hash([]byte(body)) != decided {
		return words.EditedDraft(s)
	}
	if body, err = d.composeArtifact(ctx, s, st, body, &grant); err != nil {
		return err
	}
	f, err := artifact.Saved(s.Session.TaskName, st.Artifact)
	if err != nil {
		return err
	}
	saved, body := artifact.New(f, body, at)
	if rec.Artifact != nil {
		saved.Replaces = rec.Artifact.SHA256
	}
	ref := *rec.FinalResultRef
	if ref.SHA256 != saved.SHA256 {
		refs, err := tx.Put(ctx, []store.Text{{Stage: st.ID, Kind: "artifact", Body: body, At: at}})
		if err != nil {
			return err
		}
		ref = refs[0]
	}
	saved.Text, saved.Marked = &ref, true
	d.saveLater(f, saved, body)
	s.Session.SetArtifact(s.Workflow, st.ID, saved)
	return nil
}

// composeArtifact returns the artifact of a stage: the document and the parts around it. grant is the decision to
// save it; nil for none.
func (d *Disk) composeArtifact(ctx context.Context, s *standing.Standing, st workflow.Stage, body string, grant *workflow.Grant) (string, error) {
	rec := s.Session.Record(st.ID)
	if st.Gate == workflow.GateVerdict {
		if verdict.TablesIn(body) == "" { // a report of an older server
			body = strings.TrimRight(body, "\n") + "\n\n" + verdict.Tables(s.Documents, rec)
		}
		body = verdict.Artifact(body, st.Keys) + "\n"
	}
	if st.Appends != "" {
		// The reviewed work belongs to the review: otherwise its report is only run state.
		if ref := s.Session.Record(st.Appends).FinalResultRef; ref != nil {
			appended, _ := s.Workflow.Stage(st.Appends)
			report, err := d.readScored(ctx, artifact.WorkPath(s.Session.TaskName, st.Appends), *ref)
			if err != nil {
				return "", err
			}
			body = appendReport(body+listRounds(s, st.Appends), appended, report)
		}
	}
	if grant != nil && grant.Decision == workflow.DecisionOverride {
		body = words.OverrideNote(s.Language, st, rec, *grant) + body
	}
	return body, nil
}

// listRounds names the report and the files of every round of a build, since only the newest report is in the artifact;
// "" for one round.
func listRounds(s *standing.Standing, build workflow.StageID) string {
	var lines []string
	for _, e := range s.Session.History {
		if e.FromStage() != build || e.Event != workflow.EventDelivered {
			continue
		}
		// The path of a round has the time of its writing, which another attempt at the same step does not have.
		line := s.Documents.Say("- Round %d, report %.12s", e.Iteration, e.SHA256)
		if len(e.Files) > 0 {
			line += ": `" + strings.Join(e.Files, "`, `") + "`"
		}
		lines = append(lines, line)
	}
	if len(lines) < 2 {
		return ""
	}
	return "\n## " + s.Documents.Say("Rounds of the work") + "\n\n" + strings.Join(lines, "\n") + "\n"
}

// appendReport returns a document with the one of another stage behind it.
func appendReport(document string, appended workflow.Stage, report string) string {
	return strings.TrimRight(document, "\n") + "\n\n---\n\n<!-- the " + appended.DocumentName + " that was reviewed -->\n\n" + report
}

// Restore puts altered texts back as they were approved: from the record of the submission, the working copy or
// the artifact, whichever still has the approved text. A text found in none of them is left alone, and returned as
// an error after the others. said names the restored ones.
func (d *Disk) Restore(ctx context.Context, s *standing.Standing, at time.Time) (said string, err error) {
	var lost []string
	for _, a := range s.Altered {
		f, body, ok := d.asApproved(ctx, s, a)
		if !ok {
			lost = append(lost, a.Path)
			continue
		}
		kept := ""
		if a.Record {
			err = artifact.SaveWork(d.project.Dir, f, body)
		} else {
			saved := *s.Session.Record(a.Stage).Artifact
			saved.SavedAt = at // of the copy of an edited one
			kept, err = artifact.Save(d.project.Dir, f, saved, body, saved.SHA256)
		}
		if err != nil {
			return "", err
		}
		said += s.Say("`%s` is again as it was approved.", a.Path)
		if kept != "" {
			said += " " + s.Say("The edited one is kept as `%s`.", kept)
		}
		said += "\n"
		delete(d.files, a.Path)
		delete(d.texts, a.Path)
	}
	if len(lost) > 0 {
		err = fault.New(fault.NotFound, "the approved text of %s is nowhere in the project any more", strings.Join(lost, ", ")).
			WithHint("restore it from version control or a backup, or accept it as it is: %s adopt %s", s.Names.Program, s.Session.TaskName)
	}
	return said, err
}

// asApproved returns an altered text as it was approved, and the file to write; ok is false if the text is lost.
// Paths come from the session's file, so only the paths of such texts count.
func (d *Disk) asApproved(ctx context.Context, s *standing.Standing, a workflow.Alteration) (f artifact.File, body string, ok bool) {
	st, _ := s.Workflow.Stage(a.Stage)
	rec := s.Session.Record(a.Stage)
	ref := rec.FinalResultRef
	if a.Record && rec.ApprovedScope != nil && rec.ApprovedScope.FilePath == a.Path {
		ref = rec.ApprovedScope
	}
	f, err := artifact.Saved(s.Session.TaskName, st.Artifact)
	if a.Record {
		f, err = artifact.In(store.ContentFolder(s.Session.SessionID), path.Base(a.Path))
	}
	isUnsaved := !a.Record && rec.Artifact == nil
	if ref == nil || err != nil || a.Path != f.Path() || isUnsaved {
		return f, "", false
	}
	_, grant := s.Grant(a.Stage)
	candidates := []string{string(d.readFile(artifact.WorkPath(s.Session.TaskName, a.Stage), 0).data)}
	if record, err := d.readText(ctx, *ref); err == nil {
		candidates = append(candidates, record)
	}
	if rec.Artifact != nil {
		candidates = append(candidates, string(d.readFile(rec.Artifact.Path, rec.Artifact.Size).data))
	}
	for _, text := range candidates {
		switch {
		case a.Record:
			body, ok = text, workflow.Hash([]byte(text)) == ref.SHA256
		default:
			var err error
			body, err = d.composeArtifact(ctx, s, st, text, grant)
			_, body = artifact.New(f, body, rec.Artifact.SavedAt)
			ok = err == nil && workflow.Hash([]byte(body)) == rec.Artifact.SHA256
		}
		if ok {
			return f, body, true
		}
	}
	return f, "", false
}
