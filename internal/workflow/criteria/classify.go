package criteria

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// class is the subject of the sections around a line.
type class byte

const (
	// isOmitted: parts left unbuilt, or ids of other places. isRestating: perhaps ids of other places. isOther: something
	// else than requirements. isWanted: requirements.
	isOmitted class = 1 << iota
	isRestating
	isOther
	isWanted
)

// classify returns the classes of each line. Of requirements and something else the innermost section counts.
func classify(doc *markdown.Document) []class {
	out := make([]class, len(doc.Lines))
	_, title := doc.Title()
	for at, h := range doc.Heads {
		if at == title {
			continue
		}
		c := classOf(h)
		if c == 0 {
			continue
		}
		for i := h.Line; i < h.End; i++ {
			if c&(isWanted|isOther) != 0 {
				out[i] &^= isWanted | isOther
			}
			out[i] |= c
		}
	}
	return out
}

// maxName is the most that the name of a section has, in bytes; longer ones are sentences.
const maxName = 90

// nodeWords match the headings of epics, stories, requirements and scenarios.
var nodeWords = []*pattern.Pattern{storyWord, requirementWord, requirementName, featureWord, epicWord, scenarioWord}

// classOf returns the classes of a section.
func classOf(h markdown.Heading) (c class) {
	if len(h.Name) > maxName {
		return 0
	}
	body := bare(h.Text)
	id, _, defines := readID(body)
	text := markdown.Unnumbered(body)
	isEntry := defines && (strong(id.Family) || ofSprint(Node{Identifier: id}))
	if isEntry || slices.ContainsFunc(nodeWords, func(w *pattern.Pattern) bool { return w.MatchString(text) }) {
		return 0
	}
	match := func(names []string) bool { return markdown.MatchesName(h.Name, names) }
	if (match(omitted) || match(naming) && !match(acceptance)) && !isCombined(h.Text) {
		return isOmitted
	}
	if match(restating) {
		c |= isRestating
	}
	switch {
	case match(acceptance), match(wanted):
		c |= isWanted
	case match(other):
		c |= isOther
	}
	return c
}

// parts divides a heading that names several sections.
var parts = pattern.New(`\s*(?:[/&+,、，|]|\s(?:` + oneOf("and") + `)\s|[与和及])\s*`)

// isCombined reports whether a heading names other sections besides one on omissions: what stands below decides.
func isCombined(text string) bool {
	names := parts.Split(Narrow(text), -1)
	left := 0
	for _, name := range names {
		name = markdown.NameOf(name)
		if name == "" || markdown.MatchesName(name, omitted) || markdown.MatchesName(name, naming) {
			left++
		}
	}
	return left < len(names)
}
