package standing

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Since is a document that went on before, with the differences from the text of that step.
type Since struct {
	Stage workflow.StageID
	Round int
	At    time.Time
	// Commit is the commit that was checked out; "" if it is not on record.
	Commit string
	// Alone is true if no person said yes: the rules let the document pass.
	Alone bool
	// The person is the one who did; Others is true if that is not the caller.
	workflow.Person
	Others bool
	// Reported is true if other people read it, too.
	Reported bool
	// Compared is true if the document has a later text, Unknown if the approved one is gone or was changed.
	Compared, Unknown bool
	// Sections are the differing sections.
	Sections []changes.Section
	// Moved are the files that the document names and that have changed.
	Moved []MovedFile
}

// MovedFile is a file named by a document that has changed since.
type MovedFile struct {
	Path string `json:"path"`
	Gone bool   `json:"gone,omitempty"`
	// Sections are the headings of the sections that name it.
	Sections []string `json:"sections,omitempty"`
}

// NewSince describes the step of a history with which a document went on.
func NewSince(t workflow.Transition) Since {
	out := Since{Stage: t.FromStage(), Round: t.Iteration, At: t.At, Commit: t.Commit, Alone: t.Grant == nil, Person: t.Person}
	if t.Grant != nil {
		out.Person = t.Grant.Person
	}
	return out
}

// IsNews reports whether there is something to say about the document, or the code that it names.
func (c Since) IsNews() bool { return c.Compared || len(c.Moved) > 0 }

// SinceOf returns the entry of a stage; nil if there is none.
func (s *Standing) SinceOf(stage workflow.StageID) *Since {
	for i := range s.Since {
		if s.Since[i].Stage == stage {
			return &s.Since[i]
		}
	}
	return nil
}
