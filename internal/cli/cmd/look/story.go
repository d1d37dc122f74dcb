package look

import (
	"cmp"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// printStory prints a history, an indented row for each entry.
func printStory(term *terminal.Terminal, indent string, s *workflow.Session, steps []workflow.Step) error {
	teller := story.Teller{Language: term.Lang, Definition: s.Definition(), Reader: terminal.Account()}
	if signer, err := app.Trust().ReadSigner(); err == nil && signer != nil {
		teller.Key = signer.Public().Fingerprint()
	}
	var rows [][]string
	for _, e := range steps {
		rows = append(rows, []string{indent + term.When(e.At, "2006-01-02 15:04:05"), describeEntry(term, teller, &e)})
	}
	return term.Columns(nil, rows)
}

// describeEntry describes an entry, with figures, the channel of a decision, and the person's words.
func describeEntry(term *terminal.Terminal, teller story.Teller, e *workflow.Step) string {
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
