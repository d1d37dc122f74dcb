package markdown

import (
	"html"
	"strings"
)

// htmlReader reads the headings, list items and tables that a document writes in HTML, as renderers of Markdown do. Tags of
// anything else are text.
type htmlReader struct {
	doc *Document
	// line is the text of the current line, and prefix the marks before it; changed is true if the line has tags that
	// stand for marks.
	line    strings.Builder
	prefix  string
	changed bool
	list    int // how many lists are open
	// row is the line of the current row, -1 outside of rows; cells are the cells of it, in a cell if inCell is true.
	row    int
	cells  []string
	inCell bool
	// isHead is true if a cell of the row is a head.
	isHead bool
	table  int // the index of the open table, -1 outside of tables
}

// maxHTMLCells bounds the cells of a row.
const maxHTMLCells = 100

// readHTML replaces lines of HTML by those of Markdown in Said and Lines, and adds the tables.
func (d *Document) readHTML() {
	r := htmlReader{doc: d, row: -1, table: -1}
	for i, said := range d.Said {
		isPlain := r.table < 0 && strings.IndexByte(said, '<') < 0
		if isPlain || d.Code[i] {
			continue
		}
		if _, _, ok := HashHeading(said); ok && r.table >= 0 { // a table that nobody has closed
			r.endRow()
			r.table = -1
		}
		r.readLine(i, said)
	}
	r.endRow()
	for _, t := range d.Tables {
		for _, row := range t.Rows {
			if d.Said[row.Line] == "" {
				d.Said[row.Line] = "| " + strings.Join(row.Cells, " | ") + " |"
				d.Lines[row.Line] = d.Said[row.Line]
			}
		}
	}
}

// readLine reads one line, tag by tag.
func (r *htmlReader) readLine(i int, said string) {
	r.line.Reset()
	r.prefix, r.changed = "", r.table >= 0
	for {
		before, name, closing, after, ok := nextTag(said)
		r.text(before)
		if !ok {
			break
		}
		said = after
		switch {
		case name == "table":
			r.tableTag(i, closing)
		case r.table >= 0:
			r.cellTag(i, name, closing)
		default:
			r.blockTag(name, closing)
		}
	}
	if r.changed {
		text := strings.TrimSpace(r.line.String())
		if text != "" {
			text = r.prefix + text
		}
		r.doc.Said[i], r.doc.Lines[i] = text, text
	}
}

// text adds text to the cell that is open, or to the line.
func (r *htmlReader) text(s string) {
	s = html.UnescapeString(s)
	switch {
	case r.table < 0:
		r.line.WriteString(s)
	case r.inCell:
		if at := len(r.cells) - 1; len(r.cells[at]) < 4000 {
			r.cells[at] += " " + s
		}
	}
}

// blockTag reads a tag outside of tables. A heading or an item has to begin a line.
func (r *htmlReader) blockTag(name string, closing bool) {
	begins := !closing && r.prefix == "" && strings.TrimSpace(r.line.String()) == ""
	switch {
	case name == "ul" || name == "ol":
		if r.changed = true; closing {
			r.list = max(0, r.list-1)
		} else {
			r.list++
		}
	case begins && name == "li":
		r.prefix, r.changed = strings.Repeat("  ", min(max(0, r.list-1), 20))+"- ", true
	case begins && len(name) == 2 && name[0] == 'h' && '1' <= name[1] && name[1] <= '6':
		r.prefix, r.changed = strings.Repeat("#", int(name[1]-'0'))+" ", true
	default:
		r.line.WriteByte(' ')
	}
}

// tableTag reads the tag at the beginning or end of a table. Tables in tables are a part of them.
func (r *htmlReader) tableTag(i int, closing bool) {
	if closing {
		r.endRow()
		r.table = -1
	} else if r.table < 0 {
		r.doc.Tables = append(r.doc.Tables, Table{Line: i})
		r.table, r.changed = len(r.doc.Tables)-1, true
	}
}

// cellTag reads a tag in a table.
func (r *htmlReader) cellTag(i int, name string, closing bool) {
	switch name {
	case "tr":
		r.endRow()
		if !closing {
			r.row = i
		}
	case "td", "th":
		if r.inCell = !closing && len(r.cells) < maxHTMLCells; r.inCell {
			if r.row < 0 {
				r.row = i
			}
			r.cells = append(r.cells, "")
			r.isHead = r.isHead || name == "th"
		}
	}
}

// endRow adds the row that was read: the first of a table is the header, if it has cells of a head. Of several rows on
// one line only the first is in the rows by line.
func (r *htmlReader) endRow() {
	if r.table >= 0 && r.row >= 0 && len(r.cells) > 0 {
		for c := range r.cells {
			r.cells[c] = strings.Join(strings.Fields(r.cells[c]), " ")
		}
		t := &r.doc.Tables[r.table]
		if t.Header == nil {
			t.Line = r.row
			for _, cell := range r.cells {
				t.Header = append(t.Header, strings.ToLower(cell))
			}
			if r.isHead {
				r.row, r.cells, r.inCell, r.isHead = -1, nil, false, false
				return
			}
			t.Header = make([]string, len(r.cells)) // a table without a head
		}
		row := Row{Line: r.row, Cells: r.cells, Table: r.table}
		t.Rows = append(t.Rows, row)
		if _, taken := r.doc.Rows[r.row]; !taken {
			r.doc.Rows[r.row] = row
		}
	}
	r.row, r.cells, r.inCell, r.isHead = -1, nil, false, false
}

// nextTag returns the text before the next tag, its name in lower case, and the text after it. A tag that does not
// end on the line is none.
func nextTag(s string) (before, name string, closing bool, after string, ok bool) {
	for at := 0; ; {
		open := strings.IndexByte(s[at:], '<')
		if open < 0 {
			return s, "", false, "", false
		}
		open += at
		inside, closing := strings.CutPrefix(s[open+1:], "/")
		name := inside[:min(len(inside), maxTagName+1)]
		if stop := strings.IndexAny(name, " \t/>"); stop >= 0 {
			name = name[:stop]
		}
		if isTagName(name) {
			_, after, ok = strings.Cut(inside, ">")
			if !ok {
				return s, "", false, "", false
			}
			return s[:open], strings.ToLower(name), closing, after, true
		}
		at = open + 1
	}
}

// maxTagName is how long the name of a tag may be, in bytes.
const maxTagName = 12

// isTagName reports whether a name may be one of a tag.
func isTagName(s string) bool {
	if s == "" || len(s) > maxTagName {
		return false
	}
	for i := range len(s) {
		c := s[i] | 0x20
		letter := 'a' <= c && c <= 'z'
		digit := i > 0 && '0' <= s[i] && s[i] <= '9'
		if !letter && !digit {
			return false
		}
	}
	return true
}
