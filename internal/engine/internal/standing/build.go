package standing

import (
	"slices"
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// AsksScope reports whether the session is at a build stage with a plan: the person chooses the sprints to build.
func (s *Standing) AsksScope() bool {
	_, planned := s.Workflow.OfKind(workflow.KindPlan)
	return planned && s.Stage.Kind == workflow.KindBuild
}

// Builder returns the building stage; "" if the workflow has none.
func (s *Standing) Builder() workflow.StageID {
	st, _ := s.Workflow.OfKind(workflow.KindBuild)
	return st.ID
}

// Unbuilt returns the sprints the workflow could still build.
func (s *Standing) Unbuilt() []int {
	if s.Builder() == "" {
		return nil
	}
	return s.Session.OpenSprints(workflow.SprintPending)
}

// Continuing reports whether the build was reopened for open sprints.
func (s *Standing) Continuing() bool {
	return s.Stage.Kind == workflow.KindBuild && s.Session.Moved().Event == workflow.EventReopened &&
		len(s.Session.OpenSprints(workflow.SprintPending)) > 0 && len(s.Session.OpenSprints(workflow.SprintImplemented)) == 0
}

// LacksWords reports whether the person has just asked for another round, and may still say what is to change.
func (s *Standing) LacksWords() bool {
	last := s.Session.Moved()
	again := last.Event == workflow.EventChangesRequested || last.Event == workflow.EventReopened || last.Event == workflow.EventSentBack
	commented := last.Grant != nil && len(last.Grant.Comments) > 0
	return s.Session.CurrentState == workflow.Refining && again && !commented && last.Feedback == ""
}

// Unexplained reports whether nobody has said what is to change: a report that failed names it.
func (s *Standing) Unexplained() bool {
	return s.LacksWords() && s.Session.Moved().Event != workflow.EventSentBack
}

// Want is the person's word needed before the assistant works on a stage.
type Want int

// The wants of a stage.
const (
	WantsNothing Want = iota
	WantsScope        // which of the sprints are built
	WantsChange       // the change to make
	WantsStart        // to begin the round
)

// Wants returns the person's word needed before the assistant works on the stage.
func (s *Standing) Wants() Want {
	refining := s.Session.CurrentState == workflow.Refining
	switch {
	case !refining && s.Session.CurrentState != workflow.Generating:
		return WantsNothing
	case s.AsksScope() && (!refining || s.Continuing()):
		return WantsScope
	case refining && s.Unexplained():
		return WantsChange
	case s.Pauses():
		return WantsStart
	}
	return WantsNothing
}

// WaitsForStart reports whether the person's word has to begin the round.
func (s *Standing) WaitsForStart() bool { return s.Wants() == WantsStart }

// DefaultScope returns the sprints of "start development": the ones in rework, else not built yet, else all.
func (s *Standing) DefaultScope() []int {
	if again := s.Session.OpenSprints(workflow.SprintImplemented); len(again) > 0 {
		return again
	}
	if open := s.Session.OpenSprints(workflow.SprintPending); len(open) > 0 {
		return open
	}
	return s.SprintNumbers()
}

// WithCriteria returns sprints with the ids of their criteria.
func WithCriteria(sprints []workflow.Sprint, criteria *verdict.Criteria) []workflow.Sprint {
	out := slices.Clone(sprints)
	for i := range out {
		out[i].Criteria = criteria.OfSprint(out[i].Number)
	}
	return out
}

// Replanning reports whether the plan has had a round since it was last approved.
func (s *Standing) Replanning() bool {
	for _, e := range slices.Backward(s.Session.History) {
		switch {
		case e.FromStage() != s.Stage.ID:
		case e.Action == workflow.ActionSubmit && e.ToStage() == s.Stage.ID:
			return true
		case s.Workflow.Index(e.ToStage()) > s.Workflow.Index(s.Stage.ID):
			return false
		}
	}
	return false
}

// PlanChanges returns what the waiting plan changes of the sprints that were built.
func (s *Standing) PlanChanges() []workflow.SprintChange {
	if s.Stage.Kind != workflow.KindPlan {
		return nil
	}
	return workflow.CompareSprints(s.Session.Current().EarlierSprints, WithCriteria(s.Session.Sprints, s.Criteria))
}

// SprintName returns the name of a sprint in the plan.
func (s *Standing) SprintName(number int) string {
	for _, sprint := range s.Session.Sprints {
		if sprint.Number == number {
			return sprint.Name()
		}
	}
	return strconv.Itoa(number)
}

// SprintNumbers returns the numbers of all sprints of the plan.
func (s *Standing) SprintNumbers() []int {
	out := make([]int, len(s.Session.Sprints))
	for i, sprint := range s.Session.Sprints {
		out[i] = sprint.Number
	}
	return out
}

// SubmittedSince reports whether a stage has had a submission since the session last went back.
func (s *Standing) SubmittedSince(stage workflow.StageID) bool {
	for _, e := range slices.Backward(s.Session.History) {
		switch {
		case e.Event == workflow.EventReopened, e.Event == workflow.EventSentBack:
			return false
		case e.Action == workflow.ActionSubmit && e.FromStage() == stage:
			return true
		}
	}
	return false
}

// Grant returns the person's latest decision on a stage and the number of the entry, counted from 1; nil if there
// is none.
func (s *Standing) Grant(stage workflow.StageID) (entry int, g *workflow.Grant) {
	for i, e := range slices.Backward(s.Session.History) {
		noted := e.Event == workflow.EventAdopted || e.Event == workflow.EventGranted
		if e.Grant != nil && !noted && e.Grant.Decision != workflow.DecisionAnswer && e.FromStage() == stage {
			return i + 1, e.Grant
		}
	}
	return 0, nil
}
