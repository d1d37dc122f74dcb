package verdict

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Counts are the numbers of rows by their results.
type Counts struct {
	Rows, Passed, Proved, ByWord, Carried, Failed, NotTested, OutOfScope int
}

// CountRows counts rows.
func CountRows(rows []workflow.Criterion) (n Counts) {
	for _, c := range rows {
		switch c.Result {
		case workflow.ResultPass:
			n.Passed++
			if c.Proved {
				n.Proved++
			}
			if c.ByWord {
				n.ByWord++
			}
			if c.From > 0 {
				n.Carried++
			}
		case workflow.ResultFail:
			n.Failed++
		case workflow.ResultOutOfScope:
			n.OutOfScope++
		default:
			n.NotTested++
		}
	}
	n.Rows = len(rows)
	return n
}

// Text names the numbers: "5 criteria: 4 passed, none of them by a command that the server ran, 1 not
// tested"; "" if there are no rows.
func (n Counts) Text(l lang.Language) string { return n.text(l, true) }

// Short is [Counts.Text] for a line with little room: it does not say what the passed rows stand on.
func (n Counts) Short(l lang.Language) string { return n.text(l, false) }

func (n Counts) text(l lang.Language, basis bool) string {
	if n.Rows == 0 {
		return ""
	}
	var parts []string
	add := func(count int, text string) {
		if count > 0 {
			parts = append(parts, text)
		}
	}
	add(n.Failed, l.Say("%d failed", n.Failed))
	add(n.Passed, l.Say("%d passed", n.Passed))
	if basis && n.Passed > 0 {
		parts = append(parts, n.describeRuns(l))
		add(n.ByWord, l.Say("%d of them by word only", n.ByWord))
		add(n.Carried, l.Say("%d of them carried over", n.Carried))
	}
	add(n.NotTested, l.Say("%d not tested", n.NotTested))
	add(n.OutOfScope, l.Say("%d out of scope", n.OutOfScope))
	criteria := l.Say("%d criteria", n.Rows)
	if n.Rows == 1 {
		criteria = l.Say("1 criterion")
	}
	return l.Say("%s: %s", criteria, strings.Join(parts, l.Say(", ")))
}

// describeRuns says how many of the passed rows rest on a command that the server ran.
func (n Counts) describeRuns(l lang.Language) string {
	switch {
	case n.Proved == 0 && n.Passed == 1:
		return l.Say("not by a command that the server ran")
	case n.Proved == 0:
		return l.Say("none of them by a command that the server ran")
	case n.Proved == n.Passed:
		return l.Say("by a command that the server ran")
	}
	return l.Say("%d of them by a command that the server ran", n.Proved)
}
