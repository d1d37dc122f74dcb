package intake

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// sprintObjects reads the sprints of a plan in structured JSON.
func sprintObjects(object map[string]any) (out []workflow.Sprint) {
	for _, v := range []any{object["sprints"], object["sprint_plan"], object["plan_updated"], object["plan"]} {
		if inner, ok := v.(map[string]any); ok {
			v = inner["sprints"]
		}
		list, _ := v.([]any)
		for _, item := range list {
			o, ok := item.(map[string]any)
			numbers := intList(fieldText(o, "number", "sprint", "id", "name", "title"))
			if !ok || len(numbers) == 0 || slices.ContainsFunc(out, func(s workflow.Sprint) bool { return s.Number == numbers[0] }) {
				continue
			}
			out = append(out, pendingSprint(workflow.Sprint{Number: numbers[0], Title: fieldText(o, "title", "name", "goal")}))
		}
	}
	return out
}

// ReadSprints reads the sprints of a plan, in their order. A number that comes twice counts once
// and is listed in repeated.
func ReadSprints(document string) (out []workflow.Sprint, repeated []lang.Text) {
	sprints, twice := markdown.Read(document, nil).Sprints()
	for _, sp := range sprints {
		out = append(out, pendingSprint(workflow.Sprint{Number: sp.Number, Label: sp.Label, Title: sp.Title}))
	}
	for _, name := range twice {
		repeated = append(repeated, lang.T("Sprint %s has two headings; only the first counts, so renumber the other", name))
	}
	return out, repeated
}

// Covers returns the numbers of the sprints that a report is about, as it names them, or a name that the plan lacks.
func (a Assessment) Covers(plan []workflow.Sprint) (numbers []int, unknown string) {
	for _, text := range a.named {
		before := len(numbers)
		for _, word := range namesIn(text) {
			if at := slices.IndexFunc(plan, func(s workflow.Sprint) bool { return s.Label != "" && s.Label == word }); at >= 0 {
				numbers = append(numbers, plan[at].Number)
			}
		}
		if len(numbers) == before {
			numbers = append(numbers, numbersIn([]string{text})...)
		}
	}
	if letters := lettersIn(a.named); len(numbers) == 0 && len(letters) > 0 {
		return nil, letters[0]
	}
	return numbers, ""
}

// namesIn splits a text into the words that may be names of sprints.
func namesIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.' && r != '_'
	})
}

// lettersIn returns the names of sprints that are a letter.
func lettersIn(texts []string) (out []string) {
	for _, text := range texts {
		for _, word := range namesIn(text) {
			if len(word) == 1 && word >= "A" && word <= "Z" {
				out = append(out, word)
			}
		}
	}
	return out
}

// pendingSprint returns a sprint as not yet built.
func pendingSprint(s workflow.Sprint) workflow.Sprint {
	s.Title, s.Status = visible.Fit(cmp.Or(s.Title, "Sprint "+s.Name()), 200), workflow.SprintPending
	return s
}
