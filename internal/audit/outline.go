package audit

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// text is a document, read once: every line as it stands, what each line says,
// its headings and its tables. Lines count from 0 here and from 1 in findings.
type text struct {
	lines []string
	// said is the line without inline code and comments; empty in a code block.
	said  []string
	code  []bool
	heads []heading
	// tables are in the order of the document; cellsOf gives the cells of a table's row by its line.
	tables  []table
	cellsOf map[int]tableRow
	// criterion tells which lines state an acceptance criterion.
	criterion []bool
	// masks keep what within has found out, by the names.
	masks map[string][]bool
	// defined are the definitions of ids, once they were asked for.
	defined []definition
	// written is the document's prose, once it was asked for.
	written *prose
}

// heading is a heading with the lines that belong to it.
type heading struct {
	line, end int // end is the first line that no longer belongs to it
	level     int // 1–6; boldKnown and boldOther for lines that only look like headings
	text      string
	name      string // normalized for comparing
	rest      string // what stands behind a heading in its own line
}

// The levels of headings that are written without #: a bold or numbered line
// with the name of a section the rubric knows, and any other bold line.
const (
	boldKnown = 7
	boldOther = 8
)

var (
	fenceMark   = regexp.MustCompile("^ {0,3}(```+|~~~+)(.*)$")
	hashHeading = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+|$)(.*?)[ \t]*#*[ \t]*$`)
	boldLine    = regexp.MustCompile(`^ {0,3}(?:\*\*|__)([^*_].{0,118}?)(?:\*\*|__)[ \t]*[:：.。]?[ \t]*(.*)$`)
	underline   = regexp.MustCompile(`^ {0,3}(?:=+|-{3,})[ \t]*$`)
	inlineCode  = regexp.MustCompile("`[^`\n]+`")
	listItem    = regexp.MustCompile(`^([ \t]*)(?:[-*+•·]|\d{1,3}[.)、）]|[(（]\d{1,2}[)）])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)$`)
	numbering   = regexp.MustCompile(`^(?:\d+(?:\.\d+)*[.)、：:]?[ \t]+|\d+[.、]|[一二三四五六七八九十]+[、.．][ \t]*|第[一二三四五六七八九十\d]+[章节部分]+[ \t：:]*|[(（][一二三四五六七八九十\d]+[)）][ \t]*|[IVX]+\.[ \t]+|[A-Z]\.[ \t]+)`)
	nonFunction = strings.NewReplacer("non-functional", "nonfunctional", "non functional", "nonfunctional", "非功能性", "nonfunctional", "非功能", "nonfunctional")
)

// readText reads a document. names are the section names of a rubric, as nameOf
// gives them: a bold, numbered or bare line with such a name is a heading.
func readText(document string, names []string) *text {
	document = strings.TrimPrefix(strings.ToValidUTF8(document, "\uFFFD"), "\ufeff")
	d := &text{lines: strings.Split(document, "\n"), cellsOf: map[int]tableRow{}}
	for i, l := range d.lines {
		d.lines[i] = strings.TrimSuffix(l, "\r")
	}
	d.said = slices.Clone(d.lines)
	d.code = make([]bool, len(d.lines))
	d.markFences()
	d.blankComments()
	for i, l := range d.said {
		if strings.IndexByte(l, '`') >= 0 {
			d.said[i] = inlineCode.ReplaceAllStringFunc(l, func(c string) string {
				return "`" + strings.Repeat(" ", len(c)-2) + "`"
			})
		}
	}
	d.readTables()
	d.readHeadings(names)
	d.markCriteria()
	return d
}

// markFences finds the code blocks, and takes off one Markdown fence around the whole.
func (d *text) markFences() {
	first, last := d.span()
	if first < last {
		m := fenceMark.FindStringSubmatch(d.lines[first])
		if m != nil && (strings.TrimSpace(m[2]) == "markdown" || strings.TrimSpace(m[2]) == "md") && strings.TrimSpace(d.lines[last]) == m[1] {
			d.lines[first], d.lines[last], d.said[first], d.said[last] = "", "", "", ""
		}
	}
	if first < len(d.lines) && d.lines[first] == "---" {
		for i := first + 1; i < min(first+40, len(d.lines)); i++ {
			if d.lines[i] == "---" {
				d.markCode(first, i) // front matter
				break
			}
		}
	}
	open, mark := -1, ""
	for i := range d.lines {
		if d.code[i] || !strings.Contains(d.lines[i], "```") && !strings.Contains(d.lines[i], "~~~") {
			continue
		}
		m := fenceMark.FindStringSubmatch(d.lines[i])
		switch {
		case m == nil:
		case open < 0 && !strings.Contains(m[2], "`"):
			open, mark = i, m[1]
		case open >= 0 && strings.HasPrefix(m[1], mark) && strings.TrimSpace(m[2]) == "":
			d.markCode(open, i)
			open = -1
		}
	}
}

