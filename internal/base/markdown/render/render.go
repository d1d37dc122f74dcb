// Package render turns other people's Markdown into HTML for a person to decide by. Nothing in it is
// active, and nothing of the source is hidden: HTML, comments, images and characters without a shape are
// shown as text. Each block knows its lines. No element, class or id comes from the document, so nothing in
// it can hide by the style of a page.
package render

import (
	"fmt"
	"sort"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
)

// HTML is text in which nothing is left to be escaped.
type HTML string

// Page is a rendered document.
type Page struct {
	HTML   HTML
	Blocks []Block
	// Sections has the blocks of the top level; a plain page has Lines instead, without blocks.
	Sections []Section
	Lines    []Part
	Outline  []Heading
	Hidden   []Hidden
	// Diagrams are the blocks of the language mermaid; data-diagram is their index.
	Diagrams []Diagram
	// Compared are the sections of a page of [Changes], as package changes compares them; nil if it was not compared.
	Compared []changes.Section
	// Plain reports whether the document is shown as its source, because it is built to be slow.
	Plain bool
}

// Block is a part of the document with an id and with line numbers, from 1.
type Block struct {
	ID, Kind string
	From, To int
}

// Heading is an entry of the outline. Level is the level in the document.
type Heading struct {
	ID, Text    string
	Level, Line int
}

// Hidden is a part of the document hidden from other readers: a comment, html, an image, a reference (the
// definition of a link), info (words after a code block's language), link (address and title), or unseen
// characters.
type Hidden struct {
	Line       int
	Kind, Text string
}

// Diagram is the source of a diagram with line numbers.
type Diagram struct {
	From, To int
	Source   string
}

// The limits of a rendered document: the depth of blocks in a line, the white space before it, and the size
// and marks of a paragraph, in which the parser compares marks with marks.
const (
	maxDepth     = 64
	maxIndent    = 400
	maxParagraph = 128 << 10
	maxMarks     = 6000
	// maxEscaped bounds the pipes in code of all tables, which the parser compares with each other.
	maxEscaped = 4000
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM))

// Document renders a document.
func Document(source string) Page { return renderDocument(source, nil) }

// Own renders a page of this program: headings keep their level and have ids for the links of other pages,
// and to returns the target of a link within the program.
func Own(source string, to func(address string) string) Page { return renderDocument(source, to) }

func renderDocument(source string, to func(address string) string) Page {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	r := &writer{to: to, seen: map[int]int{}, parts: map[int]int{}, slugs: map[string]string{}}
	if !isAffordable(source) {
		r.page.Plain = true
		r.writeSource(source)
		return r.finishPage()
	}
	if rest, ok := strings.CutPrefix(source, "\ufeff"); ok {
		r.line = 1
		r.writePart("unseen", 1, 1, func() { r.writeText("\ufeff") })
		source = rest
	}
	body := r.frontMatter(source)
	r.src = []byte(body)
	for at, c := range r.src {
		if c == '\n' {
			r.ends = append(r.ends, at)
		}
	}
	root := markdown.Parser().Parse(text.NewReader(r.src))
	r.collectHeadings(root)
	r.writeDocument(root)
	return r.finishPage()
}

// Source shows a text line by line.
func Source(source string) Page {
	r := &writer{}
	r.writeSource(source)
	return r.finishPage()
}

func (w *writer) writeSource(source string) {
	w.writeRaw(`<ol class="source">`)
	for n, line := range strings.Split(strings.TrimSuffix(source, "\n"), "\n") {
		w.line = n + 1
		w.writeRaw(fmt.Sprintf(`<li id="s%d" data-l="%d-%d"><code>`, w.line, w.line, w.line))
		start := w.out.Len()
		w.writeText(strings.TrimSuffix(line, "\r"))
		w.page.Lines = append(w.page.Lines, Part{ID: fmt.Sprintf("s%d", w.line), Kind: "line", From: w.line, To: w.line, HTML: HTML(w.out.String()[start:])})
		w.writeRaw("</code></li>\n")
	}
	w.writeRaw("</ol>\n")
}

