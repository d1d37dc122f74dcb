package dashboard

import (
	"cmp"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// note stands in the margin of a document, beside the line that it is about.
type note struct {
	// Kind is finding, gap, question or comment.
	Kind string
	// Line is 0 for the document as a whole.
	Line                   int
	Label, Severity, Quote string
	Text, Fix              string
	Points                 float64
	// Became tells the fate of a comment on an earlier round.
	Became string
	// Adopts is true where the person can make it a comment of their own.
	Adopts bool
}

// notes are those on the latest submission of a stage, in the order of the lines.
func notes(a *asked, rec *workflow.Record) []note {
	var out []note
	if rec.Audit != nil {
		for _, f := range rec.Audit.Findings {
			out = append(out, note{Kind: "finding", Line: f.Line, Label: a.lang.Say("audit %s", f.ID), Severity: f.Severity, Text: f.Problem, Fix: f.Fix, Points: f.Points, Adopts: true})
		}
	}
	for _, q := range rec.OpenQuestions() {
		out = append(out, note{Kind: "question", Label: a.lang.Say("question %s", q.ID), Text: q.Question})
	}
	for _, gap := range rec.Gaps {
		out = append(out, note{Kind: "gap", Label: a.lang.Say("gap that the assistant states"), Text: gap, Adopts: true})
	}
	for _, f := range workflow.OpenFindings(rec.Findings) {
		out = append(out, note{Kind: "finding", Label: a.lang.Say("finding %s", f.ID), Severity: f.Severity, Text: f.Problem, Quote: f.File, Fix: f.Fix, Adopts: true})
	}
	for _, text := range rec.Objections {
		out = append(out, note{Kind: "finding", Label: a.lang.Say("against the stated pass"), Text: text, Adopts: true})
	}
	slices.SortStableFunc(out, func(a, b note) int { return cmp.Compare(a.Line, b.Line) })
	return out
}
