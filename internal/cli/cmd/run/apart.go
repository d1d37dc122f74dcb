package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/fleet"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// apart are the flags for runs beside the main tree, here or on other machines.
type apart struct {
	eachSprint, clean, publish, queue bool
	parallel                          int
	labels                            []string
}

func (a *apart) addFlags(cmd *cobra.Command, o *options) {
	flags := cmd.Flags()
	flags.BoolVar(&o.kept.Worktree, "worktree", false, "work in a worktree beside the repository, on a branch of its own, and commit there")
	flags.BoolVar(&a.publish, "pr", false, "push the branch once the run is complete, and open a pull request by gh or glab")
	flags.BoolVar(&a.eachSprint, "each-sprint", false, "with --from RUN: build each open sprint of its approved plan in a worktree of its own")
	flags.IntVar(&a.parallel, "parallel", 1, "with --each-sprint: build so many sprints at a time, at most one for each processor")
	flags.BoolVar(&a.clean, "clean", false, "remove the worktrees of runs that have ended, if all in them is committed; start nothing")
	flags.BoolVar(&a.queue, "queue", false, "leave the run to the workers of the team (bmad-mcp worker); needs a store")
	flags.StringArrayVar(&a.labels, "label", nil, "with --queue: only for workers with this label")
}

// checkFlags refuses flags that do not go together.
func (a *apart) checkFlags(o *options, objective string) error {
	alone := objective == "" && o.resume == ""
	switch {
	case a.parallel != 1 && !a.eachSprint:
		return fault.New(fault.InvalidArgument, "--parallel is for --each-sprint").
			WithHint("start several runs with --worktree, each in a terminal; or leave them to workers with --queue")
	case a.parallel < 1 || a.parallel > runtime.NumCPU():
		return fault.New(fault.InvalidArgument, "--parallel %d is not between 1 and %d, the number of processors", a.parallel, runtime.NumCPU()).
			WithHint("leave it out for one run at a time")
	case len(a.labels) > 0 && !a.queue:
		return fault.New(fault.InvalidArgument, "--label is for --queue").WithHint("add --queue, or leave it out")
	case a.publish && !o.kept.Worktree && !a.eachSprint && !a.queue && o.resume == "":
		return fault.New(fault.InvalidArgument, "--pr is for a run with a branch of its own").WithHint("add --worktree")
	case a.eachSprint:
		return a.checkSprints(o, alone)
	case a.queue:
		return checkQueue(o)
	}
	return nil
}

// checkSprints refuses flags that do not go with --each-sprint. alone is true if neither an objective nor a run is named.
func (a *apart) checkSprints(o *options, alone bool) error {
	switch decided := o.kept.Stages + o.kept.Workflow + o.name + o.events; {
	case o.kept.From == "" || !alone:
		return fault.New(fault.InvalidArgument, "--each-sprint builds the plan of a run").WithHint("name the run alone: bmad-mcp run --from RUN --each-sprint")
	case a.queue || o.dryRun || decided != "" || len(o.docs) > 0:
		return fault.New(fault.InvalidArgument, "--each-sprint goes with none of --queue, --dry-run, --stages, --workflow, --name, --doc and --events").
			WithHint("leave the other flag out: the plan decides it")
	}
	return nil
}

// checkQueue refuses flags that do not go with --queue.
func checkQueue(o *options) error {
	switch {
	case o.kept.Worktree:
		return fault.New(fault.InvalidArgument, "--worktree is for a run here, and each queued run has a worktree where it is worked on").WithHint("leave one out")
	case o.dryRun || o.events != "" || o.gates == string(headless.Ask):
		return fault.New(fault.InvalidArgument, "--queue goes with none of --dry-run, --events and --gates ask").
			WithHint("at its gates a queued run waits for bmad-mcp decide; leave the other flag out")
	case len(o.kept.Open)+len(o.kept.ToolServers) > 0:
		return fault.New(fault.InvalidArgument, "--allow-path and --tool-server are rights on one machine, and --queue is for others").
			WithHint("leave them out, or run it here with --worktree")
	}
	return nil
}

// checkClean refuses what --clean would not look at.
func (a *apart) checkClean(o *options, objective string) error {
	if objective == "" && o.resume == "" && !o.kept.Worktree && !a.eachSprint && !a.publish && !a.queue {
		return nil
	}
	return fault.New(fault.InvalidArgument, "--clean removes worktrees and starts nothing").WithHint("call bmad-mcp run --clean alone")
}

