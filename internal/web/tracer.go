package web

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/trace"
)

// tracer lays a trace out for a page.
type tracer struct {
	lang lang.Language
	*trace.Trace
	hrefs func(trace.Place) string
	// code returns the address of a report with the code beside it.
	code func(workflow.StageID) string
	// places has the addresses of requirements, stories, criteria and sprints, by a letter and the id.
	places map[string]string
}

// hrefOf returns the address of the entity of a kind with an id.
func (t *tracer) hrefOf(kind, id string) string {
	if t.places == nil {
		t.places = map[string]string{}
		for _, r := range t.Requirements {
			t.places["r"+r.ID] = t.hrefs(r.Place)
		}
		for _, s := range t.Stories {
			t.places["s"+s.ID] = t.hrefs(s.Place)
		}
		for _, c := range t.Criteria {
			t.places["c"+c.ID] = t.hrefs(c.Place)
		}
		for _, s := range t.Sprints {
			t.places["p"+s.Name] = t.hrefs(s.Place)
		}
	}
	return t.places[kind+id]
}
