// Package markdown reads documents as people and models write them: fences, comments,
// headings with or without their marks, lists and tables. It is the one reader of Markdown
// for everything that judges a document or shows it.
package markdown

import (
	"slices"
	"strings"
)

// Document is a document, read once. Lines count from 0.
type Document struct {
	Lines []string
	// Said has each line without inline code and comments; it is empty in a code block.
	Said []string
	// Code marks the lines of code blocks, with their fences, and of front matter.
	Code  []bool
	Heads []Heading
	// Tables are in the order of the document; Rows has their rows by line.
	Tables []Table
	Rows   map[int]Row
}

// Read reads a document. names are section names as [NameOf] gives them: a bold, numbered
// or bare line with such a name is a heading.
func Read(document string, names []string) *Document {
	document = strings.TrimPrefix(strings.ToValidUTF8(document, "\uFFFD"), "\ufeff")
	d := &Document{Lines: strings.Split(document, "\n"), Rows: map[int]Row{}}
	for i, l := range d.Lines {
		d.Lines[i] = strings.TrimSuffix(l, "\r")
	}
	d.Said = slices.Clone(d.Lines)
	d.Code = make([]bool, len(d.Lines))
	d.markFences()
	var comments Comments
	for i, l := range d.Said {
		if !d.Code[i] {
			d.Said[i] = blankCode(comments.Strip(i, l))
		}
	}
	d.readTables()
	if strings.Contains(document, "</") {
		d.readHTML()
	}
	d.readHeadings(names)
	return d
}

// markFences finds the code blocks, and removes one Markdown fence around the whole, or around the part
// with all headings.
func (d *Document) markFences() {
	first, _ := d.textSpan()
	if open, last := d.wrappingFence(); open >= 0 {
		d.Lines[open], d.Lines[last], d.Said[open], d.Said[last] = "", "", "", ""
	}
	if first < len(d.Lines) && d.Lines[first] == "---" {
		for i := first + 1; i < min(first+40, len(d.Lines)); i++ {
			if d.Lines[i] == "---" {
				d.markCode(first, i) // front matter
				break
			}
		}
	}
	open, mark := -1, ""
	for i := range d.Lines {
		found, info, ok := Fence(d.Lines[i])
		switch {
		case !ok || d.Code[i]:
		case open < 0 && !strings.Contains(info, "`"):
			open, mark = i, found
		case open >= 0 && strings.HasPrefix(found, mark) && info == "":
			d.markCode(open, i)
			open = -1
		}
	}
}

// wrappingFence returns the lines of a Markdown fence around the document: people and models put words around
// it, but no headings. open is -1 if there is none.
func (d *Document) wrappingFence() (open, last int) {
	for open < len(d.Lines) && !mayBeHeading(d.Lines[open]) {
		mark, info, ok := Fence(d.Lines[open])
		if !ok {
			open++
			continue
		}
		last = len(d.Lines) - 1
		for last > open && strings.TrimSpace(d.Lines[last]) != mark && !mayBeHeading(d.Lines[last]) {
			last--
		}
		isMarkdown := info == "markdown" || info == "md"
		isClosed := last > open && strings.TrimSpace(d.Lines[last]) == mark
		if !isMarkdown || !isClosed {
			break
		}
		around := strings.Join(d.Lines[:open], "") + strings.Join(d.Lines[last+1:], "")
		if strings.TrimSpace(around) == "" || slices.ContainsFunc(d.Lines[open+1:last], mayBeHeading) {
			return open, last
		}
		break
	}
	return -1, -1
}

// mayBeHeading reports whether a line may be a heading with #.
func mayBeHeading(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "#") }

// textSpan returns the first and the last line with anything on it.
func (d *Document) textSpan() (first, last int) {
	last = len(d.Lines) - 1
	for first < len(d.Lines) && strings.TrimSpace(d.Lines[first]) == "" {
		first++
	}
	for last > first && strings.TrimSpace(d.Lines[last]) == "" {
		last--
	}
	return first, last
}

func (d *Document) markCode(from, to int) {
	for i := from; i <= to; i++ {
		d.Code[i], d.Said[i] = true, ""
	}
}
