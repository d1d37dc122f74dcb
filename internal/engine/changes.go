package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// changed says how the current document differs from that of the round before; "" in the
// first round, or where that is not there any more.
func (r run) changed(s *workflow.Session) string {
	ref := s.Current().FinalResultRef
	rounds := Rounds(s, s.CurrentStage)
	if len(rounds) < 2 || ref == nil {
		return ""
	}
	last := rounds[len(rounds)-2]
	before, err := r.project.Texts.Read(context.Background(), workflow.ContentRef{FilePath: last.Path})
	if err != nil {
		return ""
	}
	after, err := r.project.Texts.Read(context.Background(), *ref)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("Changed since round %d: %s.", last.Iteration, changesText(before, after))
}

// changesText counts the lines that differ between two documents, wherever they stand, and
// names the sections that they are in.
func changesText(before, after string) string {
	added, removed := missingLines(after, before), missingLines(before, after)
	if added+removed == 0 {
		if strings.TrimSpace(before) == strings.TrimSpace(after) {
			return "nothing, word for word"
		}
		return "only the order of its lines"
	}
	text := fmt.Sprintf("%s added, %d removed", count(added, "line"), removed)
	names := changedSections(before, after)
	if len(names) == 0 {
		return text
	}
	const most = 3
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	for i, name := range names {
		names[i] = "“" + visible.Cut(plainMarks.Replace(visible.Line(name)), 32, "…") + "”"
	}
	return text + ", in " + strings.Join(names, ", ") + more
}

// missingLines counts the lines of a text that another does not have as often.
func missingLines(text, other string) int {
	have := map[string]int{}
	for line := range strings.Lines(other) {
		have[strings.TrimSpace(line)]++
	}
	n := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if have[line]--; have[line] < 0 {
			n++
		}
	}
	return n
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
