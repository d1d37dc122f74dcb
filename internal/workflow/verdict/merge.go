package verdict

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Merge joins the reports of two engines: of one criterion the worse result counts, and checks and
// findings are qualified by their engine. The body is the report with the worse verdict on the
// work, because that is the one to act on; second is true if b is the body. open are the findings
// of the last report, which keep their ids.
func Merge(a, b Report, first, other workflow.Engine, open []workflow.Finding) (out Report, second bool) {
	a, b = a.prefixIDs(first, open), b.prefixIDs(other, open)
	second = rank[b.Verdict()] > rank[a.Verdict()]
	out = a
	if second {
		out.Body, out.Summary = b.Body, b.Summary
	}
	out.Blocks = slices.Concat(a.Blocks, b.Blocks)
	out.Checks = slices.Concat(a.Checks, b.Checks)
	out.Totals = slices.Concat(a.Totals, b.Totals)
	out.Defects = slices.Concat(a.Defects, b.Defects)
	out.Resolved = slices.Concat(a.Resolved, b.Resolved)
	out.Listed = a.Listed && b.Listed
	out.Stated = worseVerdict(a.Stated, b.Stated)
	out.NoChecks = joinTexts(a.NoChecks, b.NoChecks)
	out.Needs = joinTexts(a.Needs, b.Needs)
	out.Criteria, out.Findings = slices.Clone(a.Criteria), slices.Clone(a.Findings)
	rows, findings := indexOf(a.Criteria, func(c workflow.Criterion) string { return c.ID }), indexFindings(a.Findings)
	for _, row := range b.Criteria {
		at := rows.at(row.ID)
		switch {
		case at < 0:
			out.Criteria = append(out.Criteria, row)
		case badnessOf(row.Result) > badnessOf(out.Criteria[at].Result):
			out.Criteria[at] = row
		}
	}
	for _, f := range b.Findings {
		at := findings.at(f.ID)
		switch {
		case at < 0:
			out.Findings = append(out.Findings, f)
		case f.Open() && !out.Findings[at].Open():
			out.Findings[at] = f
		}
	}
	return out, second
}

func joinTexts(a, b string) string { return strings.Trim(a+"; "+b, "; ") }

// Verdict returns the verdict of a report by itself, whatever it owes.
func (r Report) Verdict() workflow.Verdict {
	if len(r.Blocks) == 0 {
		return r.Stated
	}
	return Judge(r, Contract{}).Verdict
}

// prefixIDs puts the engine before the ids of checks and findings, except for findings open before.
func (r Report) prefixIDs(engine workflow.Engine, open []workflow.Finding) Report {
	prefix := func(id string) string {
		if strings.HasPrefix(id, string(engine)+":") {
			return id
		}
		return string(engine) + ":" + id
	}
	prefixAll := func(refs string) string {
		ids := splitRefs(refs)
		for i := range ids {
			ids[i] = prefix(ids[i])
		}
		return strings.Join(ids, ", ")
	}
	known := indexFindings(open)
	r.Checks, r.Criteria, r.Findings = slices.Clone(r.Checks), slices.Clone(r.Criteria), slices.Clone(r.Findings)
	for i := range r.Checks {
		r.Checks[i].ID = prefix(r.Checks[i].ID)
	}
	for i := range r.Criteria {
		r.Criteria[i].Check = prefixAll(r.Criteria[i].Check)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Check = prefixAll(f.Check)
		if known.at(f.ID) < 0 {
			f.ID = prefix(f.ID)
		}
	}
	return r
}
