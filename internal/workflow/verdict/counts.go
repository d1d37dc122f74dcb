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

// Text names the numbers: "5 criteria: 4 passed (3 by the server's own command), 1 not tested"; "" if
// there are no rows.
func (n Counts) Text(l lang.Language) string {
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
	passed := l.Say("%d passed", n.Passed)
	if n.Proved > 0 {
		passed = l.Say("%d passed (%d by the server's own command)", n.Passed, n.Proved)
	}
	add(n.Passed, passed)
	add(n.ByWord, l.Say("%d of them by word only", n.ByWord))
	add(n.Carried, l.Say("%d of them carried over", n.Carried))
	add(n.NotTested, l.Say("%d not tested", n.NotTested))
	add(n.OutOfScope, l.Say("%d out of scope", n.OutOfScope))
	criteria := l.Say("%d criteria", n.Rows)
	if n.Rows == 1 {
		criteria = l.Say("1 criterion")
	}
	return l.Say("%s: %s", criteria, strings.Join(parts, l.Say(", ")))
}
