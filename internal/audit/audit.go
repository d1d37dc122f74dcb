// Package audit reads a stage's document by a rubric and says, line by line,
// what it lacks. It is made of pure functions over text: the same document and
// the same rubric give the same result, and every point of it has a reason.
//
// A [Rubric] is the rules for one stage, as data: a list of checks. A check has
// a kind, which is code (kinds.go lists them), and parameters, which are the
// rubric's. Where a document lacks what a check asks for, that is a finding and
// costs points; the score is 100 minus all of them. The earlier documents of a
// run are read for tracing only: what a document promises must be met in the
// next. rubrics/README.md describes the format for those who write their own.
package audit

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Rubric is the rules for one stage, as data.
type Rubric struct {
	Stage workflow.StageID
	// Retired are the kinds of its checks that find nothing any more.
	Retired []string

	checks []check
}

// Limits of what an audit holds.
const (
	maxFindings = 50
	maxText     = 300 // bytes
	maxSummary  = 160 // bytes
	// listed is how many items a finding names before it says "…".
	listed = 12
	// maxRead is how much of a document is read, in bytes: more than anybody would read, and
	// as much as costs a second or two of a processor where each line is one to look at.
	maxRead = 1 << 20
)

// readable returns the part of a document that is read: whole lines, where it has some.
func readable(document string) string {
	if len(document) <= maxRead {
		return document
	}
	if end := strings.LastIndexByte(document[:maxRead], '\n'); end > maxRead/2 {
		return document[:end]
	}
	return document[:boundary(document, maxRead)]
}

// tooLong is what a document costs of which only a part was read.
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

// Background is the context of a document. Missing context costs no points.
type Background struct {
	// Language is the language of the findings. The document may be in another one.
	Language lang.Language
	// Objective is the person's request, Answers are their answers to questions.
	Objective string
	Answers   []string
	// Earlier are the documents of earlier stages. Plan names the one with sprints.
	Earlier map[workflow.StageID]string
	Plan    workflow.StageID
}

// Audit judges a document by the rubric, in its context.
func (r Rubric) Audit(body string, b Background) workflow.Audit {
	s := &document{text: readText(readable(body), r.names()), earlier: map[workflow.StageID]*text{}, wanted: b, plan: b.Plan}
	for stage, doc := range b.Earlier {
		if strings.TrimSpace(doc) != "" {
			s.earlier[stage] = kept.read(readable(doc))
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
		if c.applies(s) {
			for _, l := range kinds[c.Kind].find(c, s) {
				f := c.finding(l, b.Language)
				lost += f.Points
				out.Findings = append(out.Findings, f)
				briefs = append(briefs, l.brief(f, b.Language))
			}
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

// document is the input of a check.
type document struct {
	*text
	earlier map[workflow.StageID]*text
	plan    workflow.StageID
	wanted  Background
	stories []story // read by the first check that asks
	read    bool
}

// miss is one thing that a check found missing or wrong.
type miss struct {
	line int // from 0; -1 for the document as a whole
	name string
	// either are names of the rubric's in place of name, any of which would do.
	either []string
	// accepts are the names by which the check finds one of them in another language.
	accepts []string
	items   []lang.Text // what the finding lists
	n       int         // how many there are; len(items) where items are listed
	// share scales the points of a check that does not count items; 0 is 1.
	share   float64
	problem string // in place of the check's text, to be filled in like it
	want    string // a figure for the text
}

// finding describes a miss in the words and points of its check.
func (c check) finding(l miss, in lang.Language) workflow.AuditFinding {
	f := workflow.AuditFinding{ID: c.ID, Severity: c.Severity, Line: l.line + 1, Points: c.Points}
	if c.Each > 0 {
		f.Points = c.Each * float64(max(1, l.count()))
		if c.Cap > 0 {
			f.Points = min(f.Points, c.Cap)
		}
	} else if l.share > 0 {
		f.Points *= l.share
	}
	f.Points = math.Round(f.Points*10) / 10
	f.Problem = clip(l.fill(in.Word(cmp.Or(l.problem, c.Problem)), in), maxText)
	f.Fix = clip(l.fill(in.Word(c.Fix), in), maxText)
	return f
}

func (l miss) count() int { return max(l.n, len(l.items)) }

// brief is the finding in the summary: fewer items, and the line.
func (l miss) brief(f workflow.AuditFinding, in lang.Language) string {
	text := f.Problem
	if len(l.items) > 2 {
		// What the finding lists after its colon is shortened.
		if head, _, ok := strings.Cut(text, in.Word(": ")); ok {
			return in.Say("%s (%s, %s …)", head, l.items[0], l.items[1])
		}
	}
	if f.Line > 0 && !strings.Contains(text, in.Word("line ")) {
		text = in.Say("%s (line %d)", text, f.Line)
	}
	return text
}

// fill puts the values of a miss into a text: {name}, {n}, {want}, {items}, and
// {one|many} by their number.
func (l miss) fill(text string, in lang.Language) string {
	var b strings.Builder
	for text != "" {
		before, rest, ok := strings.Cut(text, "{")
		b.WriteString(before)
		if !ok {
			break
		}
		word, after, _ := strings.Cut(rest, "}")
		one, many, plural := strings.Cut(word, "|")
		switch {
		case plural && l.count() == 1:
			b.WriteString(one)
		case plural:
			b.WriteString(many)
		case word == "name":
			b.WriteString(l.named(in))
		case word == "want":
			b.WriteString(l.want)
		case word == "n":
			b.WriteString(strconv.Itoa(l.count()))
		case word == "items":
			b.WriteString(l.list(in))
		}
		text = after
	}
	return b.String()
}

func (l miss) named(in lang.Language) string {
	out := l.name
	for i, name := range l.either {
		if i > 0 {
			out += in.Word(" or ")
		}
		if said := in.Word(name); markdown.MatchesName(markdown.NameOf(said), l.accepts) {
			name = said
		}
		out += name
	}
	return out
}

// list joins the items, or the first of many.
func (l miss) list(in lang.Language) string {
	items := make([]string, len(l.items))
	for i, item := range l.items {
		items[i] = item.In(in)
	}
	between := in.Word(", ")
	if strings.Contains(strings.Join(items, ""), strings.TrimSpace(between)) {
		between = in.Word("; ")
	}
	out := strings.Join(items[:min(len(items), listed)], between)
	if len(items) > listed {
		out += " …"
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

// clip cuts a text to at most n bytes, at a character, with … at the end.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	return s[:boundary(s, n-len("…"))] + "…"
}
