package audit

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Limits of the text of a finding.
const (
	maxText = 300 // bytes
	// listed is how many items a finding names before "…".
	listed = 12
)

// miss is one missing or wrong thing found by a check.
type miss struct {
	line int // from 0; -1 for the document as a whole
	name string
	// either are names of the rubric's in place of name, any of which would do.
	either []string
	// accepts are the names under which the check finds one of them in another language.
	accepts []string
	items   []lang.Text // listed in the finding
	n       int         // how many there are; len(items) if items are listed
	// share scales the points of a check that does not count items; 0 is 1.
	share   float64
	problem string // in place of the check's text, filled in likewise
	want    string // a figure for the text
}

// describeMiss describes a miss in the words and points of the check.
func (c check) describeMiss(l miss, in lang.Language) workflow.AuditFinding {
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
	f.Problem = clip(l.fillTemplate(in.Word(cmp.Or(l.problem, c.Problem)), in), maxText)
	f.Fix = clip(l.fillTemplate(in.Word(c.Fix), in), maxText)
	return f
}

// addItem adds an item; the first one is the place of the miss.
func (l *miss) addItem(line int, item lang.Text) {
	if len(l.items) == 0 {
		l.line = line
	}
	l.items = append(l.items, item)
}

// orNil returns a miss with items; nil otherwise.
func (l miss) orNil() *miss {
	if len(l.items) == 0 {
		return nil
	}
	return &l
}

func (l miss) count() int { return max(l.n, len(l.items)) }

// shortProblem returns the finding in the summary: fewer items, and the line.
func (l miss) shortProblem(f workflow.AuditFinding, in lang.Language) string {
	text := f.Problem
	if len(l.items) > 2 {
		// The list behind the colon is shortened.
		if head, _, ok := strings.Cut(text, in.Word(": ")); ok {
			return in.Say("%s (%s, %s …)", head, l.items[0], l.items[1])
		}
	}
	if f.Line > 0 && !strings.Contains(text, in.Word("line ")) {
		text = in.Say("%s (line %d)", text, f.Line)
	}
	return text
}

// fillTemplate puts the values of a miss into a text: {name}, {n}, {want}, {items}, and
// {one|many} by their number.
func (l miss) fillTemplate(text string, in lang.Language) string {
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
			b.WriteString(l.nameIn(in))
		case word == "want":
			b.WriteString(l.want)
		case word == "n":
			b.WriteString(strconv.Itoa(l.count()))
		case word == "items":
			b.WriteString(l.joinItems(in))
		}
		text = after
	}
	return b.String()
}

func (l miss) nameIn(in lang.Language) string {
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

// joinItems joins the items, or the first of many.
func (l miss) joinItems(in lang.Language) string {
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

// atLines makes one miss of several lines.
func atLines(lines []int) *miss {
	var out miss
	for _, i := range lines {
		out.addItem(i, atLine(i))
	}
	return out.orNil()
}

// atLine names a line in a finding.
func atLine(i int) lang.Text { return lang.T("line %d", i+1) }

// untranslated returns a name or a quotation in a finding, the same in every language.
func plainText(text string) lang.Text { return lang.T("%s", text) }
