package web

import (
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
func (h hunk) notesOf(line int) []note {
	if line == 0 {
		return nil
	}
	return h.notes[line]
}

// foldedNotes returns the notes on the lines of a folded hunk.
func (h hunk) foldedNotes() []note {
	var out []note
	for _, r := range h.Rows {
		out = append(out, h.notesOf(r.After)...)
	}
	return out
}

// sectionsOf puts notes and changes to the blocks of a page.
func sectionsOf(page render.Page, lines []string, notes map[int][]note, rows []textdiff.Row) []section {
	changed := map[int]bool{}
	for _, r := range rows {
		changed[r.After] = r.Kind != textdiff.Same && !isBlank(r)
	}
	var out []section
	for i, s := range page.Sections {
		row := section{Section: s}
		next := len(lines) + 1
		for _, later := range page.Sections[i+1:] {
			if later.From > 0 { // the removed ones have no lines
				next = later.From
				break
			}
		}
		if s.From > 0 {
			row.Sum = workflow.Hash([]byte(strings.Join(lines[s.From-1:max(s.From-1, min(next-1, len(lines)))], "\n")))[:12]
		}
		for k, p := range s.Parts {
			to := next
			for _, later := range s.Parts[k+1:] {
				if later.From > 0 {
					to = later.From
					break
				}
			}
			one := part{Part: p, Changed: p.Change != ""}
			for line := p.From; p.From > 0 && line < max(to, p.From+1); line++ {
				one.Notes = append(one.Notes, notes[line]...)
				one.Changed = one.Changed || line <= p.To && changed[line]
			}
			row.Marks.add(one)
			row.Parts = append(row.Parts, one)
		}
		out = append(out, row)
	}
	return out
}

func isBlank(r textdiff.Row) bool {
	for _, spans := range [][]textdiff.Span{r.Left, r.Right} {
		for _, s := range spans {
			if strings.TrimSpace(s.Text) != "" {
				return false
			}
		}
	}
	return true
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
