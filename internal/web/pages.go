package web

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

//go:generate templ generate

func itoa(n int) string { return strconv.Itoa(n) }

// lineNumber formats the number of a line; "" for 0.
func lineNumber(n int) string {
	if n == 0 {
		return ""
	}
	return itoa(n)
}

// lines formats a line as a range, which is the form of the review script.
func lines(n int) string { return itoa(n) + "-" + itoa(n) }

// points formats a score; "" for nil.
func points(score *float64) string {
	if score == nil {
		return ""
	}
	return strconv.FormatFloat(*score, 'f', -1, 64)
}

// countCritical counts the critical findings of an audit.
func countCritical(all []workflow.AuditFinding) (n int) {
	for _, f := range all {
		if f.Severity == "critical" {
			n++
		}
	}
	return n
}

// ago formats a duration in its largest unit.
func ago(l lang.Language, d time.Duration) string {
	switch {
	case d < time.Minute:
		return l.Count(max(int(d/time.Second), 0), "second")
	case d < time.Hour:
		return l.Count(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return l.Count(int(d/time.Hour), "hour")
	}
	return l.Count(int(d/(24*time.Hour)), "day")
}

// ages are the forms of an age in a list, the first one for less than a minute, for the script of the page too.
func ages(l lang.Language) string {
	return l.Say("now|%s min|%s h|%s d", "{}", "{}", "{}")
}

// shortAge formats an age in a list.
func shortAge(l lang.Language, age time.Duration) string {
	forms := strings.Split(ages(l), "|")
	form, unit := forms[0], time.Minute
	switch {
	case age >= 24*time.Hour:
		form, unit = forms[3], 24*time.Hour
	case age >= time.Hour:
		form, unit = forms[2], time.Hour
	case age >= time.Minute:
		form = forms[1]
	}
	return strings.Replace(form, "{}", itoa(int(age/unit)), 1)
}

// capitalize begins a text with a capital.
func capitalize(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// hiddenWords describe the kinds of hidden parts, by their names in package render.
var hiddenWords = map[string]lang.Text{
	"comment":   lang.T("a comment"),
	"html":      lang.T("HTML"),
	"image":     lang.T("an image, not loaded"),
	"unseen":    lang.T("an invisible character"),
	"reference": lang.T("the definition of a link"),
	"info":      lang.T("words behind the language of a code block"),
	"cell":      lang.T("a cell without a column"),
	"link":      lang.T("where a link leads"),
}

// splitCode returns a code in two halves with a dash between them.
func splitCode(code string) string { return code[:len(code)/2] + "-" + code[len(code)/2:] }