func (w *writer) finishPage() Page {
	w.page.HTML = HTML(w.out.String()) // writer.text and attribute escaped each text in it
	return w.page
}

// frontMatter shows the settings at the start of a document as code, and returns the rest.
func (w *writer) frontMatter(source string) string {
	head, ok := strings.CutPrefix(source, "---\n")
	if !ok {
		return source
	}
	inner, rest, ok := strings.Cut("\n"+head, "\n---\n")
	if !ok {
		if inner, ok = strings.CutSuffix("\n"+head, "\n---"); !ok {
			return source
		}
	}
	if strings.TrimSpace(inner) == "" || strings.Contains(inner, "\n\n") {
		return source
	}
	w.base = strings.Count(inner, "\n") + 2
	w.line = 1
	w.writePart("front matter", 1, w.base, func() {
		w.writeRaw("<pre" + w.addBlock("front matter", 1, w.base) + "><code>")
		w.writeText("---" + inner + "\n---")
		w.writeRaw("</code></pre>\n")
	})
	return rest
}

// isAffordable reports whether the time to parse a document and the size of the result are in proportion to
// the document's size. For example, a row of a table has all columns even if it writes few.
func isAffordable(source string) bool {
	size, marks := 0, 0
	columns, cells, escaped := 0, 0, 0
	for line := range strings.Lines(source) {
		indent, depth := countNesting(line)
		inner := strings.TrimSpace(line)
		isItem := strings.HasPrefix(inner, "- ") || strings.HasPrefix(inner, "* ")
		if inner == "" || isItem && indent < 4 {
			size, marks, columns = 0, 0, 0 // an item ends the paragraph before it
		}
		size += len(line)
		if strings.Trim(inner, "|:->+*.)0123456789 \t") == "" { // it may head a table, also in a quote or an item
			columns = max(columns, strings.Count(inner, "|")+1)
		}
		cells += columns
		if strings.Contains(line, "`") {
			escaped += strings.Count(line, `\|`)
		}
		for i := range len(line) {
			if strings.IndexByte("[]*_~`<&!", line[i]) >= 0 {
				marks++
			}
		}
		if depth > maxDepth || indent > maxIndent || size > maxParagraph || marks > maxMarks || escaped > maxEscaped {
			return false
		}
	}
	return cells <= len(source)
}

// countNesting counts the white space before the text of a line, and the marks there which open blocks.
func countNesting(line string) (indent, depth int) {
	if inner := strings.TrimSpace(line); strings.Trim(inner, "-") == "" || strings.Trim(inner, "*") == "" {
		return len(line) - len(inner), 0 // a rule
	}
	for _, c := range line {
		switch {
		case strings.ContainsRune(">-+*.)", c):
			depth++
		case c == ' ', c == '\t':
			indent++
		case c < '0' || c > '9':
			return indent, depth
		}
	}
	return indent, depth
}

// collectHeadings collects the headings, for links within the document.
func (w *writer) collectHeadings(root ast.Node) {
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		from, _ := w.linesOf(n)
		title := w.plainText(h)
		id, s := fmt.Sprintf("l%d", from), slugOf(title)
		if w.to != nil {
			id = OwnID(s)
			h.SetAttributeString("id", id)
		}
		w.page.Outline = append(w.page.Outline, Heading{id, title, h.Level, from})
		if w.slugs[s] == "" {
			w.slugs[s] = id
		}
	}
}

// OwnID returns the id of a heading in a page of this program, by the name for it in Markdown's links.
func OwnID(anchor string) string { return "h-" + anchor }

// lineAt returns the line of a place in the source.
func (w *writer) lineAt(at int) int {
	return min(sort.SearchInts(w.ends, at), w.lastBreaks()) + 1 + w.base
}

// lastBreaks returns the number of line breaks before the last line.
func (w *writer) lastBreaks() int {
	if n := len(w.ends); n > 0 && w.ends[n-1] == len(w.src)-1 {
		return n - 1
	}
	return len(w.ends)
}
