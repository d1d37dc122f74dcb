package verdict

import (
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// Citation has the things that a row cites and that can be looked up.
type Citation struct {
	Checks []workflow.Check
	// Tests are names in the outputs of checks that succeeded.
	Tests []string
	Files []File
}

// File is an existing file cited by a row, with the line; 0 for the file as a whole.
type File struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// maxCited bounds each list of a citation.
const maxCited = 8

// A Citer finds the citations of the rows of one report.
type Citer struct {
	rec   *workflow.Record
	known index
	tests []string
	lines map[string]int
}

// NewCiter returns a citer for a report. lines has the numbers of lines of the files that exist.
func NewCiter(rec *workflow.Record, lines map[string]int) *Citer {
	return &Citer{rec, indexOf(rec.Checks, func(c workflow.Check) string { return c.ID }), readCitable(rec.Checks).tests, lines}
}

// Cite returns the citation of a row.
func (c *Citer) Cite(row workflow.Criterion) (out Citation) {
	seen := map[int]bool{}
	check := func(id string) {
		if at := c.known.at(id); at >= 0 && !seen[at] && len(out.Checks) < maxCited {
			seen[at] = true
			out.Checks = append(out.Checks, c.rec.Checks[at])
		}
	}
	for _, id := range splitRefs(row.Check) {
		check(id)
	}
	for word := range tokensIn(row.Evidence) {
		if len(word) <= maxID && strings.ContainsFunc(word, unicode.IsLetter) && criteria.Key(word) != "" {
			check(word)
		}
	}
	for _, name := range c.tests {
		if len(out.Tests) < maxCited && names(row.Evidence, name) {
			out.Tests = append(out.Tests, name)
		}
	}
	known := map[File]bool{}
	for _, p := range placesIn(row.Evidence) {
		f := File{p.path, p.line}
		if lines, exists := c.lines[p.path]; exists && p.line <= lines && !known[f] && len(out.Files) < maxCited {
			known[f] = true
			out.Files = append(out.Files, f)
		}
	}
	return out
}
