package grimoire

import (
	"cmp"
	"html"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// reader reads one file.
type reader struct {
	Content
	path     string
	problems []Problem
}

func (r *reader) addProblem(line int, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.path, line, lang.T(format, args...)})
}

// add keeps an entry, unless it is empty or a remark of a template.
func (r *reader) add(e Entry) {
	e.Text = strings.TrimSpace(e.Text)
	if e.Text == "" || len(r.Entries) > MaxEntries {
		return
	}
	if len(e.Text) > maxText {
		r.addProblem(e.Line, "the entry has more than %d bytes; the rest of it is not read", maxText)
		e.Text = visible.Head(e.Text, maxText)
	}
	e.Agent, e.Path = agentName(e.Agent), r.path
	r.Entries = append(r.Entries, e)
}

// addAgent keeps an agent, unless the name comes from a template still to be filled in.
func (r *reader) addAgent(a Agent) {
	for _, text := range []*string{&a.Name, &a.Icon, &a.Domain} {
		*text = html.UnescapeString(*text)
	}
	isTemplate := strings.Contains(a.ID+a.Tag+a.Name, "{{")
	a.Icon, a.Domain = dropTemplate(a.Icon), dropTemplate(a.Domain)
	if a.ID = agentName(a.ID); a.ID != "" && !isTemplate && len(r.Agents) < maxSources {
		r.Agents = append(r.Agents, a)
	}
}

// agentName returns the id in an agent's name as traces and headings write it, for example dev/Amelia
// or @dev.
func agentName(s string) string {
	s, _, _ = strings.Cut(strings.Trim(s, "@`*_\"' \t"), "/")
	if s = strings.ToLower(strings.TrimSpace(s)); s == "unknown" { // a kit's word for no agent
		return ""
	}
	return s
}

// plain removes NUL, too, because a power loss leaves it in files.
var plain = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "", "\ufeff", "")

// decodeText returns the bytes of a file as text, with lines ending in a line feed.
func (r *reader) decodeText(data []byte) string {
	if !utf8.Valid(data) {
		r.addProblem(0, "the file is not UTF-8, so some of its characters are lost")
	}
	return plain.Replace(strings.ToValidUTF8(string(data), "\uFFFD"))
}

var (
	// dated matches a date at the beginning of a text, with the marks around it.
	dated = pattern.New(`^[*_ \t]*([\[(]?)` +
		`(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})` +
		`(?:[T \t]+(\d{1,2}:\d{2})(?::\d{2})?(?:[.,]\d+)?[ ]?(Z|UTC|[-+]\d{2}:?\d{2})?)?` +
		`([\])]?)[*_ \t]*([:—–|-]*)[ \t]*`)
	// placeholder matches a part of a template still to be filled in.
	placeholder = pattern.New(`\{\{[A-Za-z][A-Za-z0-9_]*\}\}`)
)

// unfilled matches the words of templates for a missing value.
var unfilled = pattern.New(`(?i)^[^\pL]*(?:(?:à|a) (?:compléter|completer|définir|definir|remplir)|to (?:be )?(?:complete|define|fill)d?(?: in)?|tbd|todo|待补充|待填写|待定)[^\pL]*$`)

// dropTemplate returns a value, or "" for a template's placeholder.
func dropTemplate(value string) string {
	if strings.Contains(value, "{{") || unfilled.MatchString(value) {
		return ""
	}
	return value
}

// cutDate takes a date off the beginning of a text: one in brackets, before a mark, or alone.
func cutDate(text string) (date time.Time, rest string) {
	m := dated.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, text
	}
	isBracketed := m[1] != "" && m[7] != ""
	isAlone := len(m[0]) == len(text)
	if !isBracketed && !isAlone && m[8] == "" {
		return time.Time{}, text
	}
	if date = dateOf(m); date.IsZero() {
		return date, text
	}
	return date, text[len(m[0]):]
}

// readDate returns the date at the beginning of a text, or the zero time if there is none.
func readDate(text string) time.Time {
	if m := dated.FindStringSubmatch(text); m != nil {
		return dateOf(m)
	}
	return time.Time{}
}

