package look

import (
	"cmp"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// printStory tells a history, an entry a row, behind an indent.
func printStory(term *terminal.Terminal, indent string, s *workflow.Session, steps []workflow.Step) error {
	teller := story.Teller{Language: term.Lang, Definition: s.Definition(), Reader: terminal.Account()}
	var rows [][]string
	for _, e := range steps {
		rows = append(rows, []string{indent + term.When(e.At, "2006-01-02 15:04:05"), tell(term, teller, &e)})
	}
	return term.Columns(nil, rows)
}

// tell describes an entry with its figures, how a decision came, and the words that came with it.
func tell(term *terminal.Terminal, teller story.Teller, e *workflow.Step) string {
	parts := []string{teller.Sentence(&e.Transition, e.Unvouched)}
	if e.Iteration > 1 && e.Action == workflow.ActionSubmit {
		parts = append(parts, term.Lang.Say("round %d", e.Iteration))
	}
	if result := story.Result(term.Lang, &e.Transition); result != "" && e.Action == workflow.ActionSubmit {
		parts = append(parts, result)
	}
	text := strings.Join(parts, " · ")
	if means := story.Means(term.Lang, e.Grant, e.Unvouched); means != "" {
		text += term.Lang.Say(" (%s)", means)
	}
	if e.Feedback != "" {
		text += term.Lang.Say(" “%s”", terminal.OneLine(e.Feedback))
	}
	if comments := commentsText(term.Lang, e.Grant); comments != "" {
		text += " " + comments
	}
	words := cmp.Or(e.Policy, e.Edit, e.Candidates)
	if e.Adoption != nil {
		words = adoptionText(term.Lang, e.Transition)
	}
	if words != "" {
		text += term.Lang.Say(": %s", words)
	}
	return text
}
