package criteria

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// isTableHead reports whether a line is the head of a table.
func (r *reader) isTableHead(i int) bool {
	_, found := slices.BinarySearchFunc(r.doc.Tables, i, func(t markdown.Table, line int) int { return t.Line - line })
	return found
}

// rowsOf returns the rows of a line: in HTML several may stand on one.
func (r *reader) rowsOf(first markdown.Row) []markdown.Row {
	rows := r.doc.Tables[first.Table].Rows
	from, _ := slices.BinarySearchFunc(rows, first.Line, func(row markdown.Row, line int) int { return row.Line - line })
	to := from
	for to < len(rows) && rows[to].Line == first.Line {
		to++
	}
	return rows[from:to]
}

// readRow reads the row of a table.
func (r *reader) readRow(i int, row markdown.Row) {
	if r.list == nil {
		r.close(depthOfItem, i)
	}
	c, story := r.findID(row)
	id, rest, ok := r.readCell(row, c)
	isProse := c == 1 && story == "" && r.list == nil && hasWords(rest) && !strong(id.Family)
	switch {
	case isStruck(bare(row.Cell(0))) || isStruck(bare(row.Cell(1))):
	case !ok && r.list != nil && !r.inScenario() && hasWords(strings.Join(row.Cells, " ")):
		r.addPlacedRow(row)
	case ok && !isProse && !listed.MatchString(rest) && explains(rest, row.Cells[c+1:]):
		r.addRow(row, id, append([]string{rest}, row.Cells[c+1:]...), story)
	}
}

// findID returns the cell that may have the id of a row: the first, or the second behind a number, a priority or the
// story of a criterion.
func (r *reader) findID(row markdown.Row) (c int, story string) {
	id, _, ok := r.readCell(row, 0)
	if !ok {
		if m := storyWord.FindStringSubmatch(bare(row.Cell(0))); m != nil {
			story = m[2]
		}
		return 1, story
	}
	if len(row.Cells) == 2 {
		return 0, ""
	}
	second, _, both := r.readCell(row, 1)
	switch {
	case !both:
	case !strong(id.Family) && strong(second.Family):
		return 1, ""
	case kindOf(id.Family) == Story && second.Family != id.Family:
		return 1, FormatNumber(id.Number)
	}
	return 0, ""
}

// readCell reads the id that begins a cell. In the first column of a table of requirements it may be a mere number.
func (r *reader) readCell(row markdown.Row, c int) (id Identifier, rest string, ok bool) {
	text := bare(row.Cell(c))
	id, rest, ok = readID(text)
	if counts := r.list != nil || r.sections[row.Line]&isWanted != 0; !ok && c == 0 && counts && r.doc.Tables[row.Table].Column(idColumns...) == 0 {
		return readNumber(text)
	}
	return id, rest, ok
}

// explains reports whether the text or the cells behind an id define it.
func explains(rest string, cells []string) bool {
	return hasWords(rest) || hasWords(strings.Join(cells, " ")) && !onlyIDs(cells)
}

// addRow adds the node of a row with an id.
func (r *reader) addRow(row markdown.Row, id Identifier, texts []string, story string) {
	n := Node{Kind: kindOf(id.Family), Form: Row, Identifier: id, Text: clipText(strings.Join(texts, " ")), Line: row.Line, restated: r.describesOther(row.Table)}
	if r.list != nil && r.list.depth >= depthOfLabel && n.Kind != Criterion && strong(id.Family) { // behind the list
		r.list = nil
	}
	switch {
	case r.list != nil:
		n.Kind = Criterion
	case n.Kind == Story && story == "" && !hasWords(texts[0]) && r.listsCriteria(row.Table):
		n.Kind, n.Identifier, n.placed = Criterion, Identifier{}, true
		r.addBelow(n, FormatNumber(id.Number), depthOfRow)
		return
	case n.Kind == Epic:
		n.Kind = Requirement
	}
	n.Title = clipTitle(firstBytes(n.Text, 120))
	r.addBelow(n, story, depthOfRow)
}

// addPlacedRow adds the criterion of a row without an id.
func (r *reader) addPlacedRow(row markdown.Row) {
	n, cells := Node{Kind: Criterion, Form: Row, Line: row.Line, placed: true}, row.Cells
	if number, err := strconv.Atoi(strings.Trim(cells[0], "#. ")); err == nil {
		n.Number, cells = []int{number}, cells[1:]
	}
	n.Text = clipText(strings.Join(cells, " "))
	r.list.criterion, r.list.begun = r.add(n, depthOfRow), false
}

// listsCriteria reports whether the rows of a table are criteria of the stories that they name, and not stories.
func (r *reader) listsCriteria(table int) bool {
	t := r.doc.Tables[table]
	column := max(t.Column(acceptance...), t.Column("criterion", "criteria"))
	for i, header := range t.Header {
		if i > 0 && i != column && markdown.MatchesName(markdown.NameOf(header), textColumns) {
			return false
		}
	}
	return column > 0
}

// inScenario reports whether the list is at a scenario, whose tables are examples.
func (r *reader) inScenario() bool {
	at := r.list.criterion
	return at >= 0 && r.nodes[at].placed && r.nodes[at].Form != Row
}

// addBelow adds a node below the story that its line names, unless it is that story.
func (r *reader) addBelow(n Node, story string, depth int) {
	at := r.add(n, depth)
	known, ok := r.stories[story]
	switch {
	case story == "", ok && known == at:
	case ok:
		r.nodes[at].Parent = known
	default:
		r.nodes[at].Parent, r.stories[story] = len(r.nodes), len(r.nodes)
		r.nodes = append(r.nodes, Node{Kind: Section, Form: Row, Identifier: Identifier{"US", parseNumber(story), story}, Line: n.Line, End: n.Line + 1, Parent: -1})
	}
}

// onlyIDs reports whether cells only name other ids.
func onlyIDs(cells []string) bool {
	for _, cell := range cells {
		for word := range strings.FieldsFuncSeq(bare(cell), func(c rune) bool { return strings.ContainsRune(", ;/&、，；", c) }) {
			if _, rest, ok := readID(strip(word)); (!ok || rest != "") && hasWords(word) && !refWord[strings.ToLower(word)] {
				return false
			}
		}
	}
	return true
}

// describesOther reports whether a table is about something else than requirements, and may only name them.
func (r *reader) describesOther(table int) bool {
	is, known := r.others[table]
	if !known {
		t := r.doc.Tables[table]
		is = t.Column(otherColumns...) >= 0 && t.Column(textColumns...) < 0
		r.others[table] = is
	}
	return is
}
