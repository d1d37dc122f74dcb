package markdown

import (
	"slices"
	"strings"
)

// Sprint is a sprint of a plan with the lines of its section.
type Sprint struct {
	Number int
	// Title is the sprint's name in the plan besides the number; often empty.
	Title string
	// Line begins it, End is the first line after it.
	Line, End int
	// Rows are the rows with the name, if the plan has sprints only in a table.
	Rows []int
}

// named is a line with the name of a sprint.
type named struct {
	Sprint
	level int
	roman bool
}

// mark is a line that ends the sections of its level and below.
type mark struct{ line, level int }

// Sprints reads the sprints of a plan, each number once and in their order: from the headings, else from
// the bold lines, else from a table with a column of sprints. If several headings of the same level have a
// number, it is in repeated, once for each further heading.
func (d *Document) Sprints() (sprints []Sprint, repeated []int) {
	headings, bold, marks := d.namedSprints()
	found := withoutStrayNumerals(withoutTitle(headings, marks))
	if len(found) == 0 {
		found = withoutStrayNumerals(bold)
	}
	if len(found) == 0 {
		return d.sprintRows(), nil
	}
	sprints, repeated = firstOfEach(found)
	d.endSprints(sprints, found, marks)
	return sprints, repeated
}

// maxNamed bounds the lines read as names of sprints: no plan has so many, and each costs a pattern.
const maxNamed = 2000

// namedSprints finds the headings and the bold lines with the name of a sprint, and all headings.
func (d *Document) namedSprints() (headings, bold []named, marks []mark) {
	for i, said := range d.Said {
		line := strings.TrimLeft(said, " ")
		if d.Code[i] || line == "" || len(said)-len(line) > 3 {
			continue
		}
		level, text := d.sectionAt(i, line)
		if level > 0 {
			marks = append(marks, mark{i, level})
		} else if text = d.boldSprint(i, line); text == "" {
			continue
		}
		if len(headings)+len(bold) == maxNamed {
			continue
		}
		n, title, roman := readSprint(text)
		switch {
		case n < 0:
		case level > 0:
			headings = append(headings, named{Sprint{Number: n, Title: title, Line: i}, level, roman})
		default:
			bold = append(bold, named{Sprint{Number: n, Title: title, Line: i}, BoldOther, roman})
		}
	}
	return headings, bold, marks
}

// sectionAt reads a heading with # or with a line below it. Many people leave out the
// space behind the #.
func (d *Document) sectionAt(i int, line string) (level int, text string) {
	if line[0] == '#' {
		written := strings.TrimSpace(d.Written(i))
		text = strings.TrimLeft(written, "#")
		if level = len(written) - len(text); level > 6 {
			return 0, ""
		}
		return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(text), "#"))
	}
	if level = d.underlineLevel(i); level > 0 {
		text = strings.TrimSpace(d.Written(i))
	}
	return level, text
}

// boldSprint returns the text of a line with only the look of a heading: bold, alone or before a colon, a
// dash or parentheses. A sentence with a bold word in front is prose, and a link to another place of the
// document belongs to the contents.
func (d *Document) boldSprint(i int, line string) string {
	open := line[:len(line)-len(strings.TrimLeft(line, "*_"))]
	if len(open) < 2 || !anySprint.MatchString(line) || strings.Contains(line, "](#") {
		return ""
	}
	text, rest, closed := strings.Cut(strings.TrimLeft(d.Written(i), " ")[len(open):], open)
	text, rest = strings.TrimSpace(text), strings.TrimSpace(rest)
	hasMark := strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：") || strings.ContainsRune(":：-–—|", firstRune(rest))
	switch {
	case !closed:
		return ""
	case strings.Trim(rest, ":：") == "", sprintAside.FindString(rest) == rest:
		return text
	case hasMark && d.beginsParagraph(i):
		return text + ": " + strings.TrimLeft(rest, ":：-–—| ")
	}
	return ""
}

// beginsParagraph reports whether nothing stands right above a line but a heading.
func (d *Document) beginsParagraph(i int) bool {
	if i == 0 {
		return true
	}
	above := strings.TrimSpace(d.Said[i-1])
	return above == "" || above[0] == '#'
}

