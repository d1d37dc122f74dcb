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

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// doctorOptions are those of doctor.
type doctorOptions struct {
	*app.App
	fix, test bool
}

// Doctor returns the command that checks the project and the machine.
func Doctor(a *app.App) *cobra.Command {
	o := doctorOptions{App: a}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the files of the project, and whether hosts find this program",
		Long: `Check the project (settings, sessions and their histories, names, mapping, contents by
size and SHA-256, artifacts, leftovers, locks, permissions) and this machine (program on the PATH,
hosts that are set up). ✓ is well, ✗ is a problem, ! is worth knowing.

--fix repairs what derives from the sessions and moves what belongs to nobody to
.bmad-task/trash/, in a folder with the date. It deletes nothing, and can run beside
servers at work.

--test checks nothing of that: it starts the server as a host does, and lists its tools.

The exit code is 1 where a problem is left, else 0.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.test {
				return o.selfTest(cmd.Context())
			}
			// A large project has to fit beside the servers: its memory matters more than a part of a second.
			debug.SetGCPercent(15)
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.fix, "fix", false, "repair what can be made again")
	cmd.Flags().BoolVar(&o.test, "test", false, "start the server and count its tools")
	cmd.MarkFlagsMutuallyExclusive("fix", "test")
	return cmd
}

func (o *doctorOptions) run(ctx context.Context) error {
	dir, err := openFolder(o.App)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	project, cwd := doctor.New(dir, o.Parts().Summaries.Store(dir)), dir.Path()
	project.Language = o.Lang
	report := doctor.Report{Cwd: cwd}
	if o.fix && o.Config.Store.Address == "" {
		fixed, err := project.Fix(ctx, o.Now())
		report.Fixed = &fixed
		if err != nil {
			o.printFixed(fixed)
			return err
		}
	}
	checks, err := projectChecks(ctx, o.App, project, cwd)
	if err != nil {
		return err
	}
	report.Add(checks...)
	report.Add(doctorMachine(o.App, cwd).Check()...)
	report.Add(checkFolders(o.App))
	return finish(o.App, report)
}

// finish prints a report, which ends the command.
func finish(a *app.App, report doctor.Report) error {
	if a.JSON {
		if err := a.PrintJSON(report); err != nil {
			return err
		}
	} else {
		(&doctorOptions{App: a}).print(report)
	}
	if !report.OK {
		return terminal.ErrReported
	}
	return nil
}

func (o *doctorOptions) printFixed(f doctor.Fixed) {
	if o.JSON {
		return // an error is the one object that is printed
	}
	for _, done := range f.Done {
		o.Say("fixed: %s", done)
	}
	for _, left := range f.Left {
		o.Say("left alone: %s", left)
	}
	if len(f.Done)+len(f.Left) > 0 {
		fmt.Fprintln(o.Out)
	}
}

// shownItems is how many places of one check are printed.
const shownItems = 10

func (o *doctorOptions) print(r doctor.Report) {
	if r.Fixed != nil {
		o.printFixed(*r.Fixed)
	}
	marks := map[doctor.CheckStatus]string{doctor.OK: "✓", doctor.Warning: "!", doctor.Problem: "✗"}
	titles := map[doctor.Group]string{doctor.OfProject: o.Lang.Say("Project %s", r.Cwd), doctor.OfMachine: o.Lang.Say("This machine")}
	group := doctor.Group("")
	for _, c := range r.Checks {
		if c.Group != group {
			if group != "" {
				fmt.Fprintln(o.Out)
			}
			group = c.Group
			fmt.Fprintln(o.Out, titles[group])
		}
		name := o.Lang.Word(c.Name)
		fmt.Fprintf(o.Out, "  %s %s%s %s\n", marks[c.Status], name, strings.Repeat(" ", max(13-visible.Columns(name), 0)), c.Detail)
		for i, item := range c.Items {
			if i == shownItems {
				o.Say("      … and %d more (--json lists all)", len(c.Items)-i)
				break
			}
			o.Say("      %s: %s", item.Path, strings.TrimPrefix(item.What, o.Lang.Say("session file %s ", item.Path)))
		}
		if c.Remedy != "" {
			fmt.Fprintf(o.Out, "      → %s\n", c.Remedy)
		}
	}
	count := map[doctor.CheckStatus]int{}
	for _, c := range r.Checks {
		count[c.Status]++
	}
	switch problems, warnings := count[doctor.Problem], count[doctor.Warning]; {
	case problems+warnings == 0:
		o.Say("\nAll is well.")
	case problems == 0:
		o.Say("\nNo problems, %d to know (!).", warnings)
	default:
		o.Say("\nChecks with problems (✗): %d, to know (!): %d.", problems, warnings)
	}
}

// selfTest starts this program as a host does, shakes hands with it, and lists its tools.
func (o *doctorOptions) selfTest(ctx context.Context) error {
	cwd, err := o.Project()
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
	return o.Conclude(map[string]any{"name": "bmad-mcp", "version": app.Version(), "protocol": client.Protocol(), "tools": tools, "ready": true},
		"bmad-mcp %s: %s, protocol %s. Ready", app.Version(), lang.Count(len(tools), "tool"), client.Protocol())
}
