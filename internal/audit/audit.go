// Package audit reads a stage's document by a rubric and reports its faults,
// line by line. It is made of pure functions over text: the same document and
// the same rubric give the same result, and every point of it has a reason.
//
// A [Rubric] is the rules for one stage, as data: a list of checks. A check has
// a kind, which is code (kinds.go lists them), and parameters, which are the
// rubric's. If a document fails a check, that is a finding and
// costs points; the score is 100 minus all of them. The earlier documents of a
// run are read for tracing only: a promise of one document must be met in the
// next. rubrics/README.md describes the format for those who write their own.
package audit

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Limits of an audit.
const (
	maxFindings = 50
	maxSummary  = 160 // bytes
)

// tooLong returns the finding of a document of which only a part was read.
func tooLong(document string, l lang.Language) []workflow.AuditFinding {
	if len(document) <= maxRead {
		return nil
	}
	return []workflow.AuditFinding{{
		ID: "TOO-LONG", Severity: "major", Points: 20,
		Problem: l.Say("it takes %d kB; an audit reads the first %d kB, and nobody reads more", len(document)>>10, maxRead>>10),
		Fix:     l.Say("leave logs and data in files of their own, and name them"),
	}}
}

// Audit judges a document by the rubric, in its context.
func (r Rubric) Audit(body string, b Background) workflow.Audit {
	s := &document{text: readText(readable(body), r.names()), earlier: map[workflow.StageID]*text{}, wanted: b, plan: b.Plan}
	for stage, doc := range b.Earlier {
		if strings.TrimSpace(doc) != "" {
			s.earlier[stage] = readEarlier(readable(doc))
		}
	}
	var out workflow.Audit
	var briefs []string
	lost := 0.0
	for _, f := range tooLong(body, b.Language) {
		lost += f.Points
		out.Findings = append(out.Findings, f)
		briefs = append(briefs, f.Problem)
	}
	for _, c := range r.checks {
		if !c.applies(s) {
			continue
		}
		if l := kinds[c.Kind].find(c, s); l != nil {
			f := c.finding(*l, b.Language)
			lost += f.Points
			out.Findings = append(out.Findings, f)
			briefs = append(briefs, l.brief(f, b.Language))
		}
	}
	out.Score = math.Round(max(0, 100-lost)*10) / 10
	order := make([]int, len(briefs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := out.Findings[i], out.Findings[j]
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.Line, b.Line))
	})
	order = order[:min(len(order), maxFindings)]
	sorted := make([]workflow.AuditFinding, 0, len(order))
	var top []string
	for _, i := range order {
		sorted = append(sorted, out.Findings[i])
		top = append(top, briefs[i])
	}
	out.Findings, out.Summary = sorted, summarize(top, b.Language)
	if len(sorted) == 0 {
		out.Findings = nil
	}
	return out
}

func summarize(briefs []string, in lang.Language) string {
	out := ""
	for i, b := range briefs[:min(len(briefs), 3)] {
		if i == 0 {
			out = clip(b, maxSummary)
		} else if joined := out + in.Word("; ") + b; len(joined) <= maxSummary {
			out = joined
		}
	}
	return out
}
