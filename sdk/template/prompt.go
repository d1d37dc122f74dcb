package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// groupSize bounds the instructions for one call, digestSize the document so far in it, in bytes.
const (
	groupSize  = 2000
	digestSize = 12_000
)

// stepText is the message of a step.
const stepText = `You write parts of the document %[1]q from a template of the method. A program puts it together and writes all headings: your texts
are Markdown without them. You write no file.

What the person wants: %[2]s

Variables known: %[3]s

The document so far, which is in %[4]s:

<document>
%[5]s
</document>

Write the sections below. Read what you need with your tools before. In your answer the key of a section has its text, in full, as the instruction,
the template and the type say; of a repeatable section the items, at most %[6]d. A key in {{}} has the value of a variable. A key with a question
mark says whether the section is there, by its condition; if it is not, its texts are "". What you cannot know, name as open.

%[7]s

%[8]s`

// addTold adds a section to a list, after the ones around it, and with its parts if it repeats, each once.
func addTold(told []*Section, s *Section) []*Section {
	if s == nil || slices.Contains(told, s) {
		return told
	}
	told = append(addTold(told, s.up), s)
	if s.Repeatable {
		for _, below := range s.Sections {
			told = addTold(told, below)
		}
	}
	return told
}

// describeSections returns the instructions for sections.
func describeSections(told []*Section) (text string) {
	for _, s := range told {
		text += fmt.Sprintf("## Key %q\n\n%s\n\n", s.key, s.source)
	}
	return text
}

func (s *Section) isElicited() bool { return s.Elicit || s.up != nil && s.up.isElicited() }

// shortenDocument returns a document, or if it is long the beginning of each section.
func shortenDocument(document string) string {
	if len(document) <= digestSize {
		return document
	}
	parts := strings.Split(document, "\n#")
	for i, part := range parts {
		parts[i] = visible.Head(part, digestSize/len(parts))
	}
	return visible.Head(strings.Join(parts, "\n#"), digestSize)
}
