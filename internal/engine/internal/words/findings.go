package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Finding returns a finding in one line, without its empty parts.
func Finding(f workflow.Finding) string {
	head := strings.Join(strings.Fields(f.ID+" "+f.Severity+" "+f.File), " ")
	return strings.TrimSuffix(head+": "+f.Problem, ": ")
}

// Progress says the counts in words.
func Progress(l lang.Language, p *workflow.Progress) string {
	if p == nil {
		return ""
	}
	text := l.Say("Findings since the last report: %d fixed, %d still open, %d withdrawn, %d new.", p.Fixed, p.Open, p.Withdrawn, p.New)
	if p.Unchanged {
		text += l.Say(" **No change since the last report**: the same findings, and no file of the project differs.")
	}
	return text
}

// AuditGaps returns the findings of an audit that holds a document below its gate, as work.
func AuditGaps(l lang.Language, a *workflow.Audit) []string {
	var out []string
	for _, f := range a.Findings[:min(len(a.Findings), 10)] {
		if f.Asks() {
			continue
		}
		out = append(out, l.Say("our check −%s: %s%s; %s", Points(f.Points), visible.Line(f.Problem), nameLine(l, f), visible.Line(f.Fix)))
	}
	return out
}

const maxFindings = 30

// AuditFindings returns the findings of an audit in a line each, the costliest first.
func AuditFindings(l lang.Language, a *workflow.Audit) []string {
	findings := slices.SortedStableFunc(slices.Values(a.Findings), func(a, b workflow.AuditFinding) int { return cmp.Compare(b.Points, a.Points) })
	var out []string
	for _, f := range findings[:min(len(findings), maxFindings)] {
		if f.Asks() {
			out = append(out, l.Say("asked: %s%s", visible.Fit(f.Problem, 160), nameLine(l, f)))
			continue
		}
		out = append(out, l.Say("−%s: %s%s", Points(f.Points), visible.Fit(f.Problem, 160), nameLine(l, f)))
	}
	return out
}

func nameLine(l lang.Language, f workflow.AuditFinding) string {
	if f.Line == 0 {
		return ""
	}
	return l.Say(" (line %d)", f.Line)
}

// JudgedFindings returns the objections of a stage that judged the work, as findings for its author.
func JudgedFindings(l lang.Language, judge workflow.StageID, rec *workflow.Record, tail string) []workflow.Finding {
	out := workflow.OpenFindings(rec.Findings)
	for _, row := range workflow.FailedCriteria(rec.Criteria) {
		out = append(out, workflow.Finding{ID: row.ID, Severity: "critical", Problem: l.Say("criterion failed: %s %s", row.Criterion, row.Evidence)})
	}
	for _, c := range rec.Checks {
		if c.Exit != 0 {
			out = append(out, workflow.Finding{ID: c.ID, Severity: "critical",
				Problem: l.Say("`%s` ended with exit code %d: %s", visible.Fit(c.Command, 200), c.Exit,
					visible.Fit(lastLine(c.Output), 200))})
		}
	}
	if e := rec.Evidence; e.Failed() {
		out = append(out, workflow.Finding{ID: "verify", Severity: "critical", Problem: l.Say("%s; its output ends: %s", Evidence(e), tail)})
	}
	if !rec.Doubted() {
		return out
	}
	for i, objection := range rec.Objections {
		out = append(out, workflow.Finding{ID: fmt.Sprintf("%s-doubt-%d", judge, i+1), Severity: "major", Problem: l.Say("the report states a pass, but: %s", objection)})
	}
	return out
}
