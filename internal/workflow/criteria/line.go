package criteria

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// line is one line, as it is written.
type line struct {
	at     int
	form   Form
	level  int // of a heading
	indent int
	number int // of a numbered item, else -1
	bold   bool
	body   string // without marks
	// label is the text before the colon, or all of a bold line; rest is what follows.
	label, rest string
}

var (
	anyHeading  = pattern.New(`^\s*(#{1,6})(?:\s+(.*)|)$|^\s*(#{2,6})([^\s#].*)$`)
	boldLabel   = pattern.New(`^(?:\*\*|__)(.{1,160}?)(?:\*\*|__)(.*)$`)
	plainLabel  = pattern.New(`^([^:：|.]{2,80})[:：](.*)$`)
	itemNumber  = pattern.New(`^\s*[(（]?(\d{1,3})[.)、）:：]`)
	numberAlone = pattern.New(`^\s{0,12}(\d{1,3})[:：]\s*(\S.*)$`)
	inlineTag   = pattern.New(`(?i)^<(?:b|strong|span|em|u)\b`)
)

// splitLine reads the form of a line.
func (r *reader) splitLine(i int) line {
	text := Narrow(r.doc.Written(i))
	for strings.HasPrefix(strings.TrimLeft(text, " "), ">") { // a quotation
		text = strings.TrimPrefix(strings.TrimLeft(text, " "), ">")
	}
	l := line{at: i, form: Paragraph, number: -1}
	trimmed := strings.TrimLeft(text, " \t")
	l.indent = min(len(text)-len(trimmed), maxIndent)
	l.body = strings.TrimRight(trimmed, " \t")
	l.bold = inlineTag.MatchString(trimmed)
	if trimmed == "" {
		return l
	}
	if m := anyHeading.FindStringSubmatch(text); trimmed[0] == '#' && m != nil {
		l.form, l.level, l.body, l.indent = Heading, len(m[1]+m[3]), strings.TrimRight(strings.TrimSpace(m[2]+m[4]), "# "), 0
	} else if level := r.underlineLevel(i); level > 0 {
		l.form, l.level = Heading, level
	} else if _, body, ok := markdown.Item(text); ok {
		l.form, l.body = Item, strings.TrimRight(body, " \t")
		if m := itemNumber.FindStringSubmatch(text); m != nil {
			l.number, _ = strconv.Atoi(m[1])
		}
	}
	l.readLabel()
	return l
}

// underlineLevel returns the level of a heading made by the line below.
func (r *reader) underlineLevel(i int) int {
	at, found := slices.BinarySearchFunc(r.doc.Heads, i, func(h markdown.Heading, line int) int { return h.Line - line })
	if !found || r.doc.Heads[at].Level > 6 || strings.HasPrefix(strings.TrimLeft(r.doc.Lines[i], " "), "#") {
		return 0
	}
	return r.doc.Heads[at].Level
}

// readLabel reads what a line says before a colon, or in bold.
func (l *line) readLabel() {
	body := strings.TrimLeft(l.body, " ")
	if m := boldLabel.FindStringSubmatch(body); m != nil {
		l.bold = true
		l.label, l.rest = strings.TrimRight(m[1], " :："), strings.TrimSpace(strings.TrimLeft(m[2], " :："))
		return
	}
	if m := plainLabel.FindStringSubmatch(body); m != nil {
		l.label, l.rest = strings.Trim(m[1], "*_ "), strings.TrimSpace(m[2])
		return
	}
	if l.form == Heading || l.form == Paragraph && len(body) <= maxBareLabel && isAcceptance(body) {
		l.label = body
	}
}

// maxBareLabel is the most that a label without a mark has, in bytes.
const maxBareLabel = 40

// depth is how deep a line stands.
func (l line) depth() int {
	switch {
	case l.form == Heading:
		return 10 * l.level
	case l.form == Item:
		return depthOfItem + l.indent
	case l.indent > 1:
		return depthOfItem + l.indent
	}
	return depthOfBold
}

// depthInList is how deep a line of a list of criteria stands: paragraphs are below the announcement.
func (l line) depthInList() int {
	if l.form == Paragraph {
		return depthOfLabel + 1
	}
	return l.depth()
}

// wordID returns the number behind a word.
func wordID(form *pattern.Pattern, text string) Identifier {
	m := form.FindStringSubmatchIndex(text)
	written := text[m[4]:m[5]]
	return Identifier{"", parseNumber(strings.TrimLeft(written, ".-")), written}
}

// titleBehind returns the title behind the number of a story.
func titleBehind(text, written string) string {
	if at := strings.Index(text, written); at >= 0 && written != "" {
		text = text[at+len(written):]
	}
	return clipTitle(text)
}

