package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Rounds end: after so many submissions below a gate, or so many reworks, the human
// decides whether it goes on.

// exhausted reports whether the submission that is being taken is the last one before
// the human is asked whether the stage goes on.
func (r run) exhausted(s *workflow.Session) bool {
	return roundsBelow(s)+1 >= r.project.Config.MaxIterations
}

// roundsBelow counts the current stage's submissions since the human last decided on it.
func roundsBelow(s *workflow.Session) int {
	n := 0
	for _, e := range slices.Backward(s.History) {
		switch {
		case e.Event == workflow.EventScoredBelow, e.Event == workflow.EventExhausted, e.Event == workflow.EventQuestioned:
			n++
		case e.Event == workflow.EventPolicyChanged, e.Event == workflow.EventAnswered, e.Action == workflow.ActionSubmit:
		default:
			return n
		}
	}
	return n
}

// reworkSpent reports whether the work has come back to dev as often as it may without
// the human saying why once more.
func (r run) reworkSpent(s *workflow.Session) bool {
	return r.stage(s).Gate == workflow.GateVerdict && s.ReworkCount >= r.project.Config.MaxRework
}

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
	some := missing[:min(len(missing), 20)]
	return fault.New(fault.InvalidArgument, "the report does not say what became of %s, open in the one before: %s",
		count(len(missing), "finding"), strings.Join(some, ", ")).
		WithHint(`list each under its id in "findings" with "status": "fixed", "open" or "withdrawn", and submit again`)
}

// findingIDs names findings by id and severity.
func findingIDs(findings []workflow.Finding) string {
	var ids []string
	for _, f := range findings[:min(len(findings), 10)] {
		ids = append(ids, strings.TrimSpace(f.ID+" "+f.Severity))
	}
	if more := len(findings) - len(ids); more > 0 {
		ids = append(ids, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(ids, ", ")
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

// progressText says the counts in words.
func progressText(p *workflow.Progress) string {
	if p == nil {
		return ""
	}
	text := fmt.Sprintf("Findings since the last report: %d fixed, %d still open, %d withdrawn, %d new.", p.Fixed, p.Open, p.Withdrawn, p.New)
	if p.Unchanged {
		text += " **No change since the last report**: the same findings, and no file of the project differs."
	}
	return text
}
