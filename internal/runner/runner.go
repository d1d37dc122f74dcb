// Package runner takes an objective through the stages of a workflow without a host.
//
// A [Runner] has the engine of the program brief each stage, a [Worker] write its document or do its
// work, and hands that in, until the workflow is done or a person is needed. It decides nothing for
// them: a gate opens by their channel, or by a yes that they gave on the command line beforehand, and
// questions get the answers that they have written. The next step of a run is decided by pure
// functions ([next], [choose], [check]); its costs and the answers that it has received are kept in
// the project, so that a killed run goes on and submits nothing twice.
//
// # Invariants
//
//   - A run keeps an answer before it submits it, so that it is submitted once (TestEveryCut).
//   - One process at a time works on a run (TestTwoRuns).
package runner

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Runner takes objectives through workflows.
type Runner struct{ o Options }

// New returns a runner.
func New(o Options) *Runner {
	o.Prices, o.Gates = cmp.Or(o.Prices, price.Default()), cmp.Or(o.Gates, Stop)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Runner{o}
}

// Start begins a session for an objective, and runs it.
func (r *Runner) Start(ctx context.Context, objective, name string) (*Result, error) {
	plan, err := r.Plan(ctx, objective)
	if err == nil {
		err = plan.refused
	}
	if err != nil { // before anything is made
		return nil, err
	}
	begun, err := r.o.Engine.Do(ctx, request.Request{
		Action:  workflow.ActionStart,
		Start:   request.Start{Objective: objective, Workflow: r.o.Flags.Workflow, TaskName: name},
		Address: project.Address{Cwd: r.o.Folder},
		Caller:  request.Caller{By: r.o.By},
	})
	if err != nil {
		return nil, err
	}
	return r.run(ctx, begun.SessionID)
}

// Resume goes on with a session, of a run or of an assistant.
func (r *Runner) Resume(ctx context.Context, task string) (*Result, error) { return r.run(ctx, task) }

// run takes one session as far as it gets.
func (r *Runner) run(ctx context.Context, task string) (_ *Result, err error) {
	run, err := r.open(ctx, task)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.close()) }()
	var stages []workflow.StageID
	for _, st := range run.plan.Stages {
		stages = append(stages, st.Stage)
	}
	run.tell(Event{Type: RunStarted, TaskName: run.state.TaskName, Stages: stages, Budget: run.Flags.Budget,
		Stage: run.session.CurrentStage, State: run.session.CurrentState}, false)
	if !run.notice.Empty() {
		run.tell(Event{Type: Noticed, Stage: run.session.CurrentStage, Why: run.notice.In(run.language)}, true)
	}
	for {
		ended, err := run.step(ctx)
		if err != nil {
			return nil, run.interrupt(ctx, err)
		}
		if ended != nil {
			return run.end(ctx, ended)
		}
	}
}

// find returns a session with its project.
func (r *Runner) find(ctx context.Context, task string) (*workflow.Session, *project.Project, error) {
	s, folder, err := r.o.Engine.Session(ctx, project.Address{Cwd: r.o.Folder, Session: task})
	if err != nil {
		return nil, nil, err
	}
	p, err := r.o.Engine.Projects().At(project.Address{Cwd: folder})
	return s, p, err
}

// open locks the run of a session and reads its state.
func (r *Runner) open(ctx context.Context, task string) (*run, error) {
	s, p, err := r.find(ctx, task)
	if err != nil {
		return nil, err
	}
	out := &run{Options: r.o, project: p, session: s, language: p.Language(s.Objective), started: r.o.Engine.Clock(), begun: map[workflow.StageID]int{}}
	var kept *state
	if out.files, kept, err = openFiles(ctx, p.Dir, s); err != nil {
		p.Close()
		return nil, err
	}
	if kept, err := out.files.events(); err == nil && len(kept) > 0 { // else they count from the beginning
		out.seq = kept[len(kept)-1].Seq
	}
	if r.o.Rights != nil {
		out.record = r.o.Rights(p.Dir.Path())
	}
	if err = out.admit(ctx, kept); err != nil {
		return nil, errors.Join(err, out.close())
	}
	out.plan, err = planOf(p.Config.Under(s.Definition()), s.Objective, out.Options, r.o.Engine.Clock(), s.Definition().Index(s.CurrentStage))
	if err == nil {
		err = out.save()
	}
	if err != nil {
		return nil, errors.Join(err, out.close())
	}
	return out, nil
}
