// Package setup has the commands that look after this machine and a project: checks, permissions,
// folders and workflows.
package setup

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	projects "github.com/bmad-mcp/bmad-mcp/internal/project"
)

// Upkeep is what looks after a project: the terminal that shows it, its tasks and stores, and its notes.
type Upkeep struct {
	Term      *terminal.Terminal
	Tasks     *app.Tasks
	Databases *app.Databases
	Parts     func() *app.Parts
	WithBook  func(func(b *memory.Book) error) error
	// Judge returns why the program would be no server as a host starts it.
	Judge func(args, environ []string) error
}

// Doctor returns the command that checks the project and the machine.
func Doctor(u Upkeep) *cobra.Command {
	var fix, test, notices bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the project's files, the hosts and this machine",
		Long: `Check the project (settings, runs and their histories, names, mapping, contents by
size and SHA-256, artifacts, leftovers, locks, permissions) and this machine (program on the PATH,
hosts that are set up). ✓ is well, ✗ is a problem, ! is worth knowing.

--fix repairs what derives from the runs and moves what belongs to nobody to
.bmad-task/trash/, in a folder with the date. It deletes nothing, and can run beside
servers at work.

--test checks nothing of that: it starts the server as a host does, and lists its tools.
Nor does --notify, which sends a notice to the place in your settings.

The exit code is 1 where a problem is left, else 0.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if notices {
				return testNotify(cmd.Context(), u.Term, u.Tasks.Workspace)
			}
			if test {
				return testServer(cmd.Context(), u)
			}
			// A large project has to fit beside the servers, unless the person has set the pace of the collector.
			if os.Getenv("GOGC")+os.Getenv("GOMEMLIMIT") == "" {
				debug.SetMemoryLimit(36 << 20)
			}
			return runDoctor(cmd.Context(), u, fix)
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "repair what can be made again")
	cmd.Flags().BoolVar(&test, "test", false, "start the server and count its tools")
	cmd.Flags().BoolVar(&notices, "notify", false, "send a notice as a test")
	cmd.MarkFlagsMutuallyExclusive("fix", "test", "notify")
	return cmd
}

func runDoctor(ctx context.Context, u Upkeep, fix bool) error {
	dir, err := openFolder(u.Tasks.Workspace)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	project, cwd := doctor.New(dir, u.Parts().Summaries.Store(dir)), dir.Path()
	project.Counts = func(id string) bool {
		_, v, _, err := u.Tasks.Engine().Inspect(ctx, projects.Address{Cwd: cwd, Session: id})
		return err == nil && v.Sound()
	}
	project.Language, project.Worktree = u.Term.Lang, worktreesFrom(cwd)
	report := doctor.Report{Cwd: cwd}
	if fix && u.Tasks.Config.Store.Address == "" {
		fixed, err := project.Fix(ctx, u.Term.Now())
		report.Fixed = &fixed
		if err != nil {
			printFixed(u.Term, fixed)
			return err
		}
	}
	checks, err := projectChecks(ctx, u, project, cwd)
	if err != nil {
		return err
	}
	report.Add(checks...)
	report.Add(machineChecks(u, cwd)...)
	return printReport(u.Term, report)
}

// worktreesFrom returns the function that names the worktree of a task's run of the project in a folder.
func worktreesFrom(folder string) func(task string) string {
	return func(task string) string {
		_, top := projects.WorktreeIn(folder, task)
		return top
	}
}

// printReport prints a report, which ends the command.
func printReport(term *terminal.Terminal, report doctor.Report) error {
	if term.JSON {
		if err := term.PrintJSON(report); err != nil {
			return err
		}
	} else {
		printChecked(term, report)
	}
	if !report.OK {
		return terminal.ErrReported
	}
	return nil
}

func printFixed(term *terminal.Terminal, f doctor.Fixed) {
	if term.JSON {
		return // an error is the one object that is printed
	}
	for _, done := range f.Done {
		term.Say("fixed: %s", done)
	}
	for _, left := range f.Left {
		term.Say("left alone: %s", left)
	}
	if len(f.Done)+len(f.Left) > 0 {
		fmt.Fprintln(term.Out)
	}
}

// shownItems is how many places of one check are printed.
const shownItems = 10

func printChecked(term *terminal.Terminal, r doctor.Report) {
	if r.Fixed != nil {
		printFixed(term, *r.Fixed)
	}
	marks := map[doctor.CheckStatus]string{doctor.OK: "✓", doctor.Warning: "!", doctor.Problem: "✗"}
	titles := map[doctor.Group]string{doctor.OfProject: term.Lang.Say("Project %s", r.Cwd), doctor.OfMachine: term.Lang.Say("This machine")}
	group := doctor.Group("")
	for _, c := range r.Checks {
		if c.Group != group {
			if group != "" {
				fmt.Fprintln(term.Out)
			}
			group = c.Group
			term.Printf("%s\n", titles[group])
		}
		name := term.Lang.Word(c.Name)
		term.Printf("  %s %s%s %s\n", marks[c.Status], name, strings.Repeat(" ", max(13-visible.Columns(name), 0)), c.Detail)
		for i, item := range c.Items {
			if i == shownItems {
				term.Say("      … and %d more (--json lists all)", len(c.Items)-i)
				break
			}
			term.Say("      %s: %s", item.Path, strings.TrimPrefix(item.What, term.Lang.Say("session file %s ", item.Path)))
		}
		if c.Remedy != "" {
			term.Printf("      → %s\n", c.Remedy)
		}
	}
	count := map[doctor.CheckStatus]int{}
	for _, c := range r.Checks {
		count[c.Status]++
	}
	switch problems, warnings := count[doctor.Problem], count[doctor.Warning]; {
	case problems+warnings == 0:
		term.Say("\nAll is well.")
	case problems == 0:
		term.Say("\nNo problems, %d to know (!).", warnings)
	default:
		term.Say("\nChecks with problems (✗): %d, to know (!): %d.", problems, warnings)
	}
}

// testServer starts this program as a host does, shakes hands with it, and lists its tools.
func testServer(ctx context.Context, u Upkeep) error {
	cwd, err := u.Tasks.Project()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fault.From(err)
	}
	client, err := mcpserver.Connect(ctx, mcpserver.Launch{Command: self, Dir: cwd, Name: "bmad-mcp-doctor"})
	if err != nil {
		return fault.From(err)
	}
	defer func() { _ = client.Close() }()
	tools, err := client.Tools(ctx)
	if err != nil {
		return fault.From(err)
	}
	return u.Term.Conclude(map[string]any{"name": "bmad-mcp", "version": app.Version(), "protocol": client.Protocol(), "tools": tools, "ready": true},
		"bmad-mcp %s: %s, protocol %s. Ready", app.Version(), lang.Count(len(tools), "tool"), client.Protocol())
}

// openFolder opens the folder of the project to look after.
func openFolder(workspace *app.Workspace) (*durable.Dir, error) {
	cwd, err := workspace.Project()
	if err != nil {
		return nil, err
	}
	dir, err := durable.OpenDir(projects.HomeOf(cwd))
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the folder %s cannot be opened: %w", cwd, err).WithHint("pass --cwd with the project folder")
	}
	return dir, nil
}
