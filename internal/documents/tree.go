package documents

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Fingerprint returns a fingerprint of the project's files without the documents of the
// session, "" where there is none, and what it would be if nothing had changed since the
// stage's previous report. sources are the files that are handed in at the given time.
func (d *Disk) Fingerprint(s *standing.Standing, sources []string, at time.Time) (now, same string) {
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
	for _, source := range sources {
		if _, known := documents[source]; !known {
			documents[source] = at
		}
	}
	return d.project.Fingerprint(documents, last)
}
