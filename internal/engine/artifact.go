package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// saveArtifact saves the current stage's document as its deliverable. It returns
// where an earlier one that was edited since is kept.
func (r run) saveArtifact(ctx context.Context, tx store.Tx, s *workflow.Session, st workflow.Stage, grant workflow.Grant) (kept string, err error) {
	rec := s.Current()
	if st.Artifact == "" {
		return "", nil
	}
	if rec.FinalResultRef == nil {
		return "", fault.New(fault.Storage, "the session has no document for stage %q", st.ID).
			WithHint("send it back (confirm or approve with false) and submit it again")
	}
	body, err := r.scored(ctx, s, *rec.FinalResultRef)
	if err != nil {
		return "", err
	}
	decided := cmp.Or(grant.SHA256, rec.FinalResultRef.SHA256)
	if decided != "" && workflow.Hash([]byte(body)) != decided {
		return "", r.changedSince(s)
	}
	body = withRows(body, rec)
	if st.Appends != "" {
		// What was reviewed belongs to the review: the report itself is run state otherwise.
		if ref := s.Record(st.Appends).FinalResultRef; ref != nil {
			appended, _ := r.workflow(s).Stage(st.Appends)
			report, err := r.project.Texts.Read(ctx, *ref)
			if err != nil {
				return "", err
			}
			body = strings.TrimRight(body, "\n") + "\n\n---\n\n<!-- the " + appended.DocumentName + " that was reviewed -->\n\n" + report
		}
	}
	if grant.Decision == workflow.DecisionOverride {
		body = overrideNote(st, rec, grant) + body
	}
	saved, err := artifact.Save(r.project.Dir, s.TaskName, st.Artifact, body, rec.Artifact, r.Now())
	if saved.Undo != nil {
		tx.OnFailure(saved.Undo)
	}
	if err != nil {
		return "", err
	}
	s.SetArtifact(r.workflow(s), st.ID, saved.Artifact)
	return saved.Kept, nil
}

// editsNote tells the human where edits of theirs are that a submission did not take.
func editsNote(kept string) string {
	if kept == "" {
		return ""
	}
	return "The working copy had edits that this submission did not take; they are kept as `" + kept + "`.\n\n"
}

// keptNote tells the human where their edited version of an artifact is.
func keptNote(kept string) string {
	if kept == "" {
		return ""
	}
	return "\nYour edited version is kept as `" + kept + "`."
}

// withRows appends the findings and criteria that came beside the document and
// are not in its text: the session file that has them is not in the repository.
func withRows(body string, rec *workflow.Record) string {
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

// overrideNote heads a document that the human let go on though its gate had not.
// It gives the day and not the minute, so that a decision repeated after a crash
// writes the same document.
func overrideNote(st workflow.Stage, rec *workflow.Record, grant workflow.Grant) string {
	what := fmt.Sprintf("the %s failed this work", st.Role)
	switch {
	case st.Gate == workflow.GateScore:
		what = "it had not reached its gate in " + count(rec.Iteration, "round")
	case rec.Doubted():
		what = fmt.Sprintf("the %s stated a pass, but %s;", st.Role, strings.Join(rec.Objections, "; "))
	case rec.Verdict == workflow.Blocked:
		what = fmt.Sprintf("the %s was blocked", st.Role)
	}
	note := fmt.Sprintf("> **Risk accepted** on %s: %s and the human let it go on.", grant.At.Format(time.DateOnly), what)
	if words := strings.Join(strings.Fields(grant.Feedback), " "); words != "" {
		note += " Their words: “" + words + "”"
	}
	return note + "\n\n"
}

func taskFolder(s *workflow.Session) string { return artifact.TaskFolder(s.TaskName) + "/" }

// artifactPath returns where a stage's artifact is or will be, relative to the project.
func (r run) artifactPath(s *workflow.Session, st workflow.Stage) string {
	if st.Artifact == "" {
		return ""
	}
	return artifact.Path(s.TaskName, st.Artifact)
}
