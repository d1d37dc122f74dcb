package documents

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/trace"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// GatherTrace gathers the facts of which a trace is made: the documents as the gates read them, and the reports that
// owe rows for criteria.
func (d *Disk) GatherTrace(ctx context.Context, s *workflow.Session, found workflow.Verification) trace.Facts {
	w := s.Definition()
	st := &standing.Standing{Session: s, Workflow: w, Stage: w.Current(s), Integrity: found, Tasks: artifact.TaskFolder(s.TaskName) + "/"}
	src := d.gatherSources(ctx, st)
	out := trace.Facts{Criteria: criteriaOf(src), Sprints: s.Sprints}
	for i, text := range src.Requirements {
		out.Documents = append(out.Documents, trace.Document{Stage: src.Stages[i], Text: text})
	}
	if src.Plan != "" {
		out.Documents = append(out.Documents, trace.Document{Stage: src.PlanStage, Text: src.Plan, IsPlan: true})
	}
	for _, stage := range w.Stages {
		rec := s.Record(stage.ID)
		if stage.Kind != workflow.KindVerdict || len(rec.Criteria) == 0 {
			continue
		}
		st.Stage, st.Draft.Work = stage, artifact.WorkPath(s.TaskName, stage.ID)
		lines := d.CountLines(st, verdict.Report{Criteria: rec.Criteria})
		text := ""
		if rec.FinalResultRef != nil {
			text, _ = d.readApproved(ctx, st, stage.ID, *rec.FinalResultRef)
		}
		out.Reports = append(out.Reports, trace.Report{Stage: stage.ID, Record: rec, Text: text, Stale: rec.Status == workflow.Pending, Lines: lines})
	}
	return out
}
