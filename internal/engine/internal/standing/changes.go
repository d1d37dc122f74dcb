package standing

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
)

// Compare counts the differing lines of two documents, as the pages show them, and names the sections of these
// lines.
func Compare(before, after string) Changes {
	out := Changes{}
	out.Added, out.Removed = textdiff.Stat(before, after)
	for _, section := range changes.Differing(changes.Sections(before, after)) {
		if section.Title != "" {
			out.Sections = append(out.Sections, section.Title)
		}
	}
	return out
}

// Edit is a change of the text of a document at its gate.
type Edit struct {
	// SHA256 is the hash of the changed text, to which a decision applies.
	SHA256 string
	Lines  []EditedLine
}

// EditedLine is a changed line, without white space around it. Before is empty if the line is new, After if it is
// gone.
type EditedLine struct {
	Before, After string
	// At is the place of the first difference, in bytes of either.
	At int
}

// EditedLines compares two texts by lines. Changes of white space alone are left out.
func EditedLines(before, after string) []EditedLine {
	var out []EditedLine
	for _, row := range textdiff.Rows(before, after) {
		if row.Kind == textdiff.Same {
			continue
		}
		line := EditedLine{Before: joinSpans(row.Left), After: joinSpans(row.Right)}
		if strings.Join(strings.Fields(line.Before), " ") == strings.Join(strings.Fields(line.After), " ") {
			continue
		}
		if line.Before != "" {
			for line.At < min(len(line.Before), len(line.After)) && line.Before[line.At] == line.After[line.At] {
				line.At++
			}
		}
		out = append(out, line)
	}
	return out
}

func joinSpans(spans []textdiff.Span) string {
	var b strings.Builder
	for _, span := range spans {
		b.WriteString(span.Text)
	}
	return strings.TrimSpace(b.String())
}

// TakenBack returns the parts of an edit undone by a later text: restored old lines and removed new ones. A line
// changed once more is neither.
func TakenBack(before, edited, later string) []EditedLine {
	then, now := countLines(edited), countLines(later)
	reworded := map[string]bool{}
	for _, line := range EditedLines(edited, later) {
		if line.Before != "" && line.After != "" {
			reworded[line.Before] = true
		}
	}
	var out []EditedLine
	for _, line := range EditedLines(before, edited) {
		gone := line.After == "" || now[line.After] < then[line.After]
		again := now[line.Before] > then[line.Before]
		if line.Before == "" {
			again = !reworded[line.After]
		}
		if gone && again {
			out = append(out, line)
		}
	}
	return out
}

func countLines(text string) map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(text) {
		out[strings.TrimSpace(line)]++
	}
	return out
}
