// Package render turns Markdown that others wrote into HTML by which a person decides. Nothing in
// it is active, and nothing of the source is hidden: HTML, comments, images and characters without
// a shape are shown as text. Each block knows its lines. No element, class or id comes from the
// document, so that nothing in it can use the style of a page to hide.
package render

import (
	"fmt"
	"sort"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// HTML is text in which nothing is left to be escaped.
type HTML string

// Page is a rendered document.
type Page struct {
	HTML    HTML
	Blocks  []Block
	Outline []Heading
	Hidden  []Hidden
	// Diagrams are the blocks of the language mermaid; data-diagram is their index.
	Diagrams []Diagram
	// Plain is set if the document is shown as its source, because it is built to be slow.
	Plain bool
}

// Block is a part of the document with an id and with its lines, from 1.
type Block struct {
	ID, Kind string
	From, To int
}

// Heading is an entry of the outline. Level is that of the document.
type Heading struct {
	ID, Text    string
	Level, Line int
}

// Hidden is a part of the document that other readers do not see: a comment, html, an image, a
// reference (the definition of a link), info (words after a code block's language), link (its
// address and title), or unseen characters.
type Hidden struct {
	Line       int
	Kind, Text string
}

// Diagram is the source of a diagram with its lines.
type Diagram struct {
	From, To int
	Source   string
}

// The limits of a document that is rendered: the depth of blocks in a line, the white space before
// it, and the size and marks of a paragraph, in which the parser compares marks with marks.
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
func Document(source string) Page { return document(source, nil) }

// Own renders a page of this program, which is not of others: its headings keep their level and have ids
// by which other pages link them, and to says where a link within the program leads.
func Own(source string, to func(address string) string) Page { return document(source, to) }

func document(source string, to func(address string) string) Page {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	r := &writer{to: to, seen: map[int]int{}, slugs: map[string]string{}}
	if !affordable(source) {
		r.page.Plain = true
		r.source(source)
		return r.finish()
	}
	if rest, ok := strings.CutPrefix(source, "\ufeff"); ok {
		r.line = 1
		r.text("\ufeff")
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
	r.outline(root)
	r.children(root)
	return r.finish()
}

// Source shows a text line by line.
func Source(source string) HTML {
	r := &writer{}
	r.source(source)
	return r.finish().HTML
}

func (w *writer) source(source string) {
	w.raw(`<ol class="source">`)
	for n, line := range strings.Split(strings.TrimSuffix(source, "\n"), "\n") {
		w.line = n + 1
		w.raw(fmt.Sprintf(`<li id="s%d" data-l="%d-%d"><code>`, w.line, w.line, w.line))
		w.text(strings.TrimSuffix(line, "\r"))
		w.raw("</code></li>\n")
	}
	w.raw("</ol>\n")
}

func (w *writer) finish() Page {
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
	w.raw("<pre" + w.anchor("front matter", 1, w.base) + "><code>")
	w.text("---" + inner + "\n---")
	w.raw("</code></pre>\n")
	return rest
}

// affordable reports whether the time to parse a document and the size of the result are in proportion
// to its size. For example, a row of a table has all columns even if it writes few.
func affordable(source string) bool {
	size, marks := 0, 0
	columns, cells, escaped := 0, 0, 0
	for line := range strings.Lines(source) {
		indent, depth := nesting(line)
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

// nesting counts the white space before the text of a line, and the marks there that open blocks.
func nesting(line string) (indent, depth int) {
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

// outline collects the headings, so that links within the document find them.
func (w *writer) outline(root ast.Node) {
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		from, _ := w.lines(n)
		title := w.plain(h)
		id, s := fmt.Sprintf("l%d", from), slug(title)
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

// OwnID returns the id of a heading in a page of this program, by the name that links of Markdown have for it.
func OwnID(anchor string) string { return "h-" + anchor }

// lineAt returns the line of a place in the source.
func (w *writer) lineAt(at int) int {
	return min(sort.SearchInts(w.ends, at), w.last()) + 1 + w.base
}

// last returns the number of line breaks before the last line.
func (w *writer) last() int {
	if n := len(w.ends); n > 0 && w.ends[n-1] == len(w.src)-1 {
		return n - 1
	}
	return len(w.ends)
}
