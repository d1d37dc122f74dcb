package audit

import (
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// document is the input of a check.
type document struct {
	*text
	earlier map[workflow.StageID]*text
	plan    workflow.StageID
	wanted  Background
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
