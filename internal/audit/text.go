package audit

import (
	"slices"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
)

// text is a document with the facts that several checks ask for. Lines count from 0 here and
// from 1 in findings.
type text struct {
	*markdown.Document
	// criterion is true for each line that states an acceptance criterion.
	criterion []bool
	// defined returns the definitions of ids, prose its sentences, named the ids that
	// it names, planned the sprints of a plan; each is read when it is first asked for, whichever
	// call asks.
	defined func() []definition
	prose   func() *prose
	named   func() mentions
	planned func() []markdown.Sprint
	// stories returns the user stories, mapped the lines of sections that only list ids.
	stories func() []story
	mapped  func() []bool
}

// story is a user story with the lines that belong to it.
type story struct {
	id        string
	nth       int // of a story without an id, its place among them
	number    []int
	line, end int
	form      byte
}

// readText reads a document. names are the section names of a rubric.
func readText(document string, names []string) *text {
	d := &text{Document: markdown.Read(document, names)}
	d.criterion = markCriteria(d.Document)
	d.defined = sync.OnceValue(func() []definition { return readDefinitions(d.Document) })
	d.prose = sync.OnceValue(func() *prose { return readProse(d.Document) })
	d.planned = sync.OnceValue(func() []markdown.Sprint {
		sprints, _ := d.Sprints()
		return sprints
	})
	d.stories = sync.OnceValue(d.readStories)
	d.mapped = sync.OnceValue(func() []bool { return d.LinesOf(d.Sections(mapping)) })
	d.named = sync.OnceValue(func() mentions { return mentionsIn(d.Lines) })
	return d
}

// definitions returns the lines that explain ids of the prefixes, in the order of
// the document.
func (d *text) definitions(prefixes ...string) []definition {
	var out []definition
	for _, def := range d.defined() {
		if len(prefixes) == 0 || slices.Contains(prefixes, strings.TrimRight(def.id.prefix, "0123456789")) {
			out = append(out, def)
		}
	}
	return out
}

// maxRead is how much of a document is read, in bytes: more than anybody would read, and as much as
// costs a second or two of a processor if each line is one to look at.
const maxRead = 1 << 20

// readable returns the part of a document that is read: whole lines, if it has some.
func readable(document string) string {
	if len(document) <= maxRead {
		return document
	}
	if end := strings.LastIndexByte(document[:maxRead], '\n'); end > maxRead/2 {
		return document[:end]
	}
	return document[:boundary(document, maxRead)]
}
