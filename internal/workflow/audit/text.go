package audit

import (
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// text is a document with the facts for several checks. Lines count from 0 here and from 1 in
// findings.
type text struct {
	*markdown.Document
	// criterion is true for each line that states an acceptance criterion.
	criterion func() []bool
	// read returns the stories, requirements and criteria, prose the sentences, planned the sprints of a plan; each is
	// read at the first call, by whichever check.
	read    func() *criteria.Document
	prose   func() *prose
	planned func() []markdown.Sprint
}

// story is a user story with its lines.
type story struct {
	id        string
	nth       int // the place among the stories without an id
	node      int // in the document, -1 for one without an id
	line, end int
	form      byte
}

// readText reads a document. names are the section names of a rubric.
func readText(document string, names []string) *text {
	d := &text{Document: markdown.Read(recall.Simplified(document), names)}
	d.read = sync.OnceValue(func() *criteria.Document { return criteria.ReadDocument(d.Document) })
	d.criterion = sync.OnceValue(func() []bool { return markCriteria(d.read()) })
	d.prose = sync.OnceValue(func() *prose { return readProse(d.Document) })
	d.planned = sync.OnceValue(func() []markdown.Sprint {
		sprints, _ := d.Sprints()
		return sprints
	})
	return d
}

// maxRead is how much of a document is read, in bytes: more than anybody would read, and a second
// or two of a processor if each line needs a look.
const maxRead = 1 << 20

// readablePart returns the part of a document that is read: whole lines, if there are some.
func readablePart(document string) string {
	if len(document) <= maxRead {
		return document
	}
	if end := strings.LastIndexByte(document[:maxRead], '\n'); end > maxRead/2 {
		return document[:end]
	}
	return document[:runeBoundary(document, maxRead)]
}

// document is the input of a check.
type document struct {
	*text
	earlier map[workflow.StageID]*text
	wanted  Background
	stories []story // read by the first check that asks
}

// Background is the context of a document. Missing context costs no points.
type Background struct {
	// Language is the language of the findings. The document may be in another one.
	Language lang.Language
	// Objective is the person's request, Answers are their answers to questions.
	Objective string
	Answers   []string
	// Earlier are the documents of earlier stages. Plan names the one with sprints.
	Earlier map[workflow.StageID]string
	Plan    workflow.StageID
}

// kept are the last read documents of earlier stages: they do not change while the later stages are
// audited, and each audit is traced to all of them.
var kept = recent.New[string, *text](8)

// maxKept is the largest document kept, in bytes; the text of one takes several times as much memory.
const maxKept = 256 << 10

// readEarlier returns the text of a document, which several calls may share.
func readEarlier(document string) *text {
	if found, ok := kept.Get(document); ok {
		return found
	}
	made := readText(document, nil)
	if len(document) <= maxKept {
		kept.Put(document, made)
	}
	return made
}
