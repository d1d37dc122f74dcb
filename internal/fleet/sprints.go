package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

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
	// Options are for all runs, with the flags that the person gave.
	Options headless.Options
	// From is the run with the plan. Parallel is the number of runs at a time, at least 1.
	From     string
	Parallel int
	// Tell, if not nil, is called with the events of the run of each task, one at a time.
	Tell func(task string, e headless.Event)
}

// SprintResult is the outcome for a sprint.
type SprintResult struct {
	Number int    `json:"sprint"`
	Title  string `json:"title,omitempty"`
	Task   string `json:"task_name"`
	// Reason is that of the end of the run, "" for a run that was not begun or has ended before.
	Reason headless.Reason `json:"reason,omitempty"`
	Merged bool            `json:"merged"`
	// Why says why the sprint is not merged, Command is the person's next command if there is one.
	Why     string `json:"why,omitempty"`
	Command string `json:"command,omitempty"`
}

// Built is the outcome for the sprints of a plan.
type Built struct {
	// Branch has the merged sprints.
	Branch  string         `json:"branch"`
	Sprints []SprintResult `json:"sprints"`
	// Warnings name gaps of the plan, for example a sprint without paths.
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
	// atWork are the sprints whose runs have not ended: one commits its documents after its session is complete.
	atWork []bool
	stop   bool       // nothing is merged, or begun, after a conflict or an error
	mu     sync.Mutex // of calls of Tell
}

// ended is the end of a run of a sprint.
type ended struct {
	at     int
	result *headless.Result
	err    error
}

// Build builds the sprints that are not built yet. A sprint that stops for the person keeps the ones that need it, and the merges after
// it, waiting; the others go on.
func (o Sprints) Build(ctx context.Context) (*Built, error) {
	b, err := o.plan(ctx)
	if err != nil {
		return nil, err
	}
	ends, running := make(chan ended), 0
	var failed error // what runs is waited for all the same: it is paid for
	for {
		if failed == nil {
			failed = b.mergeReady(ctx)
			b.stop = b.stop || failed != nil
		}
		for at := range b.Built.Sprints {
			if running < max(o.Parallel, 1) && b.mayBegin(at) && ctx.Err() == nil {
				b.began[at], b.atWork[at] = true, true
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
		b.atWork[end.at] = false
		b.takeEnd(end)
	}
	b.explainWaiting()
	return b.Built, cmp.Or(ctx.Err(), failed)
}

// plan reads the plan, and the part of it that is built.
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
	rounds := engine.Rounds(s, stage)
	if len(rounds) == 0 {
		return nil, fault.New(fault.NotFound, "the run %q has no plan that was handed in", s.TaskName).WithHint("bmad-mcp show %s", s.TaskName)
	}
	texts, err := o.Options.Engine.Submissions(ctx, at, stage, rounds[len(rounds)-1].Iteration) // files may be elsewhere, or gone
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
		task, err := b.taskOf(ctx, fmt.Sprintf("%s-sprint-%d", s.TaskName, sprint.Number))
		if err != nil {
			return nil, err
		}
		b.Built.Sprints = append(b.Built.Sprints, SprintResult{Number: sprint.Number, Title: sprint.Title, Task: task})
	}
	b.began, b.atWork = make([]bool, len(b.Built.Sprints)), make([]bool, len(b.Built.Sprints))
	files, err := git.Files(ctx, folder)
	if err != nil {
		return nil, err
	}
	b.orderByPaths(newFileNames(files).pathsOf(texts[0].Text))
	if len(b.Built.Sprints) == 0 {
		return b, nil
	}
	if err := git.CheckMerge(ctx); err != nil { // before anything is made, or paid for
		return nil, err
	}
	if _, err := headless.New(b.optionsOf(0)).Plan(ctx, s.Objective); err != nil {
		return nil, err
	}
	return b, b.beginBranch(ctx, folder)
}

// taskOf returns the name of the run of a sprint: the one given, or with a number if runs of the names before were cancelled.
func (b *build) taskOf(ctx context.Context, name string) (string, error) {
	for n := 1; ; n++ {
		task := name
		if n > 1 {
			task = fmt.Sprintf("%s-%d", name, n)
		}
		known, err := b.findRun(ctx, task)
		if err != nil || known == nil || known.CurrentState != workflow.Cancelled {
			return task, err
		}
	}
}

