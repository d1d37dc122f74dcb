package workflow

import "slices"

// SprintChange is what a new plan does to a sprint that was built.
type SprintChange struct {
	Was Sprint
	// Now is the sprint in the new plan; nil if the plan drops it.
	Now *Sprint
	// Gained are the ids of the criteria that the new plan adds to it.
	Gained []string
}

// IsSame reports whether the work on the sprint still counts: under the same title, without a further criterion.
func (c SprintChange) IsSame() bool {
	return c.Now != nil && c.Now.Title == c.Was.Title && len(c.Gained) == 0
}

// compareSprint finds a sprint of an earlier plan in a new one: under its name and title, else under its title, else
// under its name.
func compareSprint(was Sprint, earlier, plan []Sprint) SprintChange {
	named := func(s Sprint) bool { return s.Name() == was.Name() }
	titled := func(s Sprint) bool { return s.Title == was.Title }
	at := slices.IndexFunc(plan, func(s Sprint) bool { return named(s) && titled(s) })
	if at < 0 && count(earlier, titled) == 1 && count(plan, titled) == 1 {
		at = slices.IndexFunc(plan, titled)
	}
	if i := slices.IndexFunc(plan, named); at < 0 && i >= 0 && !slices.ContainsFunc(earlier, func(s Sprint) bool { return s.Title == plan[i].Title }) {
		at = i
	}
	out := SprintChange{Was: was}
	if at >= 0 {
		out.Now = &plan[at]
		out.Gained = slices.DeleteFunc(slices.Clone(plan[at].Criteria), func(id string) bool { return slices.Contains(was.Criteria, id) })
	}
	return out
}

func count(sprints []Sprint, is func(Sprint) bool) (n int) {
	for _, s := range sprints {
		if is(s) {
			n++
		}
	}
	return n
}

// CompareSprints returns what a new plan changes of the sprints that were built by an earlier one.
func CompareSprints(earlier, plan []Sprint) (out []SprintChange) {
	for _, was := range earlier {
		if c := compareSprint(was, earlier, plan); was.Status != SprintPending && (!c.IsSame() || c.Now.Name() != was.Name()) {
			out = append(out, c)
		}
	}
	return out
}

// SetSprints replaces the sprints by those of a new plan. The sprints of an earlier plan that it leaves as they were
// keep the status, also under another number.
func (s *Session) SetSprints(earlier, plan []Sprint) {
	for i := range plan {
		plan[i].Status = SprintPending
	}
	for _, was := range earlier {
		if c := compareSprint(was, earlier, plan); c.IsSame() {
			c.Now.Status, c.Now.Extra = was.Status, was.Extra
		}
	}
	for i := range plan {
		plan[i].Criteria = nil
	}
	s.Sprints = plan
}