// cleanWorktrees removes the worktrees of runs that have ended.
func cleanWorktrees(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks) error {
	folder, err := tasks.Project()
	if err != nil {
		return err
	}
	p, err := tasks.Engine().Projects().Open(folder)
	if err != nil {
		return err
	}
	defer p.Close()
	all, err := fleet.Clean(ctx, p)
	if err != nil {
		return err // the next call shows the worktrees that are left
	}
	for i, c := range all {
		all[i] = c.In(term.Lang)
	}
	switch {
	case term.JSON:
		return term.PrintJSON(append([]fleet.Cleaned{}, all...))
	case len(all) == 0:
		term.Say("No run of this project has a worktree.")
	}
	for _, c := range all { // the reasons are too long for a table
		if c.Removed {
			term.Say("%s: removed %s", c.Task, c.Folder)
		} else {
			term.Say("%s: %s", c.Task, c.Why)
		}
	}
	return nil
}

// buildSprints builds the sprints of a plan.
func (o *options) buildSprints(ctx context.Context, term *terminal.Terminal, opts headless.Options) error {
	show := func(task string, e headless.Event) {
		if text := e.Line(term.Lang); text != "" && !term.JSON {
			term.Printf("%s  %s\n", task, text)
		}
	}
	from := o.kept.From
	opts.Flags.From = ""
	opts.Person, opts.Gates = nil, cmp.Or(without(opts.Gates, headless.Ask), headless.Stop)
	built, err := fleet.Sprints{Options: opts, From: from, Parallel: o.apart.parallel, Tell: show}.Build(ctx)
	if built == nil {
		return err
	}
	if term.JSON {
		if err := term.PrintJSON(built); err != nil {
			return err
		}
	} else if err := printSprints(term, built); err != nil {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled):
		term.Warnf("interrupted; it goes on with: bmad-mcp run --from %s --each-sprint", terminal.ShellWord(from))
		return terminal.ErrStopped
	case err != nil:
		return err
	case !built.Done():
		return exitOf(built)
	case o.apart.publish:
		commit := fleet.CommitOf(built.Folder, built.Branch)
		sayPublished(ctx, term, fleet.Proposal{Folder: built.Folder, Branch: built.Branch, Commit: commit, Title: built.Session.Objective}, built.Session)
	}
	return nil
}

// without returns a value unless it is another.
func without(g, other headless.Gates) headless.Gates {
	if g == other {
		return ""
	}
	return g
}

// exitOf returns the exit of a build with open ends: a person's first, since the others may wait for it.
func exitOf(b *fleet.Built) error {
	out := error(terminal.ErrPending)
	for _, s := range b.Sprints {
		switch s.Reason {
		case headless.Person:
			return terminal.ErrPending
		case headless.Spent:
			out = terminal.ErrSpent
		case headless.Failed:
			out = terminal.ErrEngine
		}
	}
	return out
}

func printSprints(term *terminal.Terminal, b *fleet.Built) error {
	rows := [][]string{}
	for _, s := range b.Sprints {
		fate := s.Why
		if s.Merged {
			fate = term.Lang.Say("merged into %s", b.Branch)
		}
		rows = append(rows, []string{fmt.Sprint(s.Number), s.Task, fate, s.Command})
	}
	for _, w := range b.Warnings {
		term.Warnf("%s", w)
	}
	if len(rows) == 0 {
		term.Say("All sprints of the plan are done.")
		return nil
	}
	return term.Columns(term.Header("SPRINT\tRUN\tSTANDS\tNEXT"), rows)
}

// publishRun offers the branch of a complete run for review.
func publishRun(ctx context.Context, term *terminal.Terminal, folder string, r *headless.Result) {
	if r.Branch == "" {
		term.Warnf("--pr offers nothing: the run has no branch of its own, since it was begun without --worktree")
		return
	}
	s := r.Session.Standing.Session
	sayPublished(ctx, term, fleet.Proposal{Folder: cmp.Or(r.Worktree, folder), Branch: r.Branch, Commit: fleet.CommitOf(folder, r.Branch), Title: s.Objective}, s)
}

func sayPublished(ctx context.Context, term *terminal.Terminal, p fleet.Proposal, s *workflow.Session) {
	fmt.Fprintln(outOf(term), term.Lang.Say("  review:  %s", Propose(ctx, p, s)))
}

// outOf returns the output for people: not the one of JSON.
func outOf(term *terminal.Terminal) io.Writer {
	if term.JSON {
		return term.Err
	}
	return term.Out
}

// Propose offers a branch of a run for review, and returns the outcome.
func Propose(ctx context.Context, p fleet.Proposal, s *workflow.Session) lang.Text {
	p.Environ = os.Environ()
	p.Body = s.Objective + "\n\nBmad-Run: " + s.SessionID + "\n"
	return fleet.Publish(ctx, p)
}
