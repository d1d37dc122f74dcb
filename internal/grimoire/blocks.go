package grimoire

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
)

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
		inner := o.continues(l.text, n > 0 && strings.TrimSpace(lines[n-1].text) == "")
		_, body, listed := markdown.Item(l.text)
		level, title, _ := markdown.HashHeading(l.text)
		switch {
		case l.code:
			if inner && !l.mark {
				o.extend("\n" + text)
			}
		case level > 0:
			o.add(block{line: n + 1, level: level, text: title}, false)
		case text == "":
		case text[0] == '>' || markdown.IsUnderline(l.text) || isRule(text):
			o.open = false
		case text[0] == '|':
			o.row(n+1, text, n+1 < len(lines) && isRule(lines[n+1].text))
		case listed && inner:
			o.extend("\n- " + body)
		case listed:
			o.add(block{line: n + 1, item: true, text: body}, true)
		case o.open:
			o.extend(o.last().gap() + text)
		default:
			o.add(block{line: n + 1, text: text}, true)
		}
	}
	return o.blocks
}

func (o *outline) last() *block { return &o.blocks[len(o.blocks)-1] }

func (o *outline) add(b block, continues bool) { o.blocks, o.open = append(o.blocks, b), continues }

func (o *outline) extend(more string) { grow(&o.last().text, more) }

// gap returns the separator of the lines of a block: those of a paragraph may be fields.
func (b *block) gap() string {
	if b.item {
		return " "
	}
	return "\n"
}

// grow appends to the text of an entry, unless it is too long.
func grow(text *string, more string) {
	if len(*text) <= maxText {
		*text += more
	}
}

// continues reports whether a line is indented as a part of the last item. If not, it begins a new
// block after an empty line.
func (o *outline) continues(l string, afterEmpty bool) bool {
	isIndented := strings.HasPrefix(l, "  ") || strings.HasPrefix(l, "\t")
	inner := isIndented && o.open && o.last().item
	o.open = o.open && (inner || !afterEmpty)
	return inner
}

// row reads a row of a table, or its head.
func (o *outline) row(n int, text string, isHead bool) {
	cells := markdown.Cells(text, "*_")
	if isHead {
		o.head, o.open = strings.Split(strings.ToLower(strings.Join(cells, "|")), "|"), false
		return
	}
	o.add(block{line: n, cells: cells, head: o.head, text: joinCells(cells)}, false)
}

// isRule reports whether a line is the rule below the head of a table.
func isRule(l string) bool { return strings.Contains(l, "-") && markdown.IsTableRule(l) }

// cell returns the cell of a row in the first column whose title contains one of the words.
func (b block) cell(names ...string) string {
	for c := range min(len(b.head), len(b.cells)) {
		for _, name := range names {
			if strings.Contains(b.head[c], name) {
				return joinCells(b.cells[c : c+1])
			}
		}
	}
	return ""
}

// joinCells joins the cells that are not empty or dashes.
func joinCells(cells []string) string {
	var out []string
	for _, c := range cells {
		if c = strings.TrimSpace(c); strings.Trim(c, "—–- ") != "" {
			out = append(out, c)
		}
	}
	return strings.Join(out, " · ")
}

// isRemark reports whether a text is a remark of a template, all of it in italics, or has parts that
// nobody has filled in.
func isRemark(text string) bool {
	if placeholder.MatchString(text) {
		return true
	}
	mark := text[:min(len(text), 1)]
	isItalic := mark == "*" || mark == "_"
	return isItalic && strings.HasSuffix(text, mark) && strings.Count(text, mark) == 2
}
