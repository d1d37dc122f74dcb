package intake

import (
	"cmp"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// sprintObjects reads the sprints of a plan in structured JSON.
func sprintObjects(object map[string]any) (out []workflow.Sprint) {
	for _, v := range []any{object["sprints"], object["sprint_plan"], object["plan"]} {
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

// pendingSprint returns a sprint as not yet built.
func pendingSprint(s workflow.Sprint) workflow.Sprint {
	s.Title, s.Status = visible.Fit(cmp.Or(s.Title, "Sprint "+s.Name()), 200), workflow.SprintPending
	return s
}
