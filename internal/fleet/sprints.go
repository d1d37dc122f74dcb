package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Sprints builds the sprints of an approved plan, each by a run in a worktree of its own, and merges them in the order of
// the plan into one branch. Sessions and branches show how far it is, so that a killed build goes on.
type Sprints struct {
	// Options are those of the runs, with the flags that the person gave for all.
	Options headless.Options
	// From is the run with the plan. Parallel is the number of runs at a time, at least 1.
	From     string
	Parallel int
	// Tell, if not nil, is called with the events of each run, and with "" for those of the build, one at a time.
	Tell func(task string, e headless.Event)
}

// SprintResult is what became of a sprint.
type SprintResult struct {
	Number int    `json:"sprint"`
	Title  string `json:"title,omitempty"`
	Task   string `json:"task_name"`
	// Reason is that of the end of the run, "" for a run that was not begun or has ended before.
	Reason headless.Reason `json:"reason,omitempty"`
	Merged bool            `json:"merged"`
	// Why says why the sprint is not merged, Command what the person does about it.
	Why     string `json:"why,omitempty"`
	Command string `json:"command,omitempty"`
}

// Built is what became of the sprints of a plan.
type Built struct {
	// Branch has the merged sprints.
	Branch  string         `json:"branch"`
	Sprints []SprintResult `json:"sprints"`
	// Warnings name what the plan does not tell.
	Warnings []string `json:"warnings,omitempty"`
	// Folder is the project's, Session the run with the plan.
	Folder  string            `json:"-"`
	Session *workflow.Session `json:"-"`
}

// Done reports whether all sprints are merged.
func (b *Built) Done() bool {
	return !slices.ContainsFunc(b.Sprints, func(s SprintResult) bool { return !s.Merged })
}

// build is a build under way.
type build struct {
	Sprints
	*Built
	language lang.Language
	span     string
	// after has for each sprint the earlier ones that it waits for, by their places.
	after [][]int
	began []bool
	stop  bool // nothing is merged, or begun, after a conflict
}

// ended is the end of a run of a sprint.
type ended struct {
	at     int
	result *headless.Result
	err    error
}

// Build builds what is not built yet. A sprint that stops for the person keeps the ones that need it, and the merges after
// it, waiting; the others go on.
func (o Sprints) Build(ctx context.Context) (*Built, error) {
	b, err := o.plan(ctx)
	if err != nil {
		return nil, err
	}
	ends, running := make(chan ended), 0
	for {
		if err := b.mergeReady(ctx); err != nil {
			return b.Built, err
		}
		for at := range b.Built.Sprints {
			if running < max(o.Parallel, 1) && b.mayBegin(at) && ctx.Err() == nil {
				b.began[at] = true
				running++
				go func() {
					result, err := b.runSprint(ctx, at)
					ends <- ended{at, result, err}
				}()
			}
		}
		if running == 0 {
			break
		}
		end := <-ends
		running--
		b.takeEnd(end)
	}
	b.explainWaiting()
	return b.Built, ctx.Err()
}

// plan reads the plan, and what is built of it.
func (o Sprints) plan(ctx context.Context) (*build, error) {
	at := project.Address{Cwd: o.Options.Folder, Session: o.From}
	s, folder, err := o.Options.Engine.Session(ctx, at)
	if err != nil {
		return nil, err
	}
	d := s.Definition()
	planned := slices.IndexFunc(d.Stages, func(st workflow.Stage) bool { return st.Kind == workflow.KindPlan })
	builds := slices.IndexFunc(d.Stages, func(st workflow.Stage) bool { return st.Kind == workflow.KindBuild })
	if planned < 0 || builds < planned {
		return nil, fault.New(fault.NotAllowed, "the workflow %s of the run %q has no plan", d.Name, s.TaskName).WithHint("bmad-mcp run builds it as a whole")
	}
	stage := d.Stages[planned].ID
	if rec := s.Record(stage); rec.Status != workflow.Done || len(s.Sprints) == 0 {
		return nil, fault.New(fault.NotAllowed, "the plan of the run %q is not approved", s.TaskName).
			WithHint("bmad-mcp decide %s; the sprints are built then", s.TaskName)
	}
	texts, err := o.Options.Engine.Submissions(ctx, at, stage, engine.SavedRound)
	if err != nil {
		return nil, err
	}
	b := &build{Sprints: o, language: o.Options.Engine.Projects().Language(s.Objective)}
	b.Built = &Built{Branch: workflow.BranchFor(s.TaskName + "-sprints"), Folder: o.Options.Folder, Session: s}
	b.span = fmt.Sprintf("%s..%s", d.Stages[builds].ID, d.Stages[len(d.Stages)-1].ID)
	for _, sprint := range s.Sprints {
		if sprint.Status == workflow.SprintDone {
			continue
		}
		b.Built.Sprints = append(b.Built.Sprints, SprintResult{Number: sprint.Number, Title: sprint.Title, Task: fmt.Sprintf("%s-sprint-%d", s.TaskName, sprint.Number)})
	}
	b.began = make([]bool, len(b.Built.Sprints))
	b.orderByPaths(pathsOf(texts[0].Text))
	return b, b.beginBranch(folder)
}

