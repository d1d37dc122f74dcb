package verdict

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// index has the places of rows by the canonical form of their ids.
type index map[string]int

func indexOf[T any](rows []T, id func(T) string) index {
	out := make(index, len(rows))
	for i, row := range rows {
		out.add(id(row), i)
	}
	return out
}

func indexFindings(list []workflow.Finding) index {
	return indexOf(list, func(f workflow.Finding) string { return f.ID })
}

// at returns the place of an id, -1 if there is none.
func (x index) at(id string) int {
	if at, ok := x[criteria.Key(id)]; ok {
		return at
	}
	return -1
}

// add notes the place of an id; of equal ids the first counts.
func (x index) add(id string, at int) {
	if key := criteria.Key(id); x.at(id) < 0 {
		x[key] = at
	}
}

// token is anything that looks like an id.
var token = pattern.New(`(?i)[a-z]{1,10}[-_ ]?\d{1,4}(?:\.\d{1,4}){0,3}`)

// ChecksOf returns the checks of a report that a row names.
func ChecksOf(rec *workflow.Record, row workflow.Criterion) (out []workflow.Check) {
	known := indexOf(rec.Checks, func(c workflow.Check) string { return c.ID })
	for _, ref := range splitRefs(row.Check) {
		if at := known.at(ref); at >= 0 {
			out = append(out, rec.Checks[at])
		}
	}
	return out
}
