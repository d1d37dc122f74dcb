package markdown

import (
	"slices"
	"strings"
)

// Table is a table outside code.
type Table struct {
	Line   int      // of the head
	Header []string // in lower case
	Rows   []Row
}

// Row is one row of a table.
type Row struct {
	Line  int
	Cells []string
	Table int // the index in Document.Tables
}

// emphasis has the marks removed from cells; code keeps its own.
const emphasis = "*_"

func (d *Document) readTables() {
	open := false
	for i := range d.Lines {
		if d.Code[i] || !strings.Contains(d.Said[i], "|") {
			open = false
			continue
		}
		switch {
		case i > 0 && !d.Code[i-1] && strings.Contains(d.Said[i-1], "|") && IsTableRule(d.Lines[i]) && !open:
			header := Cells(d.Lines[i-1], emphasis)
			for c := range header {
				header[c] = strings.ToLower(header[c])
			}
			d.Tables = append(d.Tables, Table{Line: i - 1, Header: header})
			open = true
		case open:
			t := &d.Tables[len(d.Tables)-1]
			r := Row{Line: i, Cells: Cells(d.Lines[i], emphasis), Table: len(d.Tables) - 1}
			t.Rows = append(t.Rows, r)
			d.Rows[i] = r
		}
	}
}

// Column returns the first column whose header contains one of the words, or -1.
func (t Table) Column(words ...string) int {
	return slices.IndexFunc(t.Header, func(h string) bool { return MatchesName(NameOf(h), words) })
}

// Cell returns a cell, or "" if the row is too short.
func (r Row) Cell(col int) string {
	if col < 0 || col >= len(r.Cells) {
		return ""
	}
	return r.Cells[col]
}