// beginBranch makes the branch of the merged sprints, at the commit that is checked out.
func (b *build) beginBranch(folder string) error {
	commit, err := git.BranchCommit(folder, b.Branch)
	if err != nil || commit != "" {
		return err
	}
	head, err := git.Head(folder)
	if err == nil && head == "" {
		err = fault.New(fault.NotAllowed, "%s has no commit of git", folder).WithHint("git init, and commit the files")
	}
	if err != nil {
		return err
	}
	return git.SetBranch(context.Background(), folder, b.Branch, head, "")
}

// orderByPaths has sprints that name the same files wait for each other.
func (b *build) orderByPaths(paths map[int][]string) {
	b.after = make([][]int, len(b.Built.Sprints))
	for i, s := range b.Built.Sprints {
		if len(paths[s.Number]) == 0 && b.Parallel > 1 {
			b.Warnings = append(b.Warnings, b.language.Say("sprint %d names no file of the project, so that it may change the same ones as another sprint", s.Number))
		}
		for j := range i {
			if overlap(paths[s.Number], paths[b.Built.Sprints[j].Number]) != "" {
				b.after[i] = append(b.after[i], j)
			}
		}
	}
}

// mayBegin reports whether the run of a sprint may begin now.
func (b *build) mayBegin(at int) bool {
	if b.began[at] || b.stop || b.Built.Sprints[at].Merged {
		return false
	}
	return !slices.ContainsFunc(b.after[at], func(before int) bool { return !b.Built.Sprints[before].Merged })
}

// runSprint runs a sprint, or goes on with it.
func (b *build) runSprint(ctx context.Context, at int) (*headless.Result, error) {
	s := b.Built.Sprints[at]
	o := b.Options
	o.Flags.From, o.Flags.Stages, o.Flags.Sprints = b.Session.TaskName, b.span, []int{s.Number}
	o.Flags.Workflow, o.Flags.Worktree = b.Session.Definition().Name, true
	var err error
	if o.Base, err = git.BranchCommit(b.Folder, b.Branch); err != nil {
		return nil, err
	}
	o.Tell = func(e headless.Event) {
		if b.Tell != nil {
			b.Tell(s.Task, e)
		}
	}
	known, _, err := b.Options.Engine.Session(ctx, project.Address{Cwd: b.Folder, Session: s.Task})
	switch {
	case err == nil:
		return headless.New(o).Resume(ctx, known.SessionID)
	case !fault.Is(err, fault.NotFound):
		return nil, err
	}
	objective := b.language.Say("%s (sprint %d: %s)", b.Session.Objective, s.Number, cmp.Or(s.Title, strconv.Itoa(s.Number)))
	return headless.New(o).Start(ctx, objective, s.Task)
}

// takeEnd notes the end of the run of a sprint.
func (b *build) takeEnd(e ended) {
	s := &b.Built.Sprints[e.at]
	switch {
	case errors.Is(e.err, context.Canceled):
		s.Why = b.language.Say("interrupted")
	case e.err != nil:
		s.Reason, s.Why = headless.Failed, lang.Of(e.err).In(b.language)
	default:
		s.Reason, s.Why, s.Command = e.result.Reason, e.result.Why, cmp.Or(e.result.Command, e.result.Resume)
		if e.result.Reason == headless.Done {
			s.Why, s.Command = "", ""
		}
	}
}

// mergeReady merges the sprints that are built, as far as all before them are merged.
func (b *build) mergeReady(ctx context.Context) error {
	for i := range b.Built.Sprints {
		s := &b.Built.Sprints[i]
		if s.Merged {
			continue
		}
		if b.stop {
			return nil
		}
		built, err := b.isBuilt(ctx, s)
		if err != nil || !built {
			return err
		}
		b.began[i] = true
		message := fmt.Sprintf("Merge sprint %d of %s\n\n%s\n", s.Number, b.Session.TaskName, s.Title)
		_, conflicts, err := git.Merge(ctx, b.Folder, b.Branch, workflow.BranchFor(s.Task), message, git.Identity(b.Folder), b.Options.Engine.Clock())
		if err != nil {
			return err
		}
		if s.Merged = len(conflicts) == 0; s.Merged {
			s.Why, s.Command = "", ""
			continue
		}
		b.stop = true
		s.Reason = headless.Person
		s.Why = b.language.Say("it cannot be merged into %s: both have changed %s. Merge them in its worktree, commit, and start this again", b.Branch, conflicts[0])
		s.Command = "git -C " + b.worktreeOf(s.Task) + " merge " + b.Branch
	}
	return nil
}

// worktreeOf returns the worktree of the run of a sprint, as one types it.
func (b *build) worktreeOf(task string) string {
	p, err := b.Options.Engine.Projects().At(project.Address{Cwd: b.Folder})
	if err != nil {
		return b.Folder
	}
	defer p.Close()
	_, top := p.Worktree(task)
	return top
}

// isBuilt reports whether the run of a sprint is complete.
func (b *build) isBuilt(ctx context.Context, s *SprintResult) (bool, error) {
	known, _, err := b.Options.Engine.Session(ctx, project.Address{Cwd: b.Folder, Session: s.Task})
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil && known.CurrentState == workflow.Completed, err
}

// explainWaiting says why the others were not merged.
func (b *build) explainWaiting() {
	for i := range b.Built.Sprints {
		if s := &b.Built.Sprints[i]; !s.Merged && s.Why == "" {
			s.Why = b.language.Say("waits for an earlier sprint")
		}
	}
}
