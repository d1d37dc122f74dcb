package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// span is a part of a line in one style; "" means plain.
type span struct{ text, style string }

// inlineMark matches a mark of Markdown within a line: bold, or code.
var inlineMark = pattern.New("\\*\\*([^*]+)\\*\\*|`([^`]+)`")

// parseInline returns the spans of a line, without marks.
func parseInline(line string) (out []span) {
	end := 0
	for _, m := range inlineMark.FindAllStringSubmatchIndex(line, -1) {
		out = append(out, span{line[end:m[0]], ""})
		if m[2] >= 0 {
			out = append(out, span{line[m[2]:m[3]], Bold})
		} else {
			out = append(out, span{line[m[4]:m[5]], Cyan})
		}
		end = m[1]
	}
	return append(out, span{line[end:], ""})
}

// textOf returns the text of spans.
func textOf(spans []span) (text string) {
	for _, s := range spans {
		text += s.text
	}
	return text
}

// printSpans prints a line, broken at the width of a person's terminal.
func (t *Terminal) printSpans(spans []span) {
	text := textOf(spans)
	rows := []string{text}
	if t.Pretty() {
		rows = foldLine(text, t.Width(narrow))
	}
	if !t.Colored() {
		fmt.Fprintln(t.Out, text)
		return
	}
	end := 0 // of the previous row, in the text
	for _, row := range rows {
		words := strings.TrimLeft(row, " ")
		begin := end + strings.Index(text[end:], words)
		end = begin + len(words)
		line := row[:len(row)-len(words)] + paintPart(spans, begin, end)
		_, _ = io.WriteString(t.screen.out, line+"\n") // the terminal may be gone
	}
}

// paintPart returns the bytes from begin to end of the text of spans, in their styles.
func paintPart(spans []span, begin, end int) (out string) {
	at := 0
	for _, s := range spans {
		from, to := max(begin, at), min(end, at+len(s.text))
		if from < to {
			out += paint(s.style, s.text[from-at:to-at])
		}
		at += len(s.text)
	}
	return out
}

// paint returns a text in a style.
func paint(style, text string) string {
	if style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// Markdown draws a document for a person, and prints plain for everything else. Before lines are broken,
// marks become styles, or nothing without colours. Tables are drawn like the program's own.
func (t *Terminal) Markdown(text, plain string) {
	if !t.Pretty() {
		fmt.Fprintln(t.Out, plain)
		return
	}
	lines := strings.Split(visible.Text(strings.TrimRight(text, "\n")), "\n")
	fenced := ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		mark, _, fence := markdown.Fence(line)
		_, heading, isHeading := markdown.HashHeading(line)
		text, bullet := strings.CutPrefix(strings.TrimLeft(line, " "), "- ")
		switch {
		case fenced != "" && fence && strings.HasPrefix(mark, fenced):
			fenced = ""
		case fenced != "":
			t.printSpans([]span{{"    " + line, Cyan}})
		case fence:
			fenced = mark
		case isHeading:
			t.printSpans([]span{{textOf(parseInline(heading)), Bold}})
		case strings.Contains(line, "|") && i+1 < len(lines) && markdown.IsTableRule(lines[i+1]):
			rows := 2
			for i+rows < len(lines) && strings.Contains(lines[i+rows], "|") {
				rows++
			}
			t.printTable(lines[i], lines[i+2:i+rows])
			i += rows - 1
		case bullet:
			t.printSpans(append([]span{{line[:len(line)-len(text)-2] + "• ", ""}}, parseInline(text)...))
		default:
			t.printSpans(parseInline(line))
		}
	}
}

// printTable draws a table of Markdown.
func (t *Terminal) printTable(header string, lines []string) {
	cells := func(line string) []string {
		out := markdown.Cells(line, "")
		for i := range out {
			out[i] = textOf(parseInline(out[i]))
		}
		return out
	}
	head := cells(header)
	var rows [][]string
	for _, line := range lines {
		row := cells(line)
		row = append(row, make([]string, max(len(head)-len(row), 0))...)
		rows = append(rows, row[:len(head)])
	}
	if strings.TrimSpace(strings.Join(head, "")) == "" {
		head = nil
	}
	_ = t.printGrid(head, rows, false) // the terminal may be gone
}
