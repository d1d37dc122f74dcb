package documents

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Repair has the files written that the session has and this folder lacks: its process was killed
// between the two, or this is another checkout. Files that people have edited stay.
func (d *Disk) Repair(ctx context.Context, s *standing.Standing) {
	for _, st := range s.Workflow.Stages {
		a := s.Record(st.ID).Artifact
		if a == nil || a.Text == nil || a.Path != artifact.Path(s.TaskName, st.Artifact) || !s.CurrentState.Active() && !a.SavedAt.Equal(s.UpdatedAt) {
			continue
		}
		gone := workflow.Alteration{Stage: st.ID, Path: a.Path, Missing: true}
		f := d.read(a.Path, a.Size)
		replaced := f.hash != "" && f.hash == a.Replaces && f.hash != a.SHA256
		if lacks := f.missing && !f.there && !s.Accepted(gone, s.Integrity); !lacks && !replaced {
			continue
		}
		if body, err := d.text(ctx, *a.Text); err == nil && workflow.Hash([]byte(body)) == a.SHA256 {
			d.later(a.Path, body, func() error {
				_, err := artifact.Save(d.project.Dir, *a, body, a.Replaces)
				return err
			})
		}
	}
	d.LayOut(ctx, s)
}
