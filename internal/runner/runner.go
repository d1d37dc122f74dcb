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

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Worker writes the documents and does the work of stages: a program that people have installed,
// or a model behind an API.
type Worker interface {
	// Name returns the name of the engine, for example "claude".
	Name() string
	// Work does one piece of work. Its outcome may be set beside an error: failed work costs too.
	Work(ctx context.Context, job hostcli.Job) (*hostcli.Outcome, error)
}

// Tree is the repository of a project at one moment.
type Tree struct {
	// Head is the commit that is checked out, "" before the first.
	Head string `json:"head,omitempty"`
	// Changed lists the files that differ from it or are new, with git's letters.
	Changed []string `json:"changed,omitempty"`
}

// Files names the changed files, without git's letters.
func (t *Tree) Files() (names []string) {
	for _, line := range t.Changed {
		names = append(names, fileOf(line))
	}
	return names
}

// fileOf returns the file of a line of [Tree.Changed], for example "a.go" of " M a.go".
func fileOf(line string) string { return line[min(3, len(line)):] }

// Options configure a Runner.
type Options struct {
	Engine *engine.Engine
	// Workers are the engines at hand, the likeliest first.
	Workers []Worker
	Prices  *price.Table
	// Look returns the repository of a folder as it is, nil if the folder is in none. If Look is nil,
	// no folder is in one.
	Look func(ctx context.Context, folder string) (*Tree, error)
	// Person brings questions to a person; nil if there is none.
	Person request.Channel
	Gates  Gates
	Flags  Flags
	// Answers are the person's, by question id.
	Answers map[string]string
	// Folder is the project's.
	Folder string
	// Rights returns the records of the rights of a project's runs, outside of the project. If it is
	// nil, none are kept, and each Resume needs its flags anew.
	Rights func(project string) sdk.Rights
	// By names the program in the history.
	By string
	// Tell, if not nil, is called with every event, in order, from several goroutines but one at a
	// time.
	Tell func(Event)
	Log  *slog.Logger
}

// Reason tells why a run has ended.
type Reason string

// The reasons.
const (
	// Done: the workflow, or the stages that were asked for, are complete.
	Done Reason = "completed"
	// Person: a person has to decide, to answer or to let it go on.
	Person Reason = "person"
	// Spent: the budget or the time.
	Spent Reason = "spent"
	// Failed: the engine did not do the work.
	Failed Reason = "engine_failed"
)

// Result describes the end of a run.
type Result struct {
	Reason Reason `json:"reason"`
	// Why says it for people.
	Why string `json:"why"`
	// Command is the command to decide with, if a person has to; Resume the one to go on with.
	Command string `json:"command,omitempty"`
	Resume  string `json:"resume,omitempty"`
	// Unused has the ids of answers to questions that were not asked.
	Unused []string     `json:"unused_answers,omitempty"`
	Cost   price.Report `json:"cost"`
	// Reported is the sum that the engines themselves state, in dollars.
	Reported *float64 `json:"reported_usd,omitempty"`
	// Before and After are the repository before the first change and at the end.
	Before *Tree `json:"tree_before,omitempty"`
	After  *Tree `json:"tree_after,omitempty"`
	// Session describes the session.
	Session *engine.Outcome `json:"session,omitempty"`
}

// Runner takes objectives through workflows.
type Runner struct{ Options }

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
	begun, err := r.Engine.Do(ctx, request.Request{
		Action:  workflow.ActionStart,
		Start:   request.Start{Objective: objective, Workflow: r.Flags.Workflow, TaskName: name},
		Address: project.Address{Cwd: r.Folder},
		Caller:  request.Caller{By: r.By},
	})
	if err != nil {
		return nil, err
	}
	return r.Resume(ctx, begun.SessionID)
}

// Resume takes a session, of a run or of an assistant, as far as it gets.
func (r *Runner) Resume(ctx context.Context, task string) (_ *Result, err error) {
	run, err := r.open(ctx, task)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.close()) }()
	run.tellStart()
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

// Events returns the events that are kept of a session's run, none if it had no run.
func (r *Runner) Events(ctx context.Context, task string) (id string, events []Event, err error) {
	s, p, err := r.find(ctx, task)
	if err != nil {
		return "", nil, err
	}
	defer p.Close()
	events, err = filesOf(p.Dir, s.SessionID).events()
	return s.SessionID, events, err
}

// find returns a session with its project.
func (r *Runner) find(ctx context.Context, task string) (*workflow.Session, *project.Project, error) {
	s, folder, err := r.Engine.Session(ctx, project.Address{Cwd: r.Folder, Session: task})
	if err != nil {
		return nil, nil, err
	}
	p, err := r.Engine.Projects().At(project.Address{Cwd: folder})
	return s, p, err
}

// open locks the run of a session and reads its state.
func (r *Runner) open(ctx context.Context, task string) (_ *run, err error) {
	s, p, err := r.find(ctx, task)
	if err != nil {
		return nil, err
	}
	out := &run{Options: r.Options, project: p, session: s, language: p.Language(s.Objective), started: r.Engine.Clock()}
	var kept *state
	if out.files, kept, err = openFiles(ctx, p.Dir, s); err != nil {
		p.Close()
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.close())
		}
	}()
	if kept, err := out.files.events(); err == nil && len(kept) > 0 { // else they count from the beginning
		out.seq = kept[len(kept)-1].Seq
	}
	if r.Rights != nil {
		out.record = r.Rights(p.Dir.Path())
	}
	if err := out.admit(ctx, kept); err != nil {
		return nil, err
	}
	d := p.Config.Under(s.Definition())
	if out.plan, err = out.planFor(d, s.Objective, out.language, d.Index(s.CurrentStage)); err != nil {
		return nil, err
	}
	return out, out.save()
}
