package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
)

// FuzzNotesOfSections: each note of a line stands at one block, whatever the lines around the blocks.
func FuzzNotesOfSections(f *testing.F) {
	f.Add("# A\n\nb\nc\n\n## D\n\n- e\n- f\n")
	f.Add("\n\n# empty lines before the text\n\nb\n")
	f.Add("\ufeff# a mark before the text\n\nb\n")
	f.Add("no\n\n\n\nheadings\n\n")
	f.Add("---\nfront: matter\n---\n\n\nc\n")
	f.Fuzz(func(t *testing.T, source string) {
		if why := checkNotes(source); why != "" {
			t.Error(why)
		}
	})
}

// checkNotes puts a note on each line of a text, and says which ones do not stand at one block.
func checkNotes(source string) string {
	lines, notes := strings.Split(source, "\n"), map[int][]note{}
	var want []int
	for i := range lines {
		want, notes[i+1] = append(want, i+1), []note{{Line: i + 1}}
	}
	for _, page := range []render.Page{render.Document(source), render.Changes("# Z\n\nx y z\n", source)} {
		var got []int
		for _, s := range sectionsOf(page, lines, notes, nil) {
			for _, p := range s.Parts {
				for _, n := range p.Notes {
					got = append(got, n.Line)
				}
			}
		}
		hasBlocks := slices.ContainsFunc(page.Sections, func(s render.Section) bool { return s.To > 0 })
		if hasBlocks && fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Sprintf("notes of the lines %v stand at blocks, want %v", got, want)
		}
	}
	return ""
}
