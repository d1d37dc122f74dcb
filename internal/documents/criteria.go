package documents

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/verdict"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// GatherCriteria reads the criteria of a session from its documents, if a report owes them or a
// decision is about them.
func (d *Disk) GatherCriteria(ctx context.Context, s *standing.Standing) {
	judges := s.Stage.Gate == workflow.GateVerdict
	if !s.CurrentState.Active() || !judges && !s.CurrentState.Gated() {
		return
	}
	plan, _ := s.Workflow.OfKind(workflow.KindPlan)
	build, _ := s.Workflow.OfKind(workflow.KindBuild)
	// A report judges the sprints of the last build, and those that were built before and have not passed.
	src := verdict.Sources{Sprints: s.Sprints, InScope: s.OpenSprints(workflow.SprintImplemented)}
	if build.ID != "" {
		src.InScope = append(src.InScope, s.Record(build.ID).Scope...)
	}
	if plan.ID != "" {
		src.Approved = s.Record(plan.ID).Approved
	}
	for _, st := range s.Workflow.Stages {
		rec := s.Record(st.ID)
		if rec.ApprovedScope != nil {
			text, same := d.readApproved(ctx, s, *rec.ApprovedScope)
			src.Requirements, src.Changed = append(src.Requirements, text), src.Changed || !same
		}
		if st.ID == s.CurrentStage && judges {
			break
		}
		if rec.FinalResultRef == nil || rec.FinalResultRef == rec.ApprovedScope {
			continue
		}
		text, same := d.readApproved(ctx, s, *rec.FinalResultRef)
		scoping := st.ID == s.CurrentStage && s.Workflow.Scoping(s.Session)
		switch {
		case st.Kind == workflow.KindDocument || scoping:
			src.Requirements, src.Changed = append(src.Requirements, text), src.Changed || !same
		case st.Kind == workflow.KindPlan:
			src.Plan, src.Changed = text, src.Changed || !same
		default:
			src.Others = append(src.Others, text)
		}
		if st.ID == s.CurrentStage {
			break
		}
	}
	if src.Plan != "" { // may define criteria if no other document does
		src.Requirements = append(src.Requirements, src.Plan)
	}
	s.Criteria = verdict.ReadCriteria(src)
}

// readApproved returns the text of a round as it was handed in, from its artifact if its record was
// changed since; same is false if neither is that text.
func (d *Disk) readApproved(ctx context.Context, s *standing.Standing, ref workflow.ContentRef) (text string, same bool) {
	fits := func(text string) bool { return ref.SHA256 == "" || workflow.Hash([]byte(text)) == ref.SHA256 }
	text, err := d.text(ctx, ref)
	if err == nil && fits(text) {
		return text, true
	}
	for _, rec := range s.Stages {
		if rec == nil || rec.Artifact == nil {
			continue
		}
		if f := d.read(rec.Artifact.Path, rec.Artifact.Size); f.hash == ref.SHA256 {
			return string(f.data), true
		}
	}
	return text, false
}
