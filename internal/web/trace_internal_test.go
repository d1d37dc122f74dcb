package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/trace"
)

// TestLanes lays stories and criteria out by their sprints; names have no hidden characters.
func TestLanes(t *testing.T) {
	t.Parallel()
	po, sm := trace.Place{Stage: "po", Line: 1}, trace.Place{Stage: "sm", Line: 1}
	one := []int{1}
	traced := trace.Trace{
		Stories: []trace.Story{
			{ID: "US-1", Place: po, Sprints: one, Criteria: []string{"AC-1"}}, {ID: "S1-1", Place: sm, Sprints: one, Criteria: []string{"AC-1"}},
			{ID: "US-2", Place: po, Criteria: []string{"AC-2"}},
		},
		Criteria: []trace.Criterion{
			{ID: "AC-1", Sprints: one, Stories: []string{"US-1", "S1-1"}, State: trace.Met}, {ID: "AC-2", Stories: []string{"US-2"}, State: trace.Failed},
			{ID: "AC-3", Sprints: one, State: trace.Open}, {ID: "AC-4", State: trace.LeftOut},
		},
		Sprints: []trace.Sprint{
			{Number: 1, Name: "A", Title: "In\u202e", Place: sm, Stories: []string{"US-1", "S1-1"}, Criteria: []string{"AC-1", "AC-3"}}, {Number: 2, Name: "2", Title: "Sprint 2"},
		},
	}
	var b strings.Builder
	for _, l := range newTracer(lang.English, &traced, func(trace.Place) string { return "" }, nil).layLanes() {
		fmt.Fprintf(&b, "%q\n", l.Title)
		for _, c := range l.Cards {
			fmt.Fprintf(&b, "- %s: %s\n", c.ID, c.Counts)
		}
	}
	const want = `"Sprint A: In\\u202e"
- S1-1: 1 met
- : 1 still open
"In no sprint"
- US-2: 1 failed
- : 1 left out
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}
