// Package untrusted makes texts of others safe to keep and to show: notes, memory files of other kits, and all
// else that a repository can bring along.
//
// Credentials are refused in a new text ([Check]) and masked in a shown one ([Mask], [Shown]). [Suspicious]
// reports whether a text plainly addresses the model reading it. The rules of both are in secrets.rules and
// suspicious.rules.
package untrusted

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Shown returns a text as it is shown to a model: without credentials and without characters that steer, at
// most limit bytes.
func Shown(text string, limit int) string {
	text = Mask(text)
	if visible.Steers(text) {
		text = visible.Text(text)
	}
	return visible.Fit(text, limit)
}

// Label returns a text as it is shown in one line.
func Label(text string, limit int) string { return Shown(visible.Line(text), limit) }

// readRules returns the columns of the rules in a file; the head of the file describes the format.
func readRules(file string) (rules [][]string) {
	lists := map[string]string{}
	for line := range strings.Lines(file) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' || line[0] == '\t' { // an example
			continue
		}
		for name, alternatives := range lists {
			line = strings.ReplaceAll(line, "{"+name+"}", "(?:"+alternatives+")")
		}
		name, more, list := strings.Cut(line, " = ")
		switch known := lists[name]; {
		case !list || strings.Contains(line, "\t"):
			rules = append(rules, strings.Split(line, "\t"))
		case known == "":
			lists[name] = more
		default:
			lists[name] = known + "|" + more
		}
	}
	return rules
}