// span returns the first and the last line with anything on it.
func (d *text) span() (first, last int) {
	last = len(d.lines) - 1
	for first < len(d.lines) && strings.TrimSpace(d.lines[first]) == "" {
		first++
	}
	for last > first && strings.TrimSpace(d.lines[last]) == "" {
		last--
	}
	return first, last
}

func (d *text) markCode(from, to int) {
	for i := from; i <= to; i++ {
		d.code[i], d.said[i] = true, ""
	}
}

func (d *text) blankComments() {
	inside := false
	for i, l := range d.said {
		if d.code[i] || !inside && !strings.Contains(l, "<!--") {
			continue
		}
		var b strings.Builder
		for l != "" {
			if inside {
				_, after, ok := strings.Cut(l, "-->")
				l, inside = after, !ok
				continue
			}
			before, after, ok := strings.Cut(l, "<!--")
			b.WriteString(before)
			l, inside = after, ok
		}
		d.said[i] = b.String()
	}
}

func (d *text) readHeadings(names []string) {
	for i, l := range d.said {
		if d.code[i] || strings.TrimSpace(l) == "" {
			continue
		}
		if h, ok := d.headingAt(i, names); ok {
			d.heads = append(d.heads, h)
		}
	}
	// Each heading ends where one of its level or above begins.
	var open []int
	for i := range d.heads {
		d.heads[i].end = len(d.lines)
		for len(open) > 0 && d.heads[open[len(open)-1]].level >= d.heads[i].level {
			d.heads[open[len(open)-1]].end = d.heads[i].line
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
}

func (d *text) headingAt(i int, names []string) (heading, bool) {
	l := d.said[i]
	if m := hashHeading.FindStringSubmatch(l); m != nil {
		return newHeading(i, len(m[1]), m[2], ""), strings.TrimSpace(m[2]) != ""
	}
	trimmed := strings.TrimSpace(l)
	if i+1 < len(d.lines) && underline.MatchString(d.said[i+1]) && len(trimmed) <= 120 &&
		!strings.ContainsAny(trimmed[:1], "|>-*+#=<") && (i == 0 || strings.TrimSpace(d.said[i-1]) == "") {
		level := 2
		if strings.Contains(d.said[i+1], "=") {
			level = 1
		}
		return newHeading(i, level, trimmed, ""), true
	}
	if m := boldLine.FindStringSubmatch(l); m != nil {
		h := newHeading(i, boldOther, strings.TrimRight(m[1], ":：."), m[2])
		if matchesName(h.name, names) && len(h.name) <= 60 {
			h.level = boldKnown
			return h, true
		}
		return h, m[2] == "" && !strings.ContainsAny(m[1][len(m[1])-1:], ".!?,;")
	}
	return d.bareHeading(i, names)
}

// bareHeading reads a line that is a heading only because it begins a paragraph
// with the name of a section, alone or before a colon.
func (d *text) bareHeading(i int, names []string) (heading, bool) {
	l := d.said[i]
	if len(names) == 0 || i > 0 && strings.TrimSpace(d.said[i-1]) != "" || strings.Contains(l, "|") || listMark(l) != "" {
		return heading{}, false
	}
	bare, rest := strings.TrimSpace(l), ""
	if at := strings.IndexAny(bare, ":："); at >= 0 {
		bare, rest = bare[:at], strings.TrimLeft(bare[at:], ":：")
	}
	n := nameOf(bare[:boundary(bare, 80)])
	if len(bare) > 80 || !slices.Contains(names, n) && !slices.Contains(names, "="+n) {
		return heading{}, false
	}
	return newHeading(i, boldKnown, bare, rest), true
}

// listMark returns the bullet of a list item, or nothing. A number is none: it
// may belong to a heading.
func listMark(l string) string {
	l = strings.TrimLeft(l, " \t")
	if len(l) > 1 && strings.ContainsAny(l[:1], "-*+") && l[1] == ' ' {
		return l[:1]
	}
	return ""
}

func newHeading(line, level int, s, rest string) heading {
	s = strings.TrimSpace(s)
	return heading{line: line, level: level, text: s, name: nameOf(s), rest: strings.TrimSpace(rest)}
}

// nameOf normalizes a heading: no numbering, emphasis or signs, lower case, single spaces.
func nameOf(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "*_`#:： ")
	s = numbering.ReplaceAllString(s, "")
	s = nonFunction.Replace(strings.ToLower(s))
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '/' || r == '-' {
			return r
		}
		return ' '
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// matchesName reports whether a heading's name contains one of the names as whole
// words, or is the name where that begins with =; Chinese has no spaces between words.
func matchesName(name string, names []string) bool {
	for _, n := range names {
		if whole, ok := strings.CutPrefix(n, "="); ok && name == whole {
			return true
		} else if n == "" || ok {
			continue
		}
		for from := 0; ; {
			i := strings.Index(name[from:], n)
			if i < 0 {
				break
			}
			i += from
			if (n[0] >= 0x80 || i == 0 || !wordByte(name[i-1])) && (n[0] >= 0x80 || i+len(n) == len(name) || !wordByte(name[i+len(n)])) {
				return true
			}
			from = i + 1
		}
	}
	return false
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// title returns the heading of the document as a whole, and its index, or -1:
// the first one, where no other heading is on its level.
func (d *text) title() (string, int) {
	if len(d.heads) == 0 || d.heads[0].level != 1 {
		return "", -1
	}
	for _, h := range d.heads[1:] {
		if h.level == 1 {
			return d.heads[0].text, -1
		}
	}
	return d.heads[0].text, 0
}

// sections returns the headings that carry one of the names; the title is none.
func (d *text) sections(names []string) []heading {
	var out []heading
	_, title := d.title()
	for i, h := range d.heads {
		if i != title && matchesName(h.name, names) {
			out = append(out, h)
		}
	}
	return out
}

// within reports whether a line belongs to a heading with one of the names.
func (d *text) within(line int, names []string) bool {
	key := strings.Join(names, "|")
	mask, ok := d.masks[key]
	if !ok {
		mask = make([]bool, len(d.lines))
		for _, h := range d.sections(names) {
			for i := h.line; i < h.end; i++ {
				mask[i] = true
			}
		}
		if d.masks == nil {
			d.masks = map[string][]bool{}
		}
		d.masks[key] = mask
	}
	return mask[line]
}

// sectionOf gives for each line the index of its innermost # heading of at most
// level 2, or -1.
func (d *text) sectionOf() []int {
	out := make([]int, len(d.lines))
	next, current := 0, -1
	for i := range out {
		for next < len(d.heads) && d.heads[next].line == i {
			if d.heads[next].level <= 2 {
				current = next
			}
			next++
		}
		out[i] = current
	}
	return out
}

// item returns the text of a list item without its mark, or nothing.
func item(l string) (indent int, body string, ok bool) {
	m := listItem.FindStringSubmatch(l)
	if m == nil {
		return 0, "", false
	}
	return len(m[1]), m[2], true
}

// substance reports whether a line says anything of its own: not blank, no rule,
// no lone word for "later".
func substance(l string) bool {
	if _, body, ok := item(l); ok {
		l = body
	}
	l = strings.ToLower(strings.Trim(strings.TrimSpace(l), "*_>|-:：.。…()（）[]【】 \t"))
	return l != "" && !lonePlaceholder[l]
}

// lonePlaceholder holds what stands in a section or cell that nobody has filled.
var lonePlaceholder = map[string]bool{
	"tbd": true, "todo": true, "tbc": true, "to do": true, "to be done": true, "to be defined": true, "to be determined": true, "fixme": true, "xxx": true,
	"coming soon": true, "to be added": true, "待定": true, "待补充": true, "待完善": true, "待填写": true, "待确认": true, "略": true,
}
