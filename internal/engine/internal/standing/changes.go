package standing

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
)

// Compare counts the lines that differ between two documents, as the pages that show them do, and
// names the sections that hold them.
func Compare(before, after string) Changes {
	added, removed := textdiff.Stat(before, after)
	return Changes{Added: added, Removed: removed, Sections: changedSections(before, after)}
}

// changedSections names the sections of a document that another has not, or has otherwise,
// in the order of the document.
func changedSections(before, after string) []string {
	titles, now := sections(after)
	earlier, old := sections(before)
	var out []string
	for _, title := range titles {
		if body, known := old[title]; !known || body != now[title] {
			out = append(out, title)
		}
	}
	for _, title := range earlier {
		if _, kept := now[title]; !kept {
			out = append(out, title)
		}
	}
	return out
}

// sections cuts a document at its headings, and returns the titles in their order.
func sections(text string) (titles []string, bodies map[string]string) {
	title, fence := "", ""
	bodies = map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fence = line[:3]
		case strings.HasPrefix(line, "#"):
			title = strings.TrimSpace(strings.TrimLeft(line, "#"))
			if _, known := bodies[title]; !known && title != "" {
				titles = append(titles, title)
			}
			bodies[title] += ""
			continue
		}
		if line != "" {
			bodies[title] += line + "\n"
		}
	}
	return titles, bodies
}

// Edit is a change of the text of a document while it waited at its gate.
type Edit struct {
	// SHA256 is the hash of the changed text, to which a decision applies.
	SHA256 string
	Lines  []EditedLine
}

// EditedLine is a line that was changed, without white space around it. Before is empty if the
// line is new, After if it is gone.
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

// TakenBack returns the parts of an edit that a later text takes back: lines that stand there again as
// they did before it, and new ones that are gone. A line that was changed once more is neither.
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
