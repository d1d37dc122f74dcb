// Package render shows Markdown that others wrote as HTML in which nothing is active, and
// everything can be seen.
//
// A block is a part of a document that begins on lines of its own: a heading, a paragraph, an
// item of a list. Its element names its lines, so that a remark can point at them. Something hidden
// is a part of the source that readers of a rendered document usually do not see: a comment,
// HTML, the address of an image, an invisible character.
package render

import (
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Page is a rendered document.
type Page struct {
	HTML     template.HTML
	Blocks   []Block
	Outline  []Heading
	Hidden   []Hidden
	Diagrams []Diagram
}

// Block is a part of a document with its lines, which count from 1.
type Block struct{ From, To int }

// Heading is a heading of a document.
type Heading struct {
	Level, Line int
	// ID addresses the heading's element.
	ID, Text string
}

// Hidden is something that readers of the rendered document usually do not see.
type Hidden struct {
	Line int
	Kind HiddenKind
	Text string
}

// HiddenKind is the way in which something is hidden.
type HiddenKind string

// The kinds of hidden parts.
const (
	Comment HiddenKind = "comment"
	HTML    HiddenKind = "html"
	Image   HiddenKind = "image"
	Unseen  HiddenKind = "unseen"
)

// Diagram is a code block that describes a drawing, in the language of Mermaid.
type Diagram struct {
	From, To int
	Source   string
}

const (
	// maxDepth bounds how deep blocks may stand in each other, and maxMarks the marks of quotes
	// and lists at the beginning of a line. Deeper blocks are shown as source.
	maxDepth = 60
	maxMarks = 100
	// maxRendered is the largest document that is parsed, in bytes. Larger ones are shown as
	// source.
	maxRendered = 2 << 20
	// maxHidden bounds the list of hidden parts.
	maxHidden = 200
)

var parser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify, extension.TaskList)).Parser()

// Document renders a document.
func Document(source string) Page {
	if len(source) > maxRendered || deep(source) {
		return plain(source)
	}
	w := &writer{lines: newLines(source), source: []byte(source)}
	body := w.frontMatter()
	w.children(parser.Parse(text.NewReader(body)), 0)
	w.page.HTML = template.HTML(w.out.String()) //nolint:gosec // the writer escapes every text
	return w.page
}

// plain is a document that is shown as its source.
func plain(source string) Page {
	page := Page{HTML: Source(source)}
	n := strings.Count(source, "\n") + 1
	for i := range n {
		page.Blocks = append(page.Blocks, Block{i + 1, i + 1})
	}
	w := &writer{lines: newLines(source)}
	for i, line := range strings.Split(source, "\n") {
		w.line = i + 1
		w.text(line)
	}
	page.Hidden = w.page.Hidden
	return page
}

// deep reports whether a line begins with so many marks that its blocks would stand in each
// other without end.
func deep(source string) bool {
	for line := range strings.SplitSeq(source, "\n") {
		begin := line[:len(line)-len(strings.TrimLeft(line, ">-+*0123456789.) \t"))]
		marks := len(begin) - strings.Count(begin, " ") - strings.Count(begin, "\t")
		if marks > maxMarks && strings.Trim(line, "-* \t\r") != "" {
			return true
		}
	}
	return false
}

// Source shows the source of a document, one element for each line.
func Source(source string) template.HTML {
	w := &writer{lines: newLines(source)}
	w.out.WriteString(`<ol class="source">`)
	for i, line := range strings.Split(strings.TrimSuffix(source, "\n"), "\n") {
		w.line = i + 1
		number := strconv.Itoa(i + 1)
		w.out.WriteString(`<li data-l="` + number + "-" + number + `" id="l` + number + `"><code>`)
		w.text(strings.TrimSuffix(line, "\r"))
		w.out.WriteString("</code></li>\n")
	}
	w.out.WriteString("</ol>")
	return template.HTML(w.out.String()) //nolint:gosec // the writer escapes every text
}

// lines finds the line of a place in a text.
type lines []int

func newLines(source string) lines {
	starts := lines{0}
	for i := range len(source) {
		if source[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// at returns the line of a place, from 1.
func (l lines) at(place int) int {
	i, found := slices.BinarySearch(l, place)
	if found {
		return i + 1
	}
	return i
}

// span returns the lines of a block; from is 0 where it has none of its own.
func (l lines) span(n ast.Node) (from, to int) {
	if n.Type() == ast.TypeBlock {
		if own := n.Lines(); own != nil && own.Len() > 0 {
			from, to = l.at(own.At(0).Start), l.at(max(own.At(own.Len()-1).Stop-1, own.At(0).Start))
		}
		if at := n.Pos(); at >= 0 {
			line := l.at(at)
			if from == 0 || line < from {
				from = line
			}
			to = max(to, line)
		}
	}
	for c := n.FirstChild(); c != nil && c.Type() == ast.TypeBlock; c = c.NextSibling() {
		f, t := l.span(c)
		if f > 0 && (from == 0 || f < from) {
			from = f
		}
		to = max(to, t)
	}
	return from, to
}
