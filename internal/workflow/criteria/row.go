package criteria

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// isTableHead reports whether a line is the head of a table, or the rule below.
func (r *reader) isTableHead(i int) bool {
	if markdown.IsTableRule(r.doc.Lines[i]) {
		return true
	}
	_, found := slices.BinarySearchFunc(r.doc.Tables, i, func(t markdown.Table, line int) int { return t.Line - line })
	return found
}

// readRow reads the row of a table.
func (r *reader) readRow(i int, row markdown.Row) {
	if r.sections[i]&(isOmitted|isNaming) != 0 || len(row.Cells) == 0 {
		return
	}
	if r.list == nil {
		r.close(depthOfItem, i)
	}
	story := ""
	for c, cell := range row.Cells[:min(2, len(row.Cells))] {
		text := strip(Narrow(cell))
		if strings.HasPrefix(text, "~~") {
			return
		}
		id, rest, ok := readID(text)
		if !ok && c == 0 && (r.list != nil || r.sections[i]&isWanted != 0) && r.doc.Tables[row.Table].Column("id", "no", "nr", "number", "编号", "序号", "番号", "번호", "#") == 0 {
			id, rest, ok = readNumber(text)
		}
		if !ok {
			if m := storyWord.FindStringSubmatch(text); m != nil && c == 0 {
				story = m[2]
			}
			continue
		}
		second := c == 1 && story == "" && r.list == nil
		if c == 0 && !strong(id.Family) && len(row.Cells) > 2 {
			if other, _, ok := readID(strip(Narrow(row.Cells[1]))); ok && strong(other.Family) {
				continue // a number or a priority before the id
			}
		}
		explained := hasWords(rest) || hasWords(strings.Join(row.Cells[c+1:], " ")) && !onlyIDs(row.Cells[c+1:])
		if !explained || listed.MatchString(rest) || second && hasWords(rest) && !strong(id.Family) {
			return
		}
		kind := Requirement
		if criterionFamilies[stem(id.Family)] || r.list != nil {
			kind = Criterion
		} else if storyFamilies[stem(id.Family)] {
			kind = Story
		}
		if kind == Story && c == 0 && len(row.Cells) > 2 { // the row may be about one of the criteria of the story
			if inner, _, ok := readID(strip(Narrow(row.Cells[1]))); ok && inner.Family != id.Family {
				story = FormatNumber(id.Number)
				continue
			}
		}
		if kind == Story && c == 0 && !hasWords(rest) && r.listsCriteria(row.Table) {
			n := Node{Kind: Criterion, Form: Row, Line: i, placed: true}
			n.Text = clipText(strings.Join(row.Cells[1:], " "))
			r.addBelow(n, FormatNumber(id.Number), depthOfRow)
			return
		}
		n := Node{Kind: kind, Form: Row, Identifier: id, Line: i, restated: r.describesOther(row.Table)}
		n.Text = clipText(strings.Join(append([]string{rest}, row.Cells[c+1:]...), " "))
		n.Title = clipTitle(firstSentence(n.Text))
		r.addBelow(n, story, depthOfRow)
		return
	}
	if r.list != nil && !r.inScenario() && hasWords(strings.Join(row.Cells, " ")) {
		n := Node{Kind: Criterion, Form: Row, Line: i, placed: true}
		cells := row.Cells
		if number, err := strconv.Atoi(strings.Trim(cells[0], "#. ")); err == nil {
			n.Number, cells = []int{number}, cells[1:]
		}
		n.Text = clipText(strings.Join(cells, " "))
		r.list.criterion, r.list.begun = r.add(n, depthOfRow), false
	}
}

// inScenario reports whether the list is at a scenario, whose tables are examples.
func (r *reader) inScenario() bool {
	at := r.list.criterion
	return at >= 0 && r.nodes[at].placed && r.nodes[at].Form != Row
}

// listsCriteria reports whether the rows of a table are criteria of the stories that they name, and not stories.
func (r *reader) listsCriteria(table int) bool {
	t := r.doc.Tables[table]
	criteria := max(t.Column(acceptance...), t.Column("criterion", "criteria"))
	for i, header := range t.Header {
		if i > 0 && i != criteria && markdown.MatchesName(markdown.NameOf(header), textColumns) {
			return false
		}
	}
	return criteria > 0
}

// addBelow adds a node below the story that its line names.
func (r *reader) addBelow(n Node, story string, depth int) {
	at := r.add(n, depth)
	if story == "" {
		return
	}
	if known, ok := r.stories[story]; ok {
		r.nodes[at].Parent = known
		return
	}
	r.nodes[at].Parent, r.stories[story] = len(r.nodes), len(r.nodes)
	r.nodes = append(r.nodes, Node{Kind: Section, Form: Row, Identifier: Identifier{"US", parseNumber(story), story}, Line: n.Line, End: n.Line + 1, Parent: -1})
}

// onlyIDs reports whether cells only name other ids.
func onlyIDs(cells []string) bool {
	for _, cell := range cells {
		for word := range strings.FieldsFuncSeq(strip(Narrow(cell)), func(c rune) bool { return strings.ContainsRune(", ;/&、，；", c) }) {
			if _, rest, ok := readID(strip(word)); (!ok || rest != "") && hasWords(word) && !refWord[strings.ToLower(word)] {
				return false
			}
		}
	}
	return true
}

var refWord = words("epic story sprint yes no done and to n/a - must should could")

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