// findRun returns the session of the run of a sprint, nil if it was not begun.
func (b *build) findRun(ctx context.Context, task string) (*workflow.Session, error) {
	known, _, err := b.Options.Engine.Session(ctx, project.Address{Cwd: b.Folder, Session: task})
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case err == nil && known.Branch != workflow.BranchFor(task):
		return nil, fault.New(fault.Conflict, "the run %q is none of a sprint: it has no worktree", task).
			WithHint("cancel it, and the sprint is built by a run with another name: bmad-mcp cancel %s", task)
	}
	return known, err
}

// beginBranch makes the branch of the merged sprints, at the commit that is checked out.
func (b *build) beginBranch(ctx context.Context, folder string) error {
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
	return git.SetBranch(ctx, folder, b.Branch, head, "")
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

// optionsOf returns the options of the run of a sprint.
func (b *build) optionsOf(at int) headless.Options {
	o := b.Options
	o.Flags.From, o.Flags.Stages, o.Flags.Sprints = b.Session.TaskName, b.span, []int{b.Built.Sprints[at].Number}
	o.Flags.Workflow, o.Flags.Worktree = b.Session.Definition().Name, true
	return o
}

// runSprint runs a sprint, or goes on with it.
func (b *build) runSprint(ctx context.Context, at int) (_ *headless.Result, err error) {
	s, o := b.Built.Sprints[at], b.optionsOf(at)
	if o.Base, err = git.BranchCommit(b.Folder, b.Branch); err != nil {
		return nil, err
	}
	o.Tell = func(e headless.Event) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.Tell != nil {
			b.Tell(s.Task, e)
		}
	}
	known, err := b.findRun(ctx, s.Task)
	switch {
	case err != nil:
		return nil, err
	case known != nil:
		return headless.New(o).Resume(ctx, known.SessionID)
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
		if b.stop || b.atWork[i] {
			return nil
		}
		known, err := b.findRun(ctx, s.Task)
		isBuilt := known != nil && known.CurrentState == workflow.Completed
		if err != nil || !isBuilt {
			return err
		}
		b.began[i] = true
		if s.Merged, err = b.hasDeleted(ctx, known); err != nil {
			return err
		}
		if s.Merged {
			s.Why, s.Command = "", ""
			continue
		}
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
		s.Command = b.mergeCommand(s.Task)
	}
	return nil
}

// hasDeleted reports whether somebody has deleted the branch of a complete run since it was merged.
func (b *build) hasDeleted(ctx context.Context, s *workflow.Session) (bool, error) {
	if commit, err := git.BranchCommit(b.Folder, s.Branch); commit != "" || err != nil {
		return false, err
	}
	p, err := b.Options.Engine.Projects().At(project.Address{Cwd: b.Folder})
	if err != nil {
		return false, err
	}
	defer p.Close()
	kept, err := headless.Past(p.Home, s.SessionID)
	if err != nil || kept == nil || kept.Commit == "" { // without its commit nothing can be told
		return false, err
	}
	isMerged, err := git.IsMerged(ctx, b.Folder, kept.Commit, b.Branch)
	if err == nil && !isMerged {
		err = fault.New(fault.NotFound, "the branch %s is gone, and its last commit is not in %s", s.Branch, b.Branch).
			WithHint("make it anew: git branch %s %s", quotePath(s.Branch), kept.Commit)
	}
	return isMerged, err
}

// mergeCommand returns the command with which the person merges the branch of the others into that of a sprint, in its
// worktree, which it makes again if that was removed.
func (b *build) mergeCommand(task string) string {
	folder := b.Folder
	if p, err := b.Options.Engine.Projects().At(project.Address{Cwd: b.Folder}); err == nil {
		_, folder = p.Worktree(task)
		p.Close()
	}
	again := ""
	if _, err := os.Lstat(folder); errors.Is(err, fs.ErrNotExist) {
		again = fmt.Sprintf("git worktree add %s %s && ", quotePath(folder), quotePath(workflow.BranchFor(task)))
	}
	return again + fmt.Sprintf("git -C %s merge %s", quotePath(folder), quotePath(b.Branch))
}

// quotePath returns a path or a branch as one types it.
func quotePath(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:", r)
	}) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// explainWaiting says why the others were not merged.
func (b *build) explainWaiting() {
	for i := range b.Built.Sprints {
		if s := &b.Built.Sprints[i]; !s.Merged && s.Why == "" {
			s.Why = b.language.Say("waits for an earlier sprint")
		}
	}
}
