package request

import (
	"slices"
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Fits refuses an action the session's stage or state does not allow.
func (q *Request) Fits(s *standing.Standing) error {
	if q.Action == workflow.ActionReopen {
		passed := s.Session.CurrentState == workflow.Completed || s.Workflow.Index(workflow.StageID(q.Stage)) < s.Workflow.Index(s.Session.CurrentStage)
		if err := q.checkAllowed(s); err != nil || passed {
			return err
		}
		return fault.New(fault.WrongStage, "stage %q is not before the current stage %q", q.Stage, s.Session.CurrentStage).
			WithHint("reopen an earlier stage; to change the current document, %s", words.NextMoveOf(s.Session))
	}
	if want := workflow.StageID(q.Stage); want != "" && want != s.Session.CurrentStage {
		return fault.New(fault.WrongStage, "the run is at stage %q, not %q", s.Session.CurrentStage, q.Stage).
			WithHint("%s", words.NextMove(s))
	}
	return q.checkAllowed(s)
}

func (q *Request) checkAllowed(s *standing.Standing) error {
	confirmsDocument := q.Action == workflow.ActionConfirm && s.Met()
	explainsNo := q.Decides() && q.isRefusal() && visible.Trim(q.Feedback) != "" && s.LacksWords()
	if slices.Contains(s.Session.CurrentState.Allowed(), q.Action) || confirmsDocument || explainsNo {
		return nil
	}
	code := fault.NotAllowed
	if s.Session.CurrentState.Gated() {
		code = fault.GatePending
	}
	e := fault.New(code, "%q is not possible while the run is at %s", q.Action, s.Session.Place()).WithHint("%s", words.NextMove(s))
	if last := s.Session.Last(); q.isRefusal() && last.Action == q.Action && !sentBack(last) { // the no comes after the yes
		e.AddHint("; to take the decision back, reopen %s", last.FromStage())
	}
	return e
}

// Submitted returns the texts of the call: the working copy if it names nothing else.
func (q *Request) Submitted(s *standing.Standing) []Result {
	if len(q.Results) > 0 || q.Action != workflow.ActionSubmit {
		return q.Results
	}
	return []Result{{Engine: s.Stage.EnginesFor(s.Session.Objective)[0], Path: s.Draft.Work}}
}

// NotStale refuses a stage's own document from before an earlier stage was reopened, if it is submitted unchanged
// from its own path: it cannot have taken the change into account.
func (q *Request) NotStale(p *project.Project, s *standing.Standing) error {
	rec := s.Session.Current()
	if rec.Artifact == nil || !rec.Artifact.Stale {
		return nil
	}
	for _, result := range q.Submitted(s) {
		given := p.Local(result.Path)
		saved := s.Saved[given]
		isArtifact := given == rec.Artifact.Path && !saved.Missing && !saved.Modified
		isDraft := false
		if ref := rec.FinalResultRef; ref != nil && !s.Draft.Edited {
			isDraft = given == ref.FilePath || given == s.Draft.Path
		}
		if isArtifact || isDraft {
			return fault.New(fault.InvalidArgument, "%s is the document from before an earlier stage was reopened", given).
				WithHint("work the change in, then submit it; if it needs none, say in the document why it still holds")
		}
	}
	return nil
}

// Sources returns the files of the project handed in by the call.
func (q *Request) Sources(p *project.Project, s *standing.Standing) []string {
	var out []string
	for _, result := range q.Submitted(s) {
		if result.Path != "" && q.Action == workflow.ActionSubmit {
			out = append(out, p.Local(result.Path))
		}
	}
	return out
}

// Scope returns the sprints covered by a submission of a build: the ones in the call, else in the submission, else
// all open ones.
func (q *Request) Scope(s *standing.Standing, named []int) ([]int, error) {
	if s.Stage.Kind != workflow.KindBuild {
		return nil, nil
	}
	known := s.SprintNumbers()
	if q.Sprints != nil {
		if len(known) == 0 {
			return nil, fault.New(fault.InvalidArgument, "the plan has no numbered sprints to choose from").
				WithHint("leave sprints out: the plan is built as one piece")
		}
		if len(q.Sprints) == 0 {
			return nil, fault.New(fault.InvalidArgument, "sprints is empty").WithHint("leave it out for all open sprints, or name some of: %s", words.Numbers(known))
		}
		for _, n := range q.Sprints {
			if !slices.Contains(known, n) {
				return nil, UnknownSprint(s, strconv.Itoa(n))
			}
		}
		return sortNumbers(q.Sprints), nil
	}
	named = slices.DeleteFunc(slices.Clone(named), func(n int) bool { return !slices.Contains(known, n) })
	if len(named) > 0 {
		return sortNumbers(named), nil
	}
	return s.DefaultScope(), nil
}

// UnknownSprint is the refusal of a sprint that is not in the plan.
func UnknownSprint(s *standing.Standing, name string) error {
	return fault.New(fault.InvalidArgument, "the plan has no sprint %s", name).WithHint("its sprints are: %s", words.Numbers(s.SprintNumbers()))
}

func sortNumbers(numbers []int) []int {
	out := slices.Clone(numbers)
	slices.Sort(out)
	return slices.Compact(out)
}