// Written returns a line without comments, with inline code.
func (d *Document) Written(i int) string {
	said := d.Said[i]
	if strings.IndexByte(said, '`') >= 0 {
		var comments Comments
		if line := comments.Strip(i, d.Lines[i]); len(line) == len(said) {
			return line
		}
	}
	return said
}

// withoutTitle drops the title of the whole document if a section has the same number, for example
// "# Sprint 1: plan".
func withoutTitle(found []named, marks []mark) []named {
	if len(found) < 2 || found[0].Line != marks[0].line || marks[0].level != 1 ||
		slices.ContainsFunc(marks[1:], func(m mark) bool { return m.level == 1 }) ||
		!slices.ContainsFunc(found[1:], func(n named) bool { return n.Number == found[0].Number }) {
		return found
	}
	return found[1:]
}

// withoutStrayNumerals drops Roman numerals from plans without a Sprint I: the X of "Sprint X" is a placeholder.
func withoutStrayNumerals(found []named) []named {
	if slices.ContainsFunc(found, func(n named) bool { return n.roman && n.Number == 1 }) {
		return found
	}
	return slices.DeleteFunc(found, func(n named) bool { return n.roman })
}

// firstOfEach keeps the first of the highest headings for each number: "### Sprint 1 risks" belongs to
// "## Sprint 1".
func firstOfEach(found []named) (sprints []Sprint, repeated []int) {
	best := map[int]int{} // the highest level for each number
	for _, n := range found {
		if level, ok := best[n.Number]; !ok || n.level < level {
			best[n.Number] = n.level
		}
	}
	seen := map[int]bool{}
	for _, n := range found {
		switch {
		case n.level != best[n.Number]:
		case !seen[n.Number]:
			seen[n.Number] = true
			sprints = append(sprints, n.Sprint)
		case n.level != BoldOther:
			repeated = append(repeated, n.Number)
		}
	}
	return sprints, repeated
}

// endSprints lets each sprint end at the next one, or at a heading of the same level or above. A bold line
// has the level below its section.
func (d *Document) endSprints(sprints []Sprint, found []named, marks []mark) {
	level := make(map[int]int, len(found))
	for _, n := range found {
		level[n.Line] = n.level
	}
	at, section := 0, 2 // the first heading behind the sprint, and the level of the section it is in
	for i := range sprints {
		sp := &sprints[i]
		sp.End = len(d.Lines)
		if i+1 < len(sprints) {
			sp.End = sprints[i+1].Line
		}
		for ; at < len(marks) && marks[at].line <= sp.Line; at++ {
			if i == 0 || marks[at].level <= section {
				section = max(2, marks[at].level)
			}
		}
		own := level[sp.Line]
		if own == BoldOther {
			own = section
		}
		for _, m := range marks[at:] {
			if m.line >= sp.End || m.level <= own {
				sp.End = min(sp.End, m.line)
				break
			}
		}
	}
}

// sprintRows reads the sprints of a table, if possible of a table with sprints in the first column, because
// a table of risks only mentions them.
func (d *Document) sprintRows() []Sprint {
	for _, leading := range []bool{true, false} {
		for _, t := range d.Tables {
			column := slices.IndexFunc(t.Header, func(h string) bool { return sprintColumn[NameOf(h)] })
			if column < 0 || leading != (column == 0) || MatchesName(NameOf(t.Header[0]), []string{"risk", "risks", "风险"}) {
				continue
			}
			if out := t.sprintsIn(column); len(out) > 0 {
				return out
			}
		}
	}
	return nil
}

func (t Table) sprintsIn(column int) (out []Sprint) {
	goal := t.Column("title", "name", "goal", "theme", "focus", "目标", "名称", "主题", "标题")
	at := map[int]int{}
	for _, row := range t.Rows {
		n, title := readSprintCell(row.Cell(column))
		if n < 0 {
			continue
		}
		i, known := at[n]
		if !known {
			if title == "" && column == 0 {
				title = row.Cell(goal)
			}
			i, at[n] = len(out), len(out)
			out = append(out, Sprint{Number: n, Title: title, Line: row.Line})
		}
		out[i].End = row.Line + 1
		out[i].Rows = append(out[i].Rows, row.Line)
	}
	for i := range out[:max(0, len(out)-1)] {
		out[i].End = min(out[i].End, out[i+1].Line)
	}
	return out
}
