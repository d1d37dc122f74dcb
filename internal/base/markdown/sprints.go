package markdown

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Sprint is a sprint of a plan with the lines of its section.
type Sprint struct {
	Number int
	// Label is the sprint's name if the plan has another than the number: the A of "Sprint A".
	Label string
	// Title is the sprint's name in the plan besides the number; often empty.
	Title string
	// Line begins it, End is the first line after it.
	Line, End int
	// Rows are the rows with the name, if the sprint is only in a table.
	Rows []int
}

// Name returns the label or the number.
func (s Sprint) Name() string { return cmp.Or(s.Label, strconv.Itoa(s.Number)) }

// Lines returns the lines of the sprint: its section, or its rows.
func (s Sprint) Lines() []int {
	if len(s.Rows) > 0 {
		return slices.Clone(s.Rows)
	}
	lines := make([]int, 0, s.End-s.Line)
	for i := s.Line; i < s.End; i++ {
		lines = append(lines, i)
	}
	return lines
}

// named is a line with the name of a sprint.
type named struct {
	spoken
	line, end int
	level     int
	// parts are the further headings of the sprint, rows its rows in a table.
	parts, rows []int
}

// The levels of sprints without a heading: a bold item, and any other item or paragraph.
const (
	boldItem  = BoldOther + 1
	plainLine = BoldOther + 2
)

// mark is a line that ends the sections of its level and below.
type mark struct{ line, level int }

// Sprints reads the sprints of a plan, each once and in their order: from the headings, else from the bold lines, else
// from a table with a column of sprints, else from the items. A plan without sprints may have phases, milestones or weeks.
// If several headings of the same level have one name, it is in repeated, once for each further heading.
func (d *Document) Sprints() (sprints []Sprint, repeated []string) {
	names, marks := d.namedLines()
	found, repeated := d.choose(names[0], marks)
	if len(found) == 0 {
		found, repeated = d.otherUnits(names[1:], marks)
	}
	keys := make([]string, len(found))
	for i, n := range found {
		keys[i] = n.key()
	}
	sprints = numberSprints(found)
	for i, key := range repeated {
		repeated[i] = sprints[slices.Index(keys, key)].Name()
	}
	return sprints, repeated
}

// choose returns the sprints from the most telling of the places.
func (d *Document) choose(names []named, marks []mark) (found []named, repeated []string) {
	rows := d.rowNames(units[0], sprintColumn)
	for _, place := range [][2]int{{1, BoldKnown}, {BoldOther, BoldOther}, {boldItem, boldItem}, {plainLine, plainLine}} {
		at := slices.DeleteFunc(slices.Clone(names), func(n named) bool { return n.level < place[0] || n.level > place[1] })
		at, twice := firstOfEach(withoutStrays(withoutTitle(at, marks)))
		isFound := len(at) > 0
		if place[0] == plainLine { // one item, or items beside a table of sprints, only mention them
			isFound = len(at) > 1 && len(rows) == 0
		}
		if isFound {
			d.endSections(at, marks)
			return mergeRows(at, rows), twice
		}
	}
	return rows, nil
}

// mergeRows adds the sprints that only an overview in a table names to the ones with sections.
func mergeRows(found, rows []named) []named {
	sections := map[string]named{}
	for _, n := range found {
		sections[n.key()] = n
	}
	merged := slices.Clone(rows)
	for i, row := range rows {
		if section, ok := sections[row.key()]; ok {
			merged[i], merged[i].title = section, cmp.Or(section.title, row.title)
			delete(sections, row.key())
		}
	}
	if len(sections) > 0 { // the table is not an overview
		return found
	}
	return merged
}

// otherUnits returns the parts that a plan without sprints has instead: at least two, and the outermost. A plan
// made of stories or epics has none.
func (d *Document) otherUnits(lines [][]named, marks []mark) (found []named, repeated []string) {
	outermost := plainLine - 1
	asides := slices.DeleteFunc(slices.Clone(d.Heads), func(h Heading) bool { return !asideName.MatchString(h.Text) })
	for _, names := range lines {
		names = slices.DeleteFunc(names, func(n named) bool {
			isAside := slices.ContainsFunc(asides, func(h Heading) bool { return h.Line < n.line && n.line < h.End && h.Level < n.level })
			return isAside || n.level > outermost
		})
		at, twice := firstOfEach(withoutStrays(withoutTitle(names, marks)))
		if len(at) < 2 {
			continue
		}
		level := slices.MinFunc(at, func(a, b named) int { return a.level - b.level }).level
		if level < outermost || len(at) > len(found) {
			found, repeated, outermost = at, twice, level
		}
	}
	if len(found) == 0 {
		if found = d.rowNames(units[1], phaseColumn); len(found) < 2 {
			return nil, nil
		}
	}
	stories := slices.DeleteFunc(slices.Clone(d.Heads), func(h Heading) bool { return h.Level > outermost || !storyName.MatchString(h.Text) })
	if len(stories) > 1 {
		return nil, nil
	}
	if len(found[0].rows) == 0 {
		d.endSections(found, marks)
	}
	return found, repeated
}

