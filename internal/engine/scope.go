package engine

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// scope returns the sprints a submission of a build covers: those of the call, else
// those the submission names, else all that are open.
func (q *Request) scope(s *standing.Standing, named []int) ([]int, error) {
	if s.Stage.Kind != workflow.KindBuild {
		return nil, nil
	}
	known := s.SprintNumbers()
	if q.Sprints != nil {
		if len(q.Sprints) == 0 {
			return nil, fault.New(fault.InvalidArgument, "sprints is empty").WithHint("leave it out for all open sprints, or name some of: %s", words.Numbers(known))
		}
		for _, n := range q.Sprints {
			if !slices.Contains(known, n) {
				return nil, fault.New(fault.InvalidArgument, "the plan has no sprint %d", n).
					WithHint("its sprints are: %s", words.Numbers(known))
			}
		}
		return sorted(q.Sprints), nil
	}
	named = slices.DeleteFunc(slices.Clone(named), func(n int) bool { return !slices.Contains(known, n) })
	if len(named) > 0 {
		return sorted(named), nil
	}
	return s.DefaultScope(), nil
}

func sorted(numbers []int) []int {
	out := slices.Clone(numbers)
	slices.Sort(out)
	return slices.Compact(out)
}
