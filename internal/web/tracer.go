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
	places   map[string]string
	stories  map[string]trace.Story
	criteria map[string]trace.Criterion
}

func newTracer(l lang.Language, traced *trace.Trace, hrefs func(trace.Place) string, code func(workflow.StageID) string) *tracer {
	t := &tracer{l, traced, hrefs, code, map[string]string{}, map[string]trace.Story{}, map[string]trace.Criterion{}}
	for _, r := range t.Requirements {
		t.places["r"+r.ID] = hrefs(r.Place)
	}
	for _, s := range t.Stories {
		t.places["s"+s.ID], t.stories[s.ID] = hrefs(s.Place), s
	}
	for _, c := range t.Criteria {
		t.places["c"+c.ID], t.criteria[c.ID] = hrefs(c.Place), c
	}
	for _, s := range t.Sprints {
		t.places["p"+s.Name] = hrefs(s.Place)
	}
	return t
}

// linksTo returns links to the entities of a kind.
func (t *tracer) linksTo(kind string, ids ...string) (out []link) {
	for _, id := range ids {
		out = append(out, link{t.places[kind+id], id})
	}
	return out
}