var (
	// storyName begins the heading of a story, asideName is in the heading of all stories or of a roll-out.
	storyName = pattern.New(`(?i)^[^\p{L}\p{N}]*(?:\d+(?:\.\d+)*[.)]?\s+)?(?:epic|user story|story|用户故事|故事|史诗)\s*#?\d`)
	asideName = pattern.New(`(?i)\bstor(?:y|ies)\b|故事|\broll-?out\b`)
)

// maxNamed bounds the lines read as names of sprints: no plan has so many, and each costs a pattern.
const maxNamed = 2000

// namedLines finds the lines with the name of a sprint or of another unit, and all headings.
func (d *Document) namedLines() (names [][]named, marks []mark) {
	names, read := make([][]named, len(units)), 0
	for i, said := range d.Said {
		line := strings.TrimLeft(said, " ")
		if d.Code[i] || line == "" || len(said)-len(line) > 3 || line[0] == '|' || line[0] == '>' {
			continue
		}
		level, text := d.sectionAt(i, line)
		if level > 0 {
			marks = append(marks, mark{i, level})
		}
		if read == maxNamed {
			continue
		}
		if level == 0 {
			level, text = d.sprintLine(i, line)
		}
		if text == "" {
			continue
		}
		counted := false
		for k, u := range units {
			if n, ok := u.readName(text); ok {
				names[k], counted = append(names[k], named{spoken: n, line: i, level: level}), true
			}
		}
		if counted {
			read++
		}
	}
	return names, marks
}

// htmlHeading is a heading in HTML on one line.
var htmlHeading = pattern.New(`(?i)^\s*(?:<[^>]*>\s*)*?<h([1-6])(?:\s[^>]*)?>(.*?)</h[1-6]\s*>`)

// sectionAt reads a heading with # or with a line below it, or in HTML. Many people leave out the
// space behind the #.
func (d *Document) sectionAt(i int, line string) (level int, text string) {
	switch line[0] {
	case '#':
		written := strings.TrimSpace(d.Written(i))
		text = strings.TrimLeft(written, "#")
		if level = len(written) - len(text); level > 6 {
			return 0, ""
		}
		return level, withoutTags(strings.TrimSpace(strings.TrimRight(strings.TrimSpace(text), "#")))
	case '<':
		if m := htmlHeading.FindStringSubmatch(d.Written(i)); m != nil {
			return int(m[1][0] - '0'), withoutTags(m[2])
		}
	}
	if level = d.underlineLevel(i); level > 0 {
		text = strings.TrimSpace(d.Written(i))
	}
	return level, text
}

// sprintLine returns the text of a line that may name a sprint without a heading.
func (d *Document) sprintLine(i int, line string) (level int, text string) {
	if strings.Contains(line, "](#") || !slices.ContainsFunc(units, func(u unit) bool { return u.any.MatchString(line) }) {
		return 0, "" // it belongs to the contents, or to none
	}
	written := strings.TrimLeft(withoutTags(d.Written(i)), " ")
	_, body, isItem := Item(written)
	if !isItem {
		body = written
	}
	switch text := boldText(body, isItem || d.beginsParagraph(i)); {
	case text != "" && isItem:
		return boldItem, text
	case text != "":
		return BoldOther, text
	case isItem || d.beginsParagraph(i):
		return plainLine, plainName(body)
	}
	return 0, ""
}

// boldText returns a text with only the look of a heading: bold, alone or before a colon, a dash or parentheses.
// A sentence with a bold word in front is prose.
func boldText(line string, begins bool) string {
	open := line[:len(line)-len(strings.TrimLeft(line, "*_"))]
	if len(open) < 2 {
		return ""
	}
	text, rest, closed := strings.Cut(line[len(open):], open)
	text, rest = strings.TrimSpace(text), strings.TrimSpace(rest)
	hasMark := strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：") || strings.ContainsRune(":：-–—|", firstRune(rest))
	switch {
	case !closed:
		return ""
	case strings.Trim(rest, ":："+ticks) == "", sprintAside.FindString(rest) == rest:
		return text
	case hasMark && begins:
		return text + ": " + strings.TrimLeft(rest, ":：-–—| ")
	}
	return ""
}

