package web

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// section is a section of the text with the counts for the outline.
type section struct {
	render.Section
	Parts []part
	// Sum identifies the text of the section, for the marks of a reader.
	Sum   string
	Marks sectionMarks
}

// part is a block of the text with its notes. Changed reports whether the round before had other words.
type part struct {
	render.Part
	Notes   []note
	Changed bool
}

// sectionMarks counts the notes of a section by kind, and the places that changed since the round before.
type sectionMarks struct{ Bad, Warn, Ask, Comments, Changes int }

// hunk is a run of compared lines with the notes of the page.
type hunk struct {
	textdiff.Hunk
	notes map[int][]note
}

// notesOf returns the notes on a line.
func (h hunk) notesOf(line int) []note { return h.notes[line] }

// foldedNotes returns the notes on the lines of a folded hunk.
func (h hunk) foldedNotes() []note {
	var out []note
	for _, r := range h.Rows {
		out = append(out, h.notesOf(r.After)...)
	}
	return out
}

// sectionsOf puts notes and changes to the blocks of a page. The lines between two blocks are of the one before.
func sectionsOf(page render.Page, lines []string, notes map[int][]note, rows []textdiff.Row) []section {
	changed := map[int]bool{}
	for _, r := range rows {
		changed[r.After] = r.Kind != textdiff.Same && !isBlank(r)
	}
	var starts []int // of the blocks
	for _, s := range page.Sections {
		for _, p := range s.Parts {
			if p.From > 0 { // the removed ones have no lines
				starts = append(starts, p.From)
			}
		}
	}
	starts = append(starts, len(lines)+1)
	line := 1
	var out []section
	for _, s := range page.Sections {
		row := section{Section: s}
		for _, p := range s.Parts {
			one := part{Part: p, Changed: p.Change != ""}
			if p.From > 0 {
				starts = starts[1:]
				for ; line < starts[0]; line++ {
					one.Notes = append(one.Notes, notes[line]...)
					one.Changed = one.Changed || line <= p.To && changed[line]
				}
			}
			row.Marks.add(one)
			row.Parts = append(row.Parts, one)
		}
		if s.From > 0 {
			row.Sum = workflow.Hash([]byte(strings.Join(lines[s.From-1:max(s.From, line)-1], "\n")))[:12]
		}
		out = append(out, row)
	}
	return out
}

func isBlank(r textdiff.Row) bool {
	return !slices.ContainsFunc(slices.Concat(r.Left, r.Right), func(s textdiff.Span) bool { return strings.TrimSpace(s.Text) != "" })
}

func (m *sectionMarks) add(p part) {
	if p.Changed {
		m.Changes++
	}
	for _, n := range p.Notes {
		switch {
		case n.Kind == "comment":
			m.Comments++
		case n.Look() == "bad":
			m.Bad++
		case n.Look() == "ask":
			m.Ask++
		default:
			m.Warn++
		}
	}
}

// addNotes puts notes to lines of the source.
func addNotes(lines []render.Part, notes map[int][]note) []part {
	var out []part
	for _, p := range lines {
		out = append(out, part{Part: p, Notes: notes[p.From]})
	}
	return out
}

// measureReading counts the words of a text, a Chinese character as one, and the minutes to read them.
func measureReading(text string) (words, minutes int) {
	inWord, han := false, 0
	for _, r := range text {
		isLetter := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case unicode.Is(unicode.Han, r):
			han++
			isLetter = false
		case isLetter && !inWord:
			words++
		}
		inWord = isLetter || inWord && (r == '\'' || r == '-' || r == '_')
	}
	return words + han, max(1, (words*2+han+399)/400)
}
