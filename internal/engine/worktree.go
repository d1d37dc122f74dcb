package engine

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// fingerprint returns a fingerprint of the project's files without the documents of the
// session, "" where there is none, and what it would be if nothing had changed since the
// stage's previous report.
func (r *run) fingerprint(s *standing.Standing) (now, same string) {
	documents, last := map[string]time.Time{}, time.Time{}
	for _, e := range s.History {
		for _, source := range e.Sources {
			if _, known := documents[source]; !known { // from the first time on
				documents[source] = e.At
			}
		}
		if e.Action == workflow.ActionSubmit && e.FromStage() == s.CurrentStage {
			last = e.At
		}
	}
	for _, source := range r.req.sources(r.project, s) {
		if _, known := documents[source]; !known {
			documents[source] = r.Now()
		}
	}
	return r.project.Fingerprint(documents, last)
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