// bareName is a word with a number or a letter.
var bareName = pattern.New(`^\p{L}+[\s-]*(?:\d{1,3}|[A-Z])$`)

// plainName returns a text if it is a name before a colon or a dash, or nothing but a short name.
func plainName(text string) string {
	name, _, cut := strings.Cut(strings.NewReplacer("：", ":", " – ", ":", " — ", ":", " - ", ":").Replace(text), ":")
	if isName := cut || bareName.MatchString(name); !isName || len(name) > 40 {
		return ""
	}
	return text
}

var (
	boldTag = pattern.New(`(?i)</?(?:b|strong|summary)>`)
	tag     = pattern.New(`</?[A-Za-z][^<>]*>`)
)

// withoutTags returns a line of HTML in Markdown.
func withoutTags(line string) string {
	if !strings.Contains(line, "<") {
		return line
	}
	return tag.ReplaceAllString(boldTag.ReplaceAllString(line, "**"), "")
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

// withoutTitle drops the title of the whole document if a section has the same name, for example
// "# Sprint 1: plan".
func withoutTitle(found []named, marks []mark) []named {
	if len(found) < 2 || len(marks) == 0 || found[0].line != marks[0].line || marks[0].level != 1 ||
		slices.ContainsFunc(marks[1:], func(m mark) bool { return m.level == 1 }) ||
		!slices.ContainsFunc(found[1:], func(n named) bool { return n.key() == found[0].key() }) {
		return found
	}
	return found[1:]
}

// withoutStrays reads Roman numerals where a plan has a Sprint I. Other letters count in a row, because the X of
// "Sprint X" is a placeholder, and names as 1.5 and 2a beside others of their level.
func withoutStrays(found []named) []named {
	has := map[string]bool{}
	level := plainLine
	for _, n := range found {
		has[n.key()] = true
		if n.number >= 0 && n.suffix == "" {
			level = min(level, n.level)
		}
	}
	out := found[:0]
	for _, n := range found {
		isLate := n.suffix > "H" // a letter that counts only behind the one before
		switch {
		case n.number >= 0 && n.suffix != "":
			if n.level > level || len(has) < 2 {
				continue
			}
		case n.number >= 0:
		case has["I"] && !has["H"] && Number(n.suffix) > 0:
			n.number, n.suffix = Number(n.suffix), ""
		case len(n.suffix) > 1, isLate && !has[string(n.suffix[0]-1)]:
			continue
		}
		out = append(out, n)
	}
	return out
}

// partOfSprint begins the title of a further heading of a sprint.
var partOfSprint = pattern.New(`(?i)^(?:sprint )?(?:retro|review|demo\b|planning|plan\b|goals?\b|backlog|summary|overview|risks?\b|dependencies|stories|user stories` +
	`|tasks?\b|deliverables?|definition of done|done when|acceptance|capacity|burndown|metrics|notes?\b|timeline|schedule|results?\b|outcomes?\b|velocity|stand-?up|daily` +
	`|checklist|report|closing|wrap-?up|lessons|retrospektive|ziele?\b|aufgaben|rétrospective|revue|objectifs?\b|retrospectiva|revisión|revisão|objetivos?\b` +
	`|回顾|评审|计划|目标|风险|总结|任务|待办|演示|交付|依赖|验收|故事|概览|振り返り|レビュー|회고|리뷰|ретроспектива|обзор|цели)`)

// firstOfEach keeps the first of the highest headings for each name: "### Sprint 1 risks" belongs to
// "## Sprint 1". A heading on a part of a sprint, for example the retrospective, does not begin another sprint.
// repeated has the keys of the headings that do.
func firstOfEach(found []named) (sprints []named, repeated []string) {
	best := map[string]int{} // the highest level for each name
	for _, n := range found {
		if level, ok := best[n.key()]; !ok || n.level < level {
			best[n.key()] = n.level
		}
	}
	at := map[string]int{}
	for _, n := range found {
		i, seen := at[n.key()]
		isPart := partOfSprint.MatchString(n.title)
		switch {
		case n.level != best[n.key()]:
		case !seen:
			at[n.key()] = len(sprints)
			sprints = append(sprints, n)
		case isPart:
			sprints[i].parts = append(sprints[i].parts, n.line)
		case partOfSprint.MatchString(sprints[i].title):
			n.parts, n.line = append(sprints[i].parts, n.line), sprints[i].line
			sprints[i] = n
		case n.level < BoldOther:
			repeated = append(repeated, n.key())
		}
	}
	return sprints, repeated
}

// endSections lets each sprint end at the next one, or at a heading of the same level or above. A bold line
// has the level below its section.
func (d *Document) endSections(found []named, marks []mark) {
	at, section := 0, 2 // the first heading behind the sprint, and the level of the section it is in
	for i := range found {
		n := &found[i]
		n.end = len(d.Lines)
		if i+1 < len(found) {
			n.end = found[i+1].line
		}
		for ; at < len(marks) && marks[at].line <= n.line; at++ {
			if i == 0 || marks[at].level <= section {
				section = max(2, marks[at].level)
			}
		}
		own := n.level
		if own >= BoldOther {
			own = section
		}
		for _, m := range marks[at:] {
			if m.line >= n.end || m.level <= own && !slices.Contains(n.parts, m.line) {
				n.end = min(n.end, m.line)
				break
			}
		}
	}
}

// numberSprints returns the sprints with their numbers. The letters that all have in common do not count. A name other than a whole number
// gets the first free number from the place of the sprint.
func numberSprints(found []named) []Sprint {
	common := slices.ContainsFunc(found, func(n named) bool { return n.prefix != found[0].prefix || n.suffix != "" })
	used := map[int]bool{}
	for i := range found {
		if n := &found[i]; !common {
			n.prefix = ""
		}
		if n := found[i]; n.isNumber() {
			used[n.number] = true
		}
	}
	var out []Sprint
	for i, n := range found {
		sp := Sprint{Number: n.number, Title: n.title, Line: n.line, End: n.end, Rows: n.rows}
		if !n.isNumber() {
			sp.Label = n.name()
			for sp.Number = i + 1; used[sp.Number]; sp.Number++ {
			}
			used[sp.Number] = true
		}
		out = append(out, sp)
	}
	return out
}

// rowNames reads the sprints of a table, if possible of a table with sprints in the first column, because
// a table of risks only mentions them.
func (d *Document) rowNames(u unit, columns map[string]bool) []named {
	for _, leading := range []bool{true, false} {
		for _, t := range d.Tables {
			column := slices.IndexFunc(t.Header, func(h string) bool { return columns[NameOf(h)] })
			named := slices.ContainsFunc(t.Header[1:], u.any.MatchString) || u.any.MatchString(headingAbove(d.Heads, t.Line))
			if column < 0 && numberColumn.MatchString(t.Header[0]) && named {
				column = 0
			}
			if column < 0 || leading != (column == 0) || MatchesName(NameOf(t.Header[0]), []string{"risk", "risks", "风险"}) {
				continue
			}
			if out := t.namesIn(u, column); len(out) > 0 {
				return out
			}
		}
	}
	return nil
}

// headingAbove returns the text of the last of some headings above a line.
func headingAbove(heads []Heading, line int) string {
	at, _ := slices.BinarySearchFunc(heads, line, func(h Heading, line int) int { return h.Line - line })
	if at == 0 {
		return ""
	}
	return heads[at-1].Text
}

// numberColumn is the head of a column of numbers.
var numberColumn = pattern.New(`(?i)^\W*(?:#|№|no\.?|nr\.?|n°|nº|序号|编号)\W*$`)

func (t Table) namesIn(u unit, column int) (out []named) {
	goal := t.Column("title", "name", "goal", "theme", "focus", "objetivo", "objectif", "ziel", "zielsetzung", "цель", "цели", "目标", "名称", "主题", "标题")
	var all []named
	for _, row := range t.Rows {
		if name, ok := u.readCell(row.Cell(column)); ok {
			if name.title == "" && column == 0 {
				name.title = row.Cell(goal)
			}
			all = append(all, named{spoken: name, line: row.Line})
		}
	}
	at := map[string]int{}
	for _, n := range withoutStrays(all) {
		i, known := at[n.key()]
		if !known {
			i, at[n.key()] = len(out), len(out)
			out = append(out, n)
		}
		out[i].end = n.line + 1
		out[i].rows = append(out[i].rows, n.line)
	}
	for i := range out[:max(0, len(out)-1)] {
		out[i].end = min(out[i].end, out[i+1].line)
	}
	return out
}
