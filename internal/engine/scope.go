package engine

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// scope returns the sprints a submission of a build covers: those of the call, else
// those the submission names, else all that are open.
func (r run) scope(s *workflow.Session, named []int) ([]int, error) {
	if r.stage(s).Kind != workflow.KindBuild {
		return nil, nil
	}
	known := sprintNumbers(s.Sprints)
	if r.req.Sprints != nil {
		if len(r.req.Sprints) == 0 {
			return nil, fault.New(fault.InvalidArgument, "sprints is empty").WithHint("leave it out for all open sprints, or name some of: %s", joinInts(known))
		}
		for _, n := range r.req.Sprints {
			if !slices.Contains(known, n) {
				return nil, fault.New(fault.InvalidArgument, "the plan has no sprint %d", n).
					WithHint("its sprints are: %s", joinInts(known))
			}
		}
		return sorted(r.req.Sprints), nil
	}
	named = slices.DeleteFunc(slices.Clone(named), func(n int) bool { return !slices.Contains(known, n) })
	if len(named) > 0 {
		return sorted(named), nil
	}
	return r.defaultScope(s), nil
}

// defaultScope is what "start development" means: the sprints in rework, else
// those not built yet, else all.
func (r run) defaultScope(s *workflow.Session) []int {
	if again := s.OpenSprints(workflow.SprintImplemented); len(again) > 0 {
		return again
	}
	if open := s.OpenSprints(workflow.SprintPending); len(open) > 0 {
		return open
	}
	return sprintNumbers(s.Sprints)
}

func sorted(numbers []int) []int {
	out := slices.Clone(numbers)
	slices.Sort(out)
	return slices.Compact(out)
}
