package standing

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/textdiff"
)

// Compare counts the lines that differ between two documents, as the pages that show them do, and
// names the sections that hold them.
func Compare(before, after string) Changes {
	added, removed := textdiff.Stat(textdiff.Rows(before, after))
	return Changes{Added: added, Removed: removed, Sections: changedSections(before, after)}
}

// changedSections names the sections of a document that another has not, or has otherwise,
// in the order of the document.
func changedSections(before, after string) []string {
	old := map[string]string{}
	for _, section := range sections(before) {
		old[section.title] += section.body
	}
	var out []string
	bodies, order := map[string]string{}, []string{}
	for _, section := range sections(after) {
		if _, known := bodies[section.title]; !known {
			order = append(order, section.title)
		}
		bodies[section.title] += section.body
	}
	for _, title := range order {
		if body, known := old[title]; title != "" && (!known || body != bodies[title]) {
			out = append(out, title)
		}
	}
	for _, section := range sections(before) {
		if _, kept := bodies[section.title]; !kept && section.title != "" && !slices.Contains(out, section.title) {
			out = append(out, section.title)
		}
	}
	return out
}

type section struct{ title, body string }

// sections cuts a document at its headings.
func sections(text string) []section {
	out := []section{{}}
	fence := ""
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
			out = append(out, section{title: strings.TrimSpace(strings.TrimLeft(line, "#"))})
			continue
		}
		if line != "" {
			out[len(out)-1].body += line + "\n"
		}
	}
	return out
}
