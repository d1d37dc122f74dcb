package trace

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// findHoles finds the missing links, and the kinds of links that nothing can be said about. One kind of link is missing
// only if the run has others of it.
func (t *tracer) findHoles() {
	out := &t.out
	if t.tooMany {
		out.Unknown = append(out.Unknown, TooMany)
	}
	if len(out.Criteria) == 0 {
		out.Unknown = append(out.Unknown, NoCriteria)
		return
	}
	t.findUntold()
	t.findUnplanned()
	t.findUnproved()
}

func (t *tracer) addHole(kind HoleKind, id string) { t.out.Holes = append(t.out.Holes, Hole{kind, id}) }

// findUntold finds the requirements without a story.
func (t *tracer) findUntold() {
	out := &t.out
	isTold := func(r Requirement) bool { return len(r.Stories)+len(r.Epics) > 0 }
	switch {
	case len(out.Requirements) == 0:
		out.Unknown = append(out.Unknown, NoRequirements)
		return
	case len(out.Stories) == 0:
		out.Unknown = append(out.Unknown, NoStories)
		return
	case !slices.ContainsFunc(out.Requirements, isTold):
		out.Unknown = append(out.Unknown, Unlinked)
		return
	}
	wholes, left := map[int]bool{}, map[string]bool{}
	for _, at := range t.whole {
		wholes[at] = true
	}
	for _, c := range out.Criteria {
		left[c.ID] = c.State == LeftOut
	}
	for i, r := range out.Requirements {
		if !isTold(r) && !wholes[i] && !areIn(left, r.Criteria) {
			t.addHole(WithoutStory, r.ID)
		}
	}
}

// areIn reports whether there are ids and all of them are in a set.
func areIn(set map[string]bool, ids []string) bool {
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !set[id] })
}

// findUnplanned finds the stories and criteria in no sprint.
func (t *tracer) findUnplanned() {
	out := &t.out
	isPlanned := func(s Story) bool { return len(s.Sprints) > 0 }
	switch {
	case len(out.Sprints) == 0:
		out.Unknown = append(out.Unknown, NoSprints)
		return
	case !t.facts.Criteria.Assigned && !slices.ContainsFunc(out.Stories, isPlanned):
		out.Unknown = append(out.Unknown, Unassigned)
		return
	}
	omitted := map[string]bool{}
	for _, id := range t.facts.Criteria.LeftOut() {
		omitted[id] = true
	}
	for _, s := range out.Stories {
		if !isPlanned(s) && !areIn(omitted, s.Criteria) {
			t.addHole(InNoSprint, s.ID)
		}
	}
	for _, c := range out.Criteria {
		isTold := len(c.Stories) > 0 // then the hole is that of the story
		if len(c.Sprints) == 0 && !omitted[c.ID] && !isTold {
			t.addHole(CriterionNowhere, c.ID)
		}
	}
}

// findUnproved finds the criteria without a row, and the rows without evidence or a criterion.
func (t *tracer) findUnproved() {
	out := &t.out
	if !t.report {
		out.Unknown = append(out.Unknown, NoReport)
		return
	}
	for i, c := range out.Criteria {
		switch r := c.Row; {
		case r == nil || r.Stale:
			if t.facts.Criteria.All[i].Owed {
				t.addHole(WithoutRow, c.ID)
			}
		case r.Result == workflow.ResultPass && r.byWord:
			t.addHole(WithoutEvidence, c.ID)
		}
	}
	for _, id := range t.strangers {
		t.addHole(WithoutCriterion, id)
	}
}
