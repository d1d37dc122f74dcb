package engine

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Rounds end: after so many submissions below a gate, or so many reworks, the human
// decides whether it goes on.

// followsUp refuses a report that leaves out what became of findings that were open in
// the one before: they would be lost without anyone having said that they are mended.
func followsUp(rec *workflow.Record, a score.Assessment) error {
	var missing []string
	for _, f := range workflow.OpenFindings(rec.Findings) {
		if !slices.ContainsFunc(a.Findings, func(g workflow.Finding) bool { return g.ID == f.ID }) {
			missing = append(missing, f.ID)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return words.Unfollowed(missing)
}

// progress compares a report's findings with those of the one before; nil where that
// had none.
func progress(before *workflow.Record, after []workflow.Finding, sameTree string) *workflow.Progress {
	if len(before.Findings) == 0 {
		return nil
	}
	var p workflow.Progress
	for _, f := range after {
		i := slices.IndexFunc(before.Findings, func(g workflow.Finding) bool { return g.ID == f.ID })
		switch {
		case i < 0:
			p.New++
		case !before.Findings[i].Open() && !f.Open(): // told before
		case f.Open():
			p.Open++
		case f.Status == "withdrawn":
			p.Withdrawn++
		default:
			p.Fixed++
		}
	}
	p.Unchanged = sameTree != "" && sameTree == before.WorkTree && p.Open > 0 && p.New+p.Fixed+p.Withdrawn == 0
	return &p
}
