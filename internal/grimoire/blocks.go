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

// blocksOf reads the lines of a file.
func blocksOf(lines []line) (out []block) {
	open := false // whether the next line may continue the last block
	var head []string
	add := func(b block, continues bool) { out, open = append(out, b), continues }
	for n, l := range lines {
		text := strings.TrimSpace(l.text)
		row := !l.code && strings.HasPrefix(text, "|")
		if !row {
			head = nil
		}
		inner := open && out[len(out)-1].holds(l.text)
		_, body, listed := markdown.Item(l.text)
		level, title := headingOf(l.text)
		switch {
		case l.code:
			if inner && !l.mark {
				out[len(out)-1].text += "\n" + text
			}
		case level > 0:
			add(block{line: n + 1, level: level, text: title}, false)
		case text == "" || text[0] == '>' || markdown.IsUnderline(l.text) || ruled(text):
			open = false
		case row:
			cells := markdown.Cells(text, "*_")
			if n+1 < len(lines) && ruled(lines[n+1].text) {
				head = strings.Split(strings.ToLower(strings.Join(cells, "|")), "|")
			} else {
				add(block{line: n + 1, cells: cells, head: head, text: said(cells)}, false)
			}
		case listed && inner:
			out[len(out)-1].text += "\n- " + body
		case listed:
			add(block{line: n + 1, item: true, text: body}, true)
		case open:
			out[len(out)-1].text += out[len(out)-1].gap() + text
		default:
			add(block{line: n + 1, text: text}, true)
		}
	}
	return out
}

// ruled reports whether a line is the rule below the head of a table.
func ruled(l string) bool { return strings.Contains(l, "-") && markdown.IsTableRule(l) }

// holds reports whether a line is indented as a part of the block, which is an item.
func (b block) holds(l string) bool {
	return b.item && (strings.HasPrefix(l, "  ") || strings.HasPrefix(l, "\t"))
}

// gap separates the lines of a block: those of a paragraph may be fields.
func (b block) gap() string {
	if b.item {
		return " "
	}
	return "\n"
}

// headingOf reads a heading with #; level is 0 for other lines.
func headingOf(l string) (level int, title string) {
	l = strings.TrimLeft(l, " ")
	rest := strings.TrimLeft(l, "#")
	if level = len(l) - len(rest); level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	return level, strings.Trim(rest, "# \t")
}

// cell returns the cell of a row in the first column whose title contains one of the words.
func (b block) cell(names ...string) string {
	for c := range min(len(b.head), len(b.cells)) {
		for _, name := range names {
			if strings.Contains(b.head[c], name) {
				return said(b.cells[c : c+1])
			}
		}
	}
	return ""
}

// said joins the cells that are not empty or dashes.
func said(cells []string) string {
	var out []string
	for _, c := range cells {
		if c = strings.TrimSpace(c); strings.Trim(c, "—–- ") != "" {
			out = append(out, c)
		}
	}
	return strings.Join(out, " · ")
}

// remark reports whether a text is a remark of a template, all of it in italics, or has parts that
// nobody has filled in.
func remark(text string) bool {
	return placeholder.MatchString(text) || len(text) > 2 && text[0] == text[len(text)-1] && (text[0] == '*' || text[0] == '_') && text[1] != text[0]
}