// dateOf returns the time in a match of dated. If it has no zone, it is UTC.
func dateOf(m []string) time.Time {
	zone := strings.NewReplacer("UTC", "Z", ":", "").Replace(cmp.Or(m[6], "Z"))
	at, err := time.Parse("2006-1-2 15:04Z0700", m[2]+"-"+m[3]+"-"+m[4]+" "+cmp.Or(m[5], "0:00")+zone)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// keyed matches a line with the name of a field at the beginning, for example "- **Leçon** : text".
var keyed = pattern.New(`^(?:[-*+•][ \t]+)?(?:\*\*|__)?([^:：|*]{2,40}?)(?:\*\*|__)?[ \t]*[:：](?:\*\*|__)?(?:[ \t]+|$)(.*)$`)

// splitField returns the name of a field in lower case, which is empty if the line has none, and the rest.
func splitField(l string) (key, value string) {
	l = strings.TrimSpace(l)
	if m := keyed.FindStringSubmatch(l); m != nil {
		return strings.ToLower(m[1]), strings.TrimSpace(m[2])
	}
	return "", l
}

// splitWords splits a list at the commas.
func splitWords(list string) (out []string) {
	for _, w := range strings.Split(list, ",") {
		if w = dropTemplate(strings.Trim(w, "`# \t")); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// line is a line of a Markdown file without comments; code is true in a fenced block, mark for
// the fences of one.
type line struct {
	text       string
	code, mark bool
}

// scanLines finds code and comments, and reports as a problem if one never ends.
func (r *reader) scanLines(text string) (out []line) {
	var comments markdown.Comments
	fence, from := "", 0
	for n, l := range strings.Split(text, "\n") {
		mark, info, fenced := markdown.Fence(l)
		switch {
		case fence != "":
			closes := fenced && info == "" && strings.HasPrefix(mark, fence)
			out = append(out, line{l, true, closes})
			if closes {
				fence = ""
			}
			continue
		case fenced && !comments.Open && !strings.Contains(info, "`"):
			fence, from = mark, n+1
			out = append(out, line{l, true, true})
			continue
		case comments.Open || strings.Contains(l, "<!--") && strings.Contains(markdown.WithoutCode(l), "<!--"):
			l = comments.Strip(n+1, l)
		}
		out = append(out, line{text: l})
	}
	if comments.Open {
		r.addProblem(comments.From, "the comment that begins here never ends, so the rest of the file is not read")
	}
	if fence != "" {
		r.addProblem(from, "the code block that begins here never ends, so the rest of the file is not read")
	}
	return out
}

// block is a heading, list item, row of a table or paragraph of a Markdown file, outside code,
// comments and quotations.
type block struct {
	line        int
	level       int // of a heading
	text        string
	item        bool
	cells, head []string // of a row, and of its table in lower case
}

// outline collects the blocks of a file.
type outline struct {
	blocks []block
	open   bool     // the next line may continue the last block
	head   []string // of the table whose rows follow
}

// blocksOf reads the lines of a file.
func blocksOf(lines []line) []block {
	var o outline
	for n, l := range lines {
		text := strings.TrimSpace(l.text)
		if l.code || !strings.HasPrefix(text, "|") {
			o.head = nil
		}
		inner := o.continuesItem(l.text, n > 0 && strings.TrimSpace(lines[n-1].text) == "")
		_, body, listed := markdown.Item(l.text)
		level, title, _ := markdown.HashHeading(l.text)
		switch {
		case l.code:
			if inner && !l.mark {
				o.extendLast("\n" + text)
			}
		case level > 0:
			o.addBlock(block{line: n + 1, level: level, text: title}, false)
		case text == "":
		case text[0] == '>' || markdown.IsUnderline(l.text) || isRule(text):
			o.open = false
		case text[0] == '|':
			o.readRow(n+1, text, n+1 < len(lines) && isRule(lines[n+1].text))
		case listed && inner:
			o.extendLast("\n- " + body)
		case listed:
			o.addBlock(block{line: n + 1, item: true, text: body}, true)
		case o.open:
			o.extendLast(o.lastBlock().lineGap() + text)
		default:
			o.addBlock(block{line: n + 1, text: text}, true)
		}
	}
	return o.blocks
}

func (o *outline) lastBlock() *block { return &o.blocks[len(o.blocks)-1] }

func (o *outline) addBlock(b block, continues bool) {
	o.blocks, o.open = append(o.blocks, b), continues
}

func (o *outline) extendLast(more string) { appendBounded(&o.lastBlock().text, more) }

// lineGap returns the separator of the lines of a block: a paragraph's lines may be fields.
func (b *block) lineGap() string {
	if b.item {
		return " "
	}
	return "\n"
}

// appendBounded appends to the text of an entry, unless it is too long.
func appendBounded(text *string, more string) {
	if len(*text) <= maxText {
		*text += more
	}
}

// continuesItem reports whether a line is indented as a part of the last item. If not, it begins a new
// block after an empty line.
func (o *outline) continuesItem(l string, afterEmpty bool) bool {
	isIndented := strings.HasPrefix(l, "  ") || strings.HasPrefix(l, "\t")
	inner := isIndented && o.open && o.lastBlock().item
	o.open = o.open && (inner || !afterEmpty)
	return inner
}

// readRow reads a row of a table, or the head of it.
func (o *outline) readRow(n int, text string, isHead bool) {
	cells := markdown.Cells(text, "*_")
	if isHead {
		o.head, o.open = strings.Split(strings.ToLower(strings.Join(cells, "|")), "|"), false
		return
	}
	o.addBlock(block{line: n, cells: cells, head: o.head, text: joinCells(cells)}, false)
}

// isRule reports whether a line is the rule below the head of a table.
func isRule(l string) bool { return strings.Contains(l, "-") && markdown.IsTableRule(l) }

// cellUnder returns the cell of a row in the first column whose title contains one of the words.
func (b block) cellUnder(names ...string) string {
	for c := range min(len(b.head), len(b.cells)) {
		for _, name := range names {
			if strings.Contains(b.head[c], name) {
				return joinCells(b.cells[c : c+1])
			}
		}
	}
	return ""
}

// joinCells joins the cells, except empty ones and dashes.
func joinCells(cells []string) string {
	var out []string
	for _, c := range cells {
		if c = strings.TrimSpace(c); strings.Trim(c, "—–- ") != "" {
			out = append(out, c)
		}
	}
	return strings.Join(out, " · ")
}

// isRemark reports whether a text is a remark of a template, all of it in italics, or has parts still to be
// filled in.
func isRemark(text string) bool {
	if _, value := splitField(text); placeholder.MatchString(text) || unfilled.MatchString(value) {
		return true
	}
	mark := text[:min(len(text), 1)]
	isItalic := mark == "*" || mark == "_"
	return isItalic && strings.HasSuffix(text, mark) && strings.Count(text, mark) == 2
}

// trimEnding returns a file's name without the ending.
func trimEnding(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }
