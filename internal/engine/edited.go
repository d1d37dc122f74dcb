package engine

import (
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// People edit the working copy while it waits at a gate. A draft that was changed is not
// what was scored, so no decision saves it; it can be submitted again from its path
// instead, which is the one submission a gate takes.

// notStale refuses a stage's own document from before an earlier stage was reopened,
// submitted from where it stands unchanged: it cannot have taken the change into account.
func (q *Request) notStale(p *project.Project, s *standing.Standing) error {
	rec := s.Current()
	if rec.Artifact == nil || !rec.Artifact.Stale {
		return nil
	}
	for _, result := range q.results(s) {
		given := p.Local(result.Path)
		saved := s.Saved[given]
		stale := given == rec.Artifact.Path && !saved.Missing && !saved.Modified
		if ref := rec.FinalResultRef; stale || ref != nil && (given == ref.FilePath || given == s.Draft.Path) && !s.Draft.Edited {
			return words.FromBefore(given)
		}
	}
	return nil
}

// sameAsBefore says so where a submission is word for word the stage's document of the round
// before, so that the person who decides on it knows.
func sameAsBefore(rec *workflow.Record, sub *submission) []string {
	if rec.FinalResultRef == nil || workflow.Hash([]byte(sub.assessment.Document+"\n")) != rec.FinalResultRef.SHA256 {
		return nil
	}
	return []string{words.SameAsBefore(rec.Artifact != nil && rec.Artifact.Stale)}
}

// sources are the files of the project that the call hands in.
func (q *Request) sources(p *project.Project, s *standing.Standing) []string {
	var out []string
	for _, result := range q.results(s) {
		if result.Path != "" && q.Action == workflow.ActionSubmit {
			out = append(out, p.Local(result.Path))
		}
	}
	return out
}
