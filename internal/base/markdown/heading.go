package markdown

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Heading is a heading with the lines below it.
type Heading struct {
	Line, End int // End is the first line after them
	Level     int // 1 to 6; BoldKnown and BoldOther for lines with only the look of headings
	Text      string
	Name      string // normalized for comparing
	Rest      string // the text behind a heading in the same line
}

// The levels of headings without #: a bold or bare line with one of the names, and any other bold line.
const (
	BoldKnown = 7
	BoldOther = 8
)

var (
	boldLine  = pattern.New(`^ {0,3}(?:\*\*|__)([^*_].{0,118}?)(?:\*\*|__)[ \t]*[:：.。]?[ \t]*(.*)$`)
	numbering = pattern.New(`^(?:\d+(?:\.\d+)*[.)、：:]?[ \t]+|\d+[.、]|[IVX]+\.[ \t]+|[A-Z]\.[ \t]+|` +
		`[一二三四五六七八九十]+[、.．][ \t]*|第[一二三四五六七八九十\d]+[章节部分]+[ \t：:]*|[(（][一二三四五六七八九十\d]+[)）][ \t]*)`)
	// inNames has the signs that stand for a word in the name of a section, and the negations that belong to one.
	inNames = strings.NewReplacer("&", " and ", "/", " and ", "+", " and ", "\u00ad", "", "\u200b", "",
		"非功能性", "nonfunctional", "非功能", "nonfunctional", "非目标", "nongoals")
)

// HashHeading reads a heading with #.
func HashHeading(line string) (level int, text string, ok bool) {
	rest := strings.TrimLeft(line, " ")
	text = strings.TrimLeft(rest, "#")
	level = len(rest) - len(text)
	indent := len(line) - len(rest)
	isSeparate := text == "" || text[0] == ' ' || text[0] == '\t'
	if indent > 3 || level == 0 || level > 6 || !isSeparate || strings.IndexByte(text, '\n') >= 0 {
		return 0, "", false
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimRight(text, " \t"), "#")), true
}

func (d *Document) readHeadings(names []string) {
	for i, l := range d.Said {
		if d.Code[i] || strings.TrimSpace(l) == "" {
			continue
		}
		if h, ok := d.headingAt(i, names); ok {
			d.Heads = append(d.Heads, h)
		}
	}
	// Each heading ends at the next one of the same level or above.
	var open []int
	for i := range d.Heads {
		d.Heads[i].End = len(d.Lines)
		for len(open) > 0 && d.Heads[open[len(open)-1]].Level >= d.Heads[i].Level {
			d.Heads[open[len(open)-1]].End = d.Heads[i].Line
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
}

func (d *Document) headingAt(i int, names []string) (Heading, bool) {
	l := d.Said[i]
	if level, text, ok := HashHeading(l); ok {
		return newHeading(i, level, text, ""), text != ""
	}
	if level := d.underlineLevel(i); level > 0 {
		return newHeading(i, level, l, ""), true
	}
	if m := boldLine.FindStringSubmatch(l); m != nil {
		h := newHeading(i, BoldOther, strings.TrimRight(m[1], ":：."), m[2])
		if MatchesName(h.Name, names) && len(h.Name) <= 60 {
			h.Level = BoldKnown
			return h, true
		}
		return h, m[2] == "" && !strings.ContainsAny(m[1][len(m[1])-1:], ".!?,;")
	}
	return d.bareHeading(i, names)
}

// underlineLevel returns the level of a heading made by the line below, or 0.
func (d *Document) underlineLevel(i int) int {
	if i+1 == len(d.Lines) || !IsUnderline(d.Said[i+1]) || d.isBelowText(i) {
		return 0
	}
	trimmed := strings.TrimSpace(d.Said[i])
	if len(trimmed) > 120 || strings.ContainsAny(trimmed[:1], "|>-*+#=<") {
		return 0
	}
	if strings.Contains(d.Said[i+1], "=") {
		return 1
	}
	return 2
}

// isBelowText reports whether the line above has text.
func (d *Document) isBelowText(i int) bool { return i > 0 && strings.TrimSpace(d.Said[i-1]) != "" }

// bareHeading reads a heading without marks: a line that begins a paragraph with the name of a section,
// alone or before a colon.
func (d *Document) bareHeading(i int, names []string) (Heading, bool) {
	l := d.Said[i]
	if len(names) == 0 || d.isBelowText(i) || strings.Contains(l, "|") || hasBullet(l) {
		return Heading{}, false
	}
	bare, rest := strings.TrimSpace(l), ""
	if at := strings.IndexAny(bare, ":："); at >= 0 {
		bare, rest = bare[:at], strings.TrimLeft(bare[at:], ":：")
	}
	if len(bare) > 80 {
		return Heading{}, false
	}
	if n := NameOf(bare); !slices.Contains(names, n) && !slices.Contains(names, "="+n) {
		return Heading{}, false
	}
	return newHeading(i, BoldKnown, bare, rest), true
}

func newHeading(line, level int, s, rest string) Heading {
	s = strings.TrimSpace(s)
	return Heading{Line: line, Level: level, Text: s, Name: NameOf(s), Rest: strings.TrimSpace(rest)}
}

// Unnumbered returns a heading without the number.
func Unnumbered(text string) string { return numbering.ReplaceAllString(text, "") }

// NameOf normalizes a heading: no numbering, emphasis, dashes or signs, "and" for "&" and "/", lower case, single spaces.
// A name that denies another, as "Non-goals", has no space behind "non".
func NameOf(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "*_`#:： ")
	s = inNames.Replace(strings.ToLower(Unnumbered(s)))
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return ' '
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimPrefix(strings.ReplaceAll(" "+s, " non ", " non"), " ")
}

// MatchesName reports whether a heading's name contains one of the names as whole words, or equals it
// if it begins with =. Chinese has no spaces between words.
func MatchesName(name string, names []string) bool {
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
			if isChinese := n[0] >= 0x80; isChinese || isWhole(name, i, i+len(n)) {
				return true
			}
			from = i + 1
		}
	}
	return false
}

// isWhole reports whether a part of a name does not begin or end inside of a word.
func isWhole(name string, from, to int) bool {
	beginsInside := from > 0 && IsWordByte(name[from-1])
	endsInside := to < len(name) && IsWordByte(name[to])
	return !beginsInside && !endsInside
}

// IsWordByte reports whether a byte belongs to a word of ASCII: a letter, a digit or an underline.
func IsWordByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_':
		return true
	}
	return false
}
