package store

import (
	"path"

	"bmad-mcp/internal/workflow"
)

// upgrade fills in what a session of format 0, written by the Node server, says in
// another way: which stage a saved artifact is of stands only in its file name. The
// document of its current stage is taken over by the engine, which can store it.
func upgrade(s *workflow.Session) {
	for _, st := range workflow.Default().Stages {
		for _, saved := range s.Artifacts {
			if rec := s.Record(st.ID); rec.Artifact == nil && st.Artifact != "" && path.Base(saved) == st.Artifact {
				rec.Artifact = &workflow.Artifact{Path: saved, SavedAt: s.UpdatedAt}
			}
		}
	}
}
