package web

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// note is a remark in the margin of a document, beside a line.
type note struct {
	// Kind is finding, gap, question or comment.
	Kind string
	// Line is 0 for the document as a whole. File is the path and line of a finding in code.
	Line int
	File string
	// comment is the person's comment on code, to be found again there.
	comment                *workflow.Comment
	Label, Severity, Quote string
	Text, Fix              string
	Points                 float64
	// Became describes the author's answer to a comment on an earlier round; Fate is good or no, "" while
	// open.
	Became, Fate string
	// Adopts reports whether the page offers to turn the note into a comment of the person.
	Adopts bool
}

// Look returns the colour of a note, and the mark in the outline.
func (n note) Look() string {
	switch {
	case n.Kind == "comment" && n.Fate != "":
		return n.Fate
	case n.Kind == "comment":
		return "mine"
	case n.Kind == "question", n.Kind == "gap", n.Severity == workflow.SeverityQuestion:
		return "ask"
	case n.Severity == "minor":
		return "warn"
	}
	return "bad"
}

// Icon returns the name of the icon of a note.
func (n note) Icon() string {
	return map[string]string{"good": "done", "no": "back", "mine": "comment", "ask": "ask", "warn": "warn", "bad": "failed"}[n.Look()]
}

// notesOn returns the notes on the latest submission of a stage.
func notesOn(a *asked, rec *workflow.Record) []note {
	var out []note
	if rec.Audit != nil {
		for _, f := range rec.Audit.Findings {
			out = append(out, note{Kind: "finding", Line: f.Line, Label: a.lang.Say("check %s", f.ID),
				Severity: f.Severity, Text: f.Problem, Fix: f.Fix, Points: f.Points, Adopts: true})
		}
	}
	for _, q := range rec.OpenQuestions() {
		out = append(out, note{Kind: "question", Label: a.lang.Say("question %s", q.ID), Text: q.Question})
	}
	for _, gap := range rec.Gaps {
		if rec.Audit != nil && slices.ContainsFunc(rec.Audit.Findings, func(f workflow.AuditFinding) bool {
			return f.Fix != "" && strings.HasSuffix(gap, f.Fix) && strings.Contains(gap, f.Problem)
		}) {
			continue // a gap from the audit, listed above
		}
		out = append(out, note{Kind: "gap", Label: a.lang.Say("gap that the assistant states"), Text: gap, Adopts: true})
	}
	for _, f := range workflow.OpenFindings(rec.Findings) {
		out = append(out, note{Kind: "finding", Label: a.lang.Say("finding %s", f.ID), Severity: f.Severity, Text: f.Problem, File: f.File, Fix: f.Fix, Adopts: true})
	}
	for _, text := range rec.Objections {
		out = append(out, note{Kind: "finding", Label: a.lang.Say("against the stated pass"), Text: text, Adopts: true})
	}
	return out
}

// commentNotes returns the person's comments on a round and on the round before it. The lines of earlier
// comments are mapped to the present text by the comparison in rows, and have the author's answer.
func commentNotes(a *asked, s *workflow.Session, stage workflow.StageID, round int, rows []textdiff.Row) []note {
	var out []note
	for _, c := range requestsOn(s, stage, round) {
		out = append(out, commentNote(a, c, c.From))
	}
	earlier := requestsOn(s, stage, round-1)
	if len(earlier) == 0 {
		return out
	}
	for _, c := range earlier {
		line, unchanged := 0, false
		if c.From > 0 {
			from, _, there := textdiff.Place(rows, c.From, c.To)
			if line = from; !there {
				line = 0
			}
			unchanged = areUnchanged(rows, c.From, c.To)
		}
		n := commentNote(a, c, line)
		n.Became = fateOf(a, c, unchanged)
		switch c.Status {
		case workflow.RequestTakenUp:
			n.Fate = "good"
		case workflow.RequestDeclined:
			n.Fate = "no"
		default: // neither
		}
		out = append(out, n)
	}
	return out
}

// requestsOn returns the comments on the document of a round, without the ones on code.
func requestsOn(s *workflow.Session, stage workflow.StageID, round int) []workflow.ChangeRequest {
	return slices.DeleteFunc(s.RoundRequests(stage, round), func(c workflow.ChangeRequest) bool { return c.File != "" })
}

// commentNote returns a comment of the person as a note.
func commentNote(a *asked, c workflow.ChangeRequest, line int) note {
	n := note{Kind: "comment", Line: line, Label: a.lang.Say("your comment %s", c.ID), Quote: c.Quote, Text: c.Text}
	if c.Kind == workflow.CommentEdit {
		n.Text = strings.TrimSpace(n.Text + "\n→ " + c.Replace)
	}
	if n.Text == "" {
		n.Text = a.lang.Say("remove this")
	}
	return n
}

// areUnchanged reports whether lines of the earlier text are unchanged in the later one.
func areUnchanged(rows []textdiff.Row, from, to int) bool {
	for _, r := range rows {
		if r.Before >= from && r.Before <= to && r.Kind != textdiff.Same {
			return false
		}
	}
	return true
}

// fateOf describes the author's answer to a comment, and mentions unchanged lines.
func fateOf(a *asked, c workflow.ChangeRequest, unchanged bool) string {
	text := ""
	switch c.Status {
	case workflow.RequestTakenUp:
		text = "✓ " + a.lang.Say("taken up")
	case workflow.RequestDeclined:
		text = "✗ " + a.lang.Say("declined")
	case workflow.RequestOutdated:
		text = a.lang.Say("the stage began again")
	case workflow.RequestOpen:
		text = a.lang.Say("waits for the next version")
	case workflow.RequestUnmentioned:
		text = a.lang.Say("not mentioned")
	}
	if c.Note != "" {
		text = a.lang.Say("%s: %s", text, c.Note)
	}
	if unchanged {
		text = a.lang.Say("%s; these lines are unchanged", text)
	}
	return text
}