// clipTitle returns a title without marks.
func clipTitle(s string) string {
	s = tags.ReplaceAllString(linked.ReplaceAllString(s, "$1"), "")
	return strings.Trim(strings.Join(strings.Fields(strings.NewReplacer("**", "", "__", "", "`", "").Replace(s)), " "), " *_:：.|–—-")
}

var (
	tags   = pattern.New(`<[^<>]{0,200}>`)
	linked = pattern.New(`\[([^\[\]]*)\]\([^()]*\)`)
)

// nextText returns the next line with text, or "" if three empty ones follow.
func (r *reader) nextText(i int) string {
	for _, text := range r.doc.Said[i+1 : min(len(r.doc.Said), i+4)] {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// identify reads the id at the beginning of a line.
func (r *reader) identify(l line) (id Identifier, rest string, ok bool) {
	body := strip(l.body)
	if id, rest, ok = readID(body); !ok && l.form == Heading {
		body = strip(markdown.Unnumbered(l.body))
		id, rest, ok = readID(body)
	}
	if counts := r.list != nil || r.sections[l.at]&isWanted != 0; !ok && counts && (l.form == Item || l.bold) {
		id, rest, ok = readNumber(body)
		ok = ok && hasWords(rest)
	}
	if !ok {
		return readBracketed(l)
	}
	return id, rest, isDefinition(l, rest)
}

func isItem(text string) bool {
	_, _, ok := markdown.Item(text)
	return ok
}

// isDefinition reports whether a line with an id at the beginning defines it, by the text behind it.
func isDefinition(l line, rest string) bool {
	switch {
	case listed.MatchString(rest):
		return false
	case l.form == Heading || l.bold:
		return true
	case l.form == Paragraph && !strings.ContainsAny(behindBrackets(rest), ":)") && !strings.HasPrefix(rest, " - ") && !strings.HasPrefix(rest, "] "):
		return false
	}
	return hasWords(rest)
}

// behindBrackets returns the first characters of a text behind an id and what stands in brackets after it.
func behindBrackets(rest string) string {
	if m := brackets.FindString(rest); m != "" {
		rest = rest[len(m):]
	}
	return rest[:min(3, len(rest))]
}

var (
	brackets = pattern.New(`^\s?(?:\[[^\]]{1,40}\]|\([^)]{1,40}\))`)
	// bracketed is an id behind the title of a heading: "Ring the bell [US-1]".
	bracketed = pattern.New(`[\[(（]([A-Z]{1,6}-?\d{1,4}(?:\.\d{1,4})?)[\])）](?:\s*[-—–,:]?\s*[\pL ]{1,20})?\s*$`)
)

func readBracketed(l line) (id Identifier, rest string, ok bool) {
	if m := bracketed.FindStringSubmatch(l.body); l.form == Heading && m != nil {
		id, _, ok = readID(m[1])
		return id, strings.TrimSuffix(l.body, m[0]), ok
	}
	return Identifier{}, "", false
}

// hasWords reports whether a text says anything.
func hasWords(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// firstBytes returns the first characters of a text, of at most n bytes.
func firstBytes(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:min(n, len(s))]
}

func isGiven(s string) bool { return givenWord.MatchString(strings.TrimLeft(s, "*_ ")) }

func isStep(s string) bool { return stepWord.MatchString(strings.TrimLeft(s, "*_ ")) }

// textOf returns what the node of a line says: the line, and those that belong to it.
func (r *reader) textOf(l line, body string) string {
	out := []string{body}
	for j := l.at + 1; j < min(len(r.doc.Lines), l.at+2*maxLines) && len(out) <= maxLines; j++ {
		text := r.doc.Said[j]
		if strings.TrimSpace(text) == "" {
			if l.form == Item {
				break
			}
			continue
		}
		if r.endsText(l, j, text) {
			break
		}
		out = append(out, text)
	}
	return clipText(strings.Join(out, " "))
}

// endsText reports whether a line is not a part of the node that begins at another.
func (r *reader) endsText(l line, j int, text string) bool {
	trimmed := strings.TrimLeft(text, " \t")
	if trimmed[0] == '#' || r.underlineLevel(j) > 0 {
		return true
	}
	indent, body, item := markdown.Item(text)
	if item && l.form == Item && indent <= l.indent {
		return true
	}
	if !item {
		body = trimmed
	}
	if _, _, ok := readID(bare(firstBytes(body, 80))); ok {
		return true
	}
	return l.form == Paragraph && !item && (isGiven(strip(body)) || strings.HasPrefix(body, "**") && !isStep(strip(body)))
}

// BeginsEntry reports whether a line is an item, or a paragraph that begins with an id.
func BeginsEntry(text string) bool {
	line := Narrow(text)
	_, _, ok := readID(strip(line))
	return ok || isItem(line)
}

// isAcceptance reports whether a label announces criteria.
func isAcceptance(label string) bool {
	name := markdown.NameOf(label)
	return utf8.RuneCountInString(name) <= 80 && markdown.MatchesName(name, acceptance)
}
