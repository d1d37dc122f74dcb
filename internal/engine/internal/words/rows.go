package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Rows counts the rows of a report; "" if it has none.
func Rows(l lang.Language, rows []workflow.Criterion) string { return verdict.CountRows(rows).Text(l) }

// unpassedRows returns the rows of a report without a pass, the failed ones first, each with the evidence or the
// reason.
func unpassedRows(l lang.Language, rec *workflow.Record) []string {
	var out []string
	for _, c := range verdict.WorstFirst(rec.Criteria) {
		if c.Result == workflow.ResultFail || c.Result == workflow.ResultNotTested {
			out = append(out, criterionLine(l, c))
		}
	}
	return out
}

// judgedBy names the basis of a report's rows, if a person would want to know it.
func judgedBy(s *standing.Standing, rec *workflow.Record) string {
	if n := verdict.SameEvidence(rec.Criteria); n > 0 {
		return s.Say("%d rows have the same evidence.", n)
	}
	return ""
}

func describeReturn(s *standing.Standing) string {
	said := s.Say("The report was returned to the %s: it is incomplete.", s.Word(s.Stage.Role))
	if s.Session.CurrentState == workflow.AwaitingApproval {
		said = s.Say("The report was returned %d times and is still incomplete, so it has no verdict.", workflow.MaxReturns)
	}
	return said
}

// maxPlaces is how many places of criteria a sentence names.
const maxPlaces = 12

// found says how many criteria a document has and where, and which differ from the round before.
func found(s *standing.Standing, c *verdict.Criteria) string {
	places := c.Places()
	var where []string
	for _, p := range places[:min(len(places), maxPlaces)] {
		where = append(where, visible.Line(p.Name)+" "+strconv.Itoa(p.Criteria))
	}
	if more := len(places) - len(where); more > 0 {
		where = append(where, fmt.Sprintf("+%d", more))
	}
	said := s.Say("%d criteria, and QA owes a row for each: %s.", len(c.All), strings.Join(where, s.Say(", ")))
	if s.Draft.Changes == nil {
		return said
	}
	d := s.Draft.Changes.Criteria
	if len(d.Came) > 0 {
		said += " " + s.Say("New: %s.", verdict.List(d.Came))
	}
	if len(d.Went) > 0 {
		said += " " + s.Say("Gone: %s.", verdict.List(d.Went))
	}
	if len(d.Changed) > 0 {
		said += " " + s.Say("Changed: %s.", verdict.List(d.Changed))
	}
	return said
}

// Coverage says at a document of requirements which criteria it has, and at a plan which of them it leaves out, and
// which no sprint names; and if no document names any, that a report then owes none.
func Coverage(s *standing.Standing) string {
	judges := func(st workflow.Stage) bool {
		return st.Gate == workflow.GateVerdict && st.Owed() == workflow.OwesCriteria
	}
	switch c := s.Criteria; {
	case c == nil || !slices.ContainsFunc(s.Workflow.Stages, judges):
		return ""
	case len(c.All) == 0 && len(s.Session.Record(s.Session.CurrentStage).Verdict) == 0:
		return s.Say("No criterion can be read in any document, so QA owes no row: a pass rests on the commands in its report alone.")
	case c.InHand():
		return found(s, c)
	case s.Stage.Kind != workflow.KindPlan:
		return ""
	default:
		var parts []string
		if left := c.LeftOut(); len(left) > 0 {
			parts = append(parts, s.Say("It leaves out %d of %d criteria, which your approval waives: %s.", len(left), len(c.All), verdict.List(left)))
		}
		if open := c.Unassigned(); len(open) > 0 {
			parts = append(parts, s.Say("No sprint names %d of %d criteria: %s.", len(open), len(c.All), verdict.List(open)))
		}
		return strings.Join(parts, " ")
	}
}
