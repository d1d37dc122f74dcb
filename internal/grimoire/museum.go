package grimoire

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lesson"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// titled matches the heading of a failure behind its date: id, agent, category, title.
var titled = pattern.New(`^(?:\[?(FM-\d+)\]?)?[ \t—–:-]*(?:\[([^\]\[]{1,64})\][ \t]*)?(?:\[?(HALLUCINATION|[A-Z]+(?:-[A-Z]+)+)\]?(?:[ \t—–:-]+|$))?[ \t—–:-]*(.*)$`)

// museum reads failures in Markdown: each under a heading with its date, category or id, in a
// section for its severity.
func (r *reader) museum(text string) {
	var open *Entry
	severity := ""
	for _, b := range blocksOf(r.scan(text)) {
		switch {
		case b.level == 0 && open != nil:
			open.describe(b)
		case b.level > 0:
			r.keep(open)
			if open = failureIn(b); open != nil {
				open.Failure.Severity = severity
			} else {
				severity = SeverityIn(b.text)
			}
		}
	}
	r.keep(open)
}

// failureIn reads the heading of a failure. It returns nil for other headings.
func failureIn(b block) *Entry {
	date, rest := cutDate(b.text)
	m := titled.FindStringSubmatch(rest)
	if m == nil || m[4] == "" {
		return nil
	}
	if slices.Contains(lesson.Categories(), m[2]) {
		m[2], m[3] = "", m[2]
	}
	if date.IsZero() && m[1] == "" && !slices.Contains(lesson.Categories(), m[3]) {
		return nil
	}
	return &Entry{Type: lesson.Failures, Agent: m[2], Date: date, Text: m[4], Line: b.line, Failure: &Failure{ID: m[1], Category: m[3], Title: m[4]}}
}

// SeverityIn returns the mark of a severity, as headings, fields and records name it.
func SeverityIn(text string) string {
	for n, names := range []string{"🔴 crit high haute élevée block", "🟡 medium moyenne important major", "🟢 low basse faible minor micro"} {
		for _, name := range strings.Fields(names) {
			if strings.Contains(strings.ToLower(text), name) {
				return Severities[n]
			}
		}
	}
	return ""
}

// describe reads the fields in a block below the heading of a failure. Most are also its text.
func (e *Entry) describe(b block) {
	f := e.Failure
	last := new(string) // the field that the next line continues
	for _, l := range strings.Split(b.text, "\n") {
		key, value := split(l)
		begins := func(names ...string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(key, n) })
		}
		switch {
		case begins("agent"):
			e.Agent, _, _ = strings.Cut(value, ",")
			continue
		case begins("date"):
			e.Date = readDate(value)
			continue
		case begins("statu"):
			f.Status = strings.ToLower(value)
			continue
		case begins("tag"):
			e.Tags = words(value)
			continue
		case begins("caté", "cate"):
			f.Category = strings.ToUpper(value)
			continue
		case begins("sévér", "sever", "gravit"):
			f.Severity = SeverityIn(value)
			continue
		case begins("règle", "regle", "rule"):
			f.Rule, last = value, &f.Rule
		case begins("leçon", "lecon", "lesson"), begins("corre", "fix") && f.Lesson == "":
			f.Lesson, last = value, &f.Lesson
		case key != "":
			last = new(string)
		case *last != "":
			grow(last, " "+value)
		}
		if value != "" && !isRemark(value) {
			grow(&e.Text, "\n"+value)
		}
	}
}
