package render

import (
	"fmt"

	"github.com/yuin/goldmark/ast"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
)

// Section is a heading of level 1 or 2 with the blocks up to the next, or the blocks before the first. Heading is the
// heading's id, "" for the blocks before the first; ID counts the sections.
type Section struct {
	ID, Heading, Title string
	Level              int
	From, To           int
	Parts              []Part
	// Change is the change of all parts, in a page of [Changes]: moved, added or removed. Folds reports whether the
	// parts below the heading are as they were.
	Change changes.Kind
	Folds  bool
}

// Part is a block of the top level in the wrapper with the id ID. HTML is the inside of the wrapper.
type Part struct {
	ID, Kind string
	From, To int
	HTML     HTML
	// Change is changed, added or removed in a page of [Changes]. A removed block has no lines.
	Change changes.Kind
}

// writeDocument writes the blocks of a document, each in a wrapper, by sections.
func (w *writer) writeDocument(root ast.Node) {
	headings := 0
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		heading, isHeading := n.(*ast.Heading)
		if isHeading && heading.Level <= 2 {
			w.startSection(w.page.Outline[headings])
		}
		if isHeading {
			headings++
		}
		from, to := w.linesOf(n)
		w.writePart(kindOf(n), from, to, func() { w.writeBlock(n) })
	}
	w.endSection()
}

func (w *writer) startSection(h Heading) {
	w.endSection()
	s := Section{ID: fmt.Sprintf("s%d", len(w.page.Sections)+1), Heading: h.ID, Title: h.Text, Level: h.Level, From: max(h.Line, 1)}
	named := ""
	if h.ID != "" {
		named = ` aria-labelledby="` + h.ID + `"`
	}
	w.writeRaw(`<section class="s" id="` + s.ID + `"` + named + ">\n")
	w.page.Sections = append(w.page.Sections, s)
	w.inSection = true
}

func (w *writer) endSection() {
	if w.inSection {
		w.writeRaw("</section>\n")
	}
	w.inSection = false
}

// writePart writes a block into a wrapper of its own.
func (w *writer) writePart(kind string, from, to int, write func()) {
	if !w.inSection {
		w.startSection(Heading{})
	}
	id := fmt.Sprintf("b%d", from)
	if w.parts[from]++; w.parts[from] > 1 {
		id = fmt.Sprintf("b%d-%d", from, w.parts[from])
	}
	w.writeRaw(`<div class="b" id="` + id + `">` + "\n")
	start := w.out.Len()
	write()
	s := &w.page.Sections[len(w.page.Sections)-1]
	s.To = max(s.To, to)
	s.Parts = append(s.Parts, Part{ID: id, Kind: kind, From: from, To: to, HTML: HTML(w.out.String()[start:])})
	w.writeRaw("</div>\n")
}

// kindOf names the kind of a block of the top level.
func kindOf(n ast.Node) string {
	switch n.Kind() {
	case ast.KindHeading:
		return "heading"
	case ast.KindParagraph:
		return "paragraph"
	case ast.KindBlockquote:
		return "quote"
	case ast.KindList:
		return "list"
	case ast.KindThematicBreak:
		return "rule"
	case ast.KindCodeBlock, ast.KindFencedCodeBlock:
		return "code"
	case ast.KindHTMLBlock:
		return "html"
	case ast.KindLinkReferenceDefinition:
		return "reference"
	}
	return "table"
}
