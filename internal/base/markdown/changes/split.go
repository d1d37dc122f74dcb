package changes

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// part is a section of one version, or a paragraph of a version without headings.
type part struct {
	title string
	// name is the heading without the number, "" without one; body has the text below it in the form in which it is
	// compared.
	name, body string
	from, to   int
	// isParagraph is true if the title is the beginning of the text.
	isParagraph bool
	// isTitle is true for the first heading if it is of the first level.
	isTitle bool
	// known keeps the result of words.
	known []string
}

// heading returns the key of a section, also of the one before the first heading; "" for a paragraph.
func (p part) heading() string {
	if p.isParagraph {
		return ""
	}
	return "#" + p.name
}

// whole returns all of a part that counts.
func (p part) whole() string { return p.name + "\x00" + p.body }

// words returns the words of a part.
func (p *part) words() []string {
	if p.known == nil {
		p.known = textdiff.Words(p.name + "\n" + p.body)
	}
	return p.known
}

// split cuts a document into parts, which together have all lines.
func split(document string) []part {
	document = strings.ReplaceAll(document, "\r\n", "\n")
	d := markdown.Read(document, nil)
	lines := strings.Split(document, "\n")
	heads := sectionHeads(d.Heads)
	if len(heads) == 0 {
		return splitParagraphs(d, lines)
	}
	var out []part
	if strings.TrimSpace(strings.Join(lines[:heads[0].Line], "")) != "" {
		out = append(out, part{body: bodyOf(d, lines, 0, heads[0].Line), from: 1, to: heads[0].Line})
	}
	for i, h := range heads {
		end := len(lines)
		if i+1 < len(heads) {
			end = heads[i+1].Line
		}
		below := h.Line + 1
		if _, _, isHash := markdown.HashHeading(lines[h.Line]); !isHash {
			below = min(below+1, end) // the line under it
		}
		name := strings.Join(strings.Fields(markdown.Unnumbered(h.Text)), " ")
		out = append(out, part{title: visible.Line(h.Text), name: name, body: bodyOf(d, lines, below, end), from: h.Line + 1, to: end, isTitle: i == 0 && h.Level == 1})
	}
	return out
}

// sectionHeads returns the headings that begin a section.
func sectionHeads(all []markdown.Heading) []markdown.Heading {
	level, upper := 7, 0
	for _, h := range all {
		if h.Level <= 2 {
			upper++
		} else {
			level = min(level, h.Level)
		}
	}
	if upper > 1 || level > 6 {
		level = 2
	}
	var out []markdown.Heading
	for _, h := range all {
		if h.Level <= level {
			out = append(out, h)
		}
	}
	return out
}

// titleColumns is the width of the beginning of a paragraph that stands for the heading.
const titleColumns = 32

func splitParagraphs(d *markdown.Document, lines []string) []part {
	var out []part
	for from := 0; from < len(lines); {
		to := from
		for to < len(lines) && !isGap(d, lines, to) {
			to++
		}
		for to < len(lines) && isGap(d, lines, to) {
			to++
		}
		if body := bodyOf(d, lines, from, to); body != "" {
			title := visible.Cut(visible.Line(strings.TrimLeft(body, "\n")), titleColumns, "…")
			out = append(out, part{title: title, body: body, from: from + 1, to: to, isParagraph: true})
		}
		from = to
	}
	return out
}

// isGap reports whether a line is empty and no part of code.
func isGap(d *markdown.Document, lines []string, at int) bool {
	return !d.Code[at] && strings.TrimSpace(lines[at]) == ""
}

// bodyOf returns lines in the form in which they are compared: the lines of a paragraph are one, and empty lines
// between blocks are left out. Code stays as it is.
func bodyOf(d *markdown.Document, lines []string, from, to int) string {
	var b strings.Builder
	begins := true // a block
	for i := from; i < to; i++ {
		line := strings.TrimRight(lines[i], " \t\r")
		words := strings.TrimLeft(line, " \t")
		isCode := i < len(d.Code) && d.Code[i]
		switch isOwn := isCode || opensBlock(words); {
		case words == "":
			begins = true
			continue
		case isOwn:
			b.WriteString("\n" + line)
		case begins && len(words)+4 <= len(line):
			b.WriteString("\n" + line) // code, or of an item
		case begins:
			b.WriteString("\n" + strings.Join(strings.Fields(words), " "))
		default:
			b.WriteString(" " + strings.Join(strings.Fields(words), " "))
		}
		begins = isCode || strings.ContainsAny(words[:1], "#|<")
	}
	return b.String()
}

// opensBlock reports whether a line without the white space before it begins an item, a row, a quote, a heading or
// HTML.
func opensBlock(line string) bool {
	if line == "" {
		return false
	}
	digits := strings.TrimLeft(line, "0123456789")
	isNumbered := len(digits) < len(line) && digits != "" && strings.ContainsAny(digits[:1], ".)")
	return isNumbered || strings.ContainsAny(line[:1], "-*+|>#<")
}
