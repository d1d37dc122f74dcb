package runner

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

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

// Engine has the methods of the program's engine that a run needs.
type Engine interface {
	Do(ctx context.Context, req request.Request) (engine.Outcome, error)
	Session(ctx context.Context, at project.Address) (*workflow.Session, string, error)
	Projects() *project.Finder
	// Clock returns the time.
	Clock() time.Time
}

// Repository describes the repository of the project.
type Repository interface {
	// Look returns the repository as it is, nil if the project is not in one.
	Look(ctx context.Context, folder string) (*Tree, error)
}

// Tree is a repository at one moment.
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

// Flags are the wishes of a person for a run, and the rights that they give it. They are kept: zero
// values of a later invocation leave the earlier ones as they are.
type Flags struct {
	Workflow  string                      `json:"workflow,omitempty"`
	Stages    string                      `json:"stages,omitempty"`
	Engine    string                      `json:"engine,omitempty"`
	EngineFor map[workflow.StageID]string `json:"engine_for,omitempty"`
	Model     string                      `json:"model,omitempty"`
	ModelFor  map[workflow.StageID]string `json:"model_for,omitempty"`
	Budget    price.Money                 `json:"budget_nano_usd,omitempty"`
	// NoBudget is true if the person has said that the run may cost any sum.
	NoBudget bool     `json:"no_budget,omitempty"`
	Minutes  int      `json:"max_minutes,omitempty"`
	Commands []string `json:"allow_commands,omitempty"`
	Dirty    bool     `json:"allow_dirty,omitempty"`
	// Open are files that other programs obey and that the engine may write. They are not kept: each
	// invocation says so anew.
	Open []string `json:"-"`
	// Docs are documents of the person for stages that the run does not work on, From is a task
	// whose documents are taken.
	Docs map[workflow.StageID]string `json:"docs,omitempty"`
	From string                      `json:"from,omitempty"`
}

// over returns the flags, and those of an earlier invocation for the ones that are not set.
func (f Flags) over(earlier Flags) Flags {
	f.Workflow, f.Stages = earlier.Workflow, cmp.Or(f.Stages, earlier.Stages)
	f.Engine, f.Model = cmp.Or(f.Engine, earlier.Engine), cmp.Or(f.Model, earlier.Model)
	f.From, f.Minutes = cmp.Or(f.From, earlier.From), cmp.Or(f.Minutes, earlier.Minutes)
	for _, pair := range []struct{ now, before *map[workflow.StageID]string }{{&f.EngineFor, &earlier.EngineFor}, {&f.ModelFor, &earlier.ModelFor}, {&f.Docs, &earlier.Docs}} {
		if len(*pair.now) == 0 {
			*pair.now = *pair.before
		}
	}
	if f.Budget == 0 && !f.NoBudget {
		f.Budget, f.NoBudget = earlier.Budget, earlier.NoBudget
	}
	if len(f.Commands) == 0 {
		f.Commands = earlier.Commands
	}
	f.Dirty = f.Dirty || earlier.Dirty
	return f
}

// Options configure a Runner.
type Options struct {
	Engine Engine
	// Workers are the engines at hand, the likeliest first.
	Workers []Worker
	Prices  *price.Table
	// Repository may be nil: the project then counts as being in none.
	Repository Repository
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

// worker returns the worker of a name.
func (o *Options) worker(name string) Worker {
	return o.Workers[slices.IndexFunc(o.Workers, func(w Worker) bool { return w.Name() == name })]
}

// names lists the workers.
func (o *Options) names() []string {
	var out []string
	for _, w := range o.Workers {
		out = append(out, w.Name())
	}
	return out
}
