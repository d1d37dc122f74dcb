// Package audit reads a stage's document by a rubric and reports its faults,
// line by line. It is made of pure functions over text: the same document and
// the same rubric give the same result, and every point of it has a reason.
//
// A [Rubric] is the rules for one stage, as data: a list of checks. A check has
// a kind, which is code (kinds.go lists them), and parameters, which are the
// rubric's. Each failed check is a finding and costs points; the score is 100
// minus all of them. The earlier documents of a run are read for tracing only: a
// promise of one document must be met in the next. rubrics/README.md describes
// the format for authors of rubrics.
package audit

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Limits of an audit.
const (
	maxFindings = 50
	maxSummary  = 160 // bytes
)

// finding is a finding with the form that it has in a summary.
type finding struct {
	workflow.AuditFinding
	brief string
}

// tooLong returns the finding about a document that is too long to be read whole.
func tooLong(document string, l lang.Language) []finding {
	if len(document) <= maxRead {
		return nil
	}
	problem := l.Say("it takes %d kB; our check reads the first %d kB, and nobody reads more", len(document)>>10, maxRead>>10)
	return []finding{{workflow.AuditFinding{
		ID: "TOO-LONG", Severity: "major", Points: 20, Problem: problem,
		Fix: l.Say("leave logs and data in files of their own, and name them"),
	}, problem}}
}

// unknownLanguage returns the finding about a document whose sections and words are not judged.
func unknownLanguage(l lang.Language) finding {
	problem := l.Say("our check knows English and Chinese; of this document it judges what needs no language")
	return finding{workflow.AuditFinding{
		ID: "LANGUAGE", Severity: workflow.SeverityQuestion, Problem: problem,
		Fix: l.Say("read it with more care, or have it written in English or Chinese"),
	}, problem}
}

// Audit judges a document by the rubric, in the context of the run.
func (r Rubric) Audit(body string, b Background) workflow.Audit {
	s := &document{text: readText(readablePart(body), r.sectionNames()), earlier: map[workflow.StageID]*text{}, wanted: b}
	for stage, doc := range b.Earlier {
		if strings.TrimSpace(doc) != "" {
			s.earlier[stage] = readEarlier(readablePart(doc))
		}
	}
	found := tooLong(body, b.Language)
	foreign := s.isForeign()
	if foreign {
		found = append(found, unknownLanguage(b.Language))
	}
	for _, c := range r.checks {
		if !c.appliesTo(s) || foreign && c.needsWords() {
			continue
		}
		if l := kinds[c.Kind].find(c, s); l != nil {
			f := c.describeMiss(*l, b.Language)
			found = append(found, finding{f, l.shortProblem(f, b.Language)})
		}
	}
	left := 100.0
	for _, f := range found {
		left -= f.Points
	}
	slices.SortStableFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.Line, b.Line))
	})
	out := workflow.Audit{Score: math.Round(max(0, left)*10) / 10, Summary: summarize(found, b.Language)}
	for _, f := range found[:min(len(found), maxFindings)] {
		out.Findings = append(out.Findings, f.AuditFinding)
	}
	return out
}

func summarize(found []finding, in lang.Language) string {
	out := ""
	for i, f := range found[:min(len(found), 3)] {
		if i == 0 {
			out = clip(f.brief, maxSummary)
		} else if joined := out + in.Word("; ") + f.brief; len(joined) <= maxSummary {
			out = joined
		}
	}
	return out
}
