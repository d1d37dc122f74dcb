package audit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/score"
)

// table is a Markdown table outside code.
type table struct {
	line   int
	header []string // lower case
	rows   []tableRow
}

// tableRow is one row of a table.
type tableRow struct {
	line  int
	cells []string
	table int // index in text.tables
}

var tableRule = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)

func (d *text) readTables() {
	open := false
	for i := range d.lines {
		if d.code[i] || !strings.Contains(d.said[i], "|") {
			open = false
			continue
		}
		switch {
		case i > 0 && !d.code[i-1] && strings.Contains(d.said[i-1], "|") && tableRule.MatchString(d.lines[i]) && !open:
			header := cells(d.lines[i-1])
			for c := range header {
				header[c] = strings.ToLower(header[c])
			}
			d.tables = append(d.tables, table{line: i - 1, header: header})
			open = true
		case open:
			t := &d.tables[len(d.tables)-1]
			r := tableRow{line: i, cells: cells(d.lines[i]), table: len(d.tables) - 1}
			t.rows = append(t.rows, r)
			d.cellsOf[i] = r
		}
	}
}

// cells splits a row, and leaves code in it marked as such.
func cells(line string) []string { return score.Cells(line, "*_") }

// column returns the first column whose header contains one of the words, or -1.
func (t table) column(words ...string) int {
	return slices.IndexFunc(t.header, func(h string) bool { return matchesName(nameOf(h), words) })
}

func (r tableRow) cell(col int) string {
	if col < 0 || col >= len(r.cells) {
		return ""
	}
	return r.cells[col]
}
