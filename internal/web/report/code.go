package report

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
)

// The bounds of the code in a report: the listed files, and the bytes of the changes.
const (
	maxCodeFiles = 100
	maxPatch     = 20 << 10
)

// writeCode lists the changed files. A page has small changes themselves, too.
func (p *page) writeCode(code codediff.Changes) {
	var rows [][]string
	for _, f := range code.Files[:min(len(code.Files), maxCodeFiles)] {
		lines := "–"
		if f.HasRows() {
			lines = fmt.Sprintf("+%d −%d", f.Added, f.Removed)
		}
		rows = append(rows, []string{safeCell(f.Path), lines, safeCell(f.Label(p.Language))})
	}
	p.writeTable(p.Say("Code"), []string{p.Say("File"), p.Say("Lines"), p.Say("About")}, rows)
	if more := len(code.Files) - len(rows) + code.More; more > 0 {
		fmt.Fprintf(&p.Builder, "%s\n\n", p.Say("%s more are not listed.", p.Count(more, "file")))
	}
	if p.mark != "#" || len(rows) == 0 {
		return
	}
	if patch, more := code.Patch(p.Language, "", maxPatch); more == 0 {
		fence := "~~~"
		for strings.Contains(patch, fence) {
			fence += "~"
		}
		fmt.Fprintf(&p.Builder, "%s diff\n%s%s\n\n", fence, patch, fence)
	}
}
