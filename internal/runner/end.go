package runner

import (
	"context"
	"maps"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// end ends a run.
func (r *run) end(ctx context.Context, e *ending) (*Result, error) {
	out := &Result{
		Reason: e.reason, Why: e.why.In(r.language), Command: e.command, Cost: r.budget.Report(), Reported: r.state.Reported, Before: r.state.Before,
	}
	if r.now.Reply != nil {
		out.Session = &r.now
	}
	if e.reason != Done && r.session.CurrentState != workflow.Cancelled {
		out.Resume = "bmad-mcp run --resume " + r.state.TaskName
	}
	for _, id := range slices.Sorted(maps.Keys(r.Answers)) {
		if !r.hasAsked(id) {
			out.Unused = append(out.Unused, id)
		}
	}
	if r.state.Before != nil {
		tree, err := r.look(ctx, r.project.Dir.Path())
		if err != nil {
			return nil, err
		}
		r.state.After, out.After = tree, tree
	}
	kind := Stopped
	if e.reason == Done {
		kind = Completed
	}
	switch {
	case e.reason != Person:
	case r.session.CurrentState.Gated():
		r.tell(r.gateEvent(), true)
	case r.session.CurrentState == workflow.Clarifying:
		r.tell(Event{Type: Questioned, Stage: r.session.CurrentStage, State: r.session.CurrentState, Questions: r.now.Questions}, true)
	}
	r.tell(Event{
		Type: kind, Stage: r.session.CurrentStage, State: r.session.CurrentState, Reason: e.reason, Why: out.Why, Command: e.command,
		Spent: &out.Cost.Spent, Reported: r.state.Reported, Tokens: out.Cost.Usage.Prompt() + out.Cost.Usage.Output,
	}, true)
	return out, r.save()
}

// hasAsked reports whether any stage has had the question of an id.
func (r *run) hasAsked(id string) bool {
	for _, rec := range r.session.Stages {
		if slices.ContainsFunc(rec.Questions, func(q workflow.Question) bool { return q.ID == id }) {
			return true
		}
	}
	return false
}

// interrupt keeps the events of a run that an error ends, and returns the error.
func (r *run) interrupt(ctx context.Context, err error) error {
	why := err.Error()
	if ctx.Err() != nil {
		why = r.language.Say("interrupted")
	}
	r.tell(Event{Type: Stopped, Stage: r.session.CurrentStage, State: r.session.CurrentState, Why: why}, true)
	return err
}

// givenText reads the document that the person has named for the current stage: a file of the
// project, or the stage's deliverable in another task.
func (r *run) givenText(ctx context.Context) (string, error) {
	st := r.stage()
	if name := r.Flags.Docs[st.ID]; name != "" {
		return r.project.ReadDocument("--doc", name)
	}
	from, _, err := r.Engine.Session(ctx, project.Address{Cwd: r.project.Dir.Path(), Session: r.Flags.From})
	if err != nil {
		return "", err
	}
	rec := from.Record(st.ID)
	for _, ref := range []*workflow.ContentRef{rec.ClaudeResultRef, rec.CodexResultRef, rec.FinalResultRef} {
		if rec.Status == workflow.Done && ref != nil {
			return r.project.ReadDocument("--from", ref.FilePath)
		}
	}
	return "", fault.New(fault.NotFound, "the task %q has no finished document for stage %q", from.TaskName, st.ID).
		WithHint("name a file with --doc %s=PATH, or have the run work on this stage", st.ID)
}
