package documents

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// SaveArtifact saves the current stage's document as its deliverable. It returns
// where an earlier one that was edited since is kept.
func (d *Disk) SaveArtifact(ctx context.Context, tx store.Tx, s *standing.Standing, grant workflow.Grant, at time.Time) (kept string, err error) {
	rec, st := s.Current(), s.Stage
	if st.Artifact == "" {
		return "", nil
	}
	if rec.FinalResultRef == nil {
		return "", fault.New(fault.Storage, "the session has no document for stage %q", st.ID).
			WithHint("send it back (confirm or approve with false) and submit it again")
	}
	body, err := d.scored(ctx, s, *rec.FinalResultRef)
	if err != nil {
		return "", err
	}
	decided := cmp.Or(grant.SHA256, rec.FinalResultRef.SHA256)
	if decided != "" && workflow.Hash([]byte(body)) != decided {
		return "", gate.Edited(s)
	}
	body = WithRows(body, rec)
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
	if grant.Decision == workflow.DecisionOverride {
		body = words.OverrideNote(s.Language, st, rec, grant) + body
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

// WithRows appends the findings and criteria that came beside the document and
// are not in its text: the session file that has them is not in the repository.
func WithRows(body string, rec *workflow.Record) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(body, "\n") + "\n")
	if slices.ContainsFunc(rec.Findings, func(f workflow.Finding) bool { return !strings.Contains(body, f.ID) }) {
		b.WriteString("\n## Findings\n\n| Id | Severity | File | Problem | Fix | Status |\n|---|---|---|---|---|---|\n")
		for _, f := range rec.Findings {
			status := f.Status
			if f.Open() {
				status = "open"
			}
			b.WriteString(row(f.ID, f.Severity, f.File, f.Problem, f.Fix, status))
		}
	}
	if slices.ContainsFunc(rec.Criteria, func(c workflow.Criterion) bool { return !strings.Contains(body, c.ID) }) {
		b.WriteString("\n## Criteria\n\n| Id | Criterion | Result | Evidence |\n|---|---|---|---|\n")
		for _, c := range rec.Criteria {
			b.WriteString(row(c.ID, c.Criterion, c.Result, c.Evidence))
		}
	}
	return b.String()
}

func row(cells ...string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.Join(strings.Fields(c), " "), "|", "\\|")
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
