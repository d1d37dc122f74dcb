package documents

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/verdict"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// SaveArtifact saves the current stage's document as its deliverable. It returns
// the path of an earlier one that was edited since.
func (d *Disk) SaveArtifact(ctx context.Context, tx store.Tx, s *standing.Standing, grant workflow.Grant, at time.Time) (kept string, err error) {
	rec, st := s.Current(), s.Stage
	if st.Artifact == "" {
		return "", nil
	}
	if rec.FinalResultRef == nil {
		return "", fault.New(fault.Storage, "the session has no document for stage %q", st.ID).
			WithHint("send it back (confirm or approve with false) and submit it again")
	}
	body, err := d.readScored(ctx, s, *rec.FinalResultRef)
	if err != nil {
		return "", err
	}
	decided := cmp.Or(grant.SHA256, rec.FinalResultRef.SHA256)
	if decided != "" && workflow.Hash([]byte(body)) != decided {
		return "", words.EditedDraft(s)
	}
	if body, err = d.compose(ctx, s, st, body, &grant); err != nil {
		return "", err
	}
	saved, err := artifact.Save(d.project.Dir, s.TaskName, st.Artifact, body, rec.Artifact, at)
	if saved.Undo != nil {
		tx.OnFailure(func() {
			saved.Undo()
			delete(d.files, saved.Path)
		})
	}
	if err != nil {
		return "", err
	}
	d.files[saved.Path] = file{there: true, hash: saved.SHA256, size: saved.Size}
	s.SetArtifact(s.Workflow, st.ID, saved.Artifact)
	return saved.Kept, nil
}

// compose returns the artifact of a stage: its document, with all that belongs to it. grant is the
// decision by which it is saved; nil for none.
func (d *Disk) compose(ctx context.Context, s *standing.Standing, st workflow.Stage, body string, grant *workflow.Grant) (string, error) {
	rec := s.Record(st.ID)
	if st.Gate == workflow.GateVerdict {
		if verdict.TablesIn(body) == "" { // a report of an older server
			body = strings.TrimRight(body, "\n") + "\n\n" + verdict.Tables(s.Documents, rec)
		}
		body = verdict.Artifact(body, st.Keys) + "\n"
	}
	if st.Appends != "" {
		// The work under review belongs to the review: its report is only run state otherwise.
		if ref := s.Record(st.Appends).FinalResultRef; ref != nil {
			appended, _ := s.Workflow.Stage(st.Appends)
			report, err := d.text(ctx, *ref)
			if err != nil {
				return "", err
			}
			body = strings.TrimRight(body, "\n") + "\n\n---\n\n<!-- the " + appended.DocumentName + " that was reviewed -->\n\n" + report
		}
	}
	if grant != nil && grant.Decision == workflow.DecisionOverride {
		body = words.OverrideNote(s.Language, st, rec, *grant) + body
	}
	return body, nil
}
