// Package setup has the commands that look after this machine and a project: checks, permissions,
// folders and workflows.
package setup

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
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
				return selfTest(cmd.Context(), a)
			}
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
	if o.fix {
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
	if o.JSON {
		if err := o.PrintJSON(report); err != nil {
			return err
		}
	} else {
		o.print(report)
	}
	if !report.OK {
		return terminal.ErrReported
	}
	return nil
}

// projectChecks checks a project: its settings, files, histories, method and memory.
func projectChecks(ctx context.Context, a *app.App, files *doctor.ProjectFiles, cwd string) ([]doctor.Check, error) {
	checks, err := files.Check(ctx)
	if err != nil {
		return nil, err
	}
	histories, err := checkHistories(ctx, a, cwd)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]doctor.Check{checkSettings(a, cwd)}, checks, []doctor.Check{histories}, checkMethod(a, cwd), checkMemory(ctx, a)), nil
}

// openFolder opens the folder of the project to look after.
func openFolder(a *app.App) (*durable.Dir, error) {
	cwd, err := a.Project()
	if err != nil {
		return nil, err
	}
	dir, err := durable.OpenDir(cwd)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the folder %s cannot be opened: %w", cwd, err).WithHint("pass --cwd with the project folder")
	}
	return dir, nil
}

// checkSettings checks the needs of every action: the settings and the prompts.
func checkSettings(a *app.App, cwd string) doctor.Check {
	c := doctor.Check{Group: doctor.OfProject, Name: "settings", Status: doctor.OK, Detail: a.Lang.Say("settings and prompts can be used")}
	if err := a.Engine().Projects().Ready(project.Address{Cwd: cwd}); err != nil {
		f := fault.From(err).Translated(a.Lang)
		c.Status, c.Detail, c.Remedy = doctor.Problem, f.Message, f.Hint
		return c
	}
	checkPolicy(a, cwd, &c)
	return c
}

// checkFolders says in which folders assistants may work besides those that their hosts have
// open, and names those on record that do not count.
func checkFolders(a *app.App) doctor.Check {
	c := doctor.Check{Group: doctor.OfMachine, Name: "folders", Status: doctor.OK}
	rows, err := projectRows(a)
	if err != nil {
		f := fault.From(err).Translated(a.Lang)
		c.Status, c.Detail, c.Remedy = doctor.Warning, f.Message, f.Hint
		return c
	}
	count := map[string]int{}
	for _, row := range rows {
		if row.Counts {
			count[row.From]++
			continue
		}
		if row.Missing && row.From == app.FromSessions {
			continue // projects come and go
		}
		c.Status, c.Remedy = doctor.Warning, a.Lang.Say("bmad-mcp projects remove DIR takes it off the list")
		c.Items = append(c.Items, doctor.Defect{Path: row.Folder, What: a.Lang.Say("does not count: %s", row.Why)})
	}
	c.Detail = a.Lang.Say("assistants may work in the folders that their host has open, in %s with sessions and in %s of yours (bmad-mcp projects)",
		lang.Count(count[app.FromSessions], "project"), lang.Count(count[app.FromTerminal]+count[app.FromForm]+count[app.FromSettings], "folder"))
	return c
}

// checkHistories names the sessions that were changed by other hands.
func checkHistories(ctx context.Context, a *app.App, cwd string) (doctor.Check, error) {
	c := doctor.Check{Group: doctor.OfProject, Name: "histories", Status: doctor.OK}
	at := project.Address{Cwd: cwd}
	sessions, _, _, err := a.Engine().Sessions(ctx, at)
	if err != nil {
		c.Detail = a.Lang.Say("not checked: the project cannot be used")
		return c, ctx.Err() // the other checks name the cause
	}
	changed, err := a.Engine().Changed(ctx, at, sessions, true)
	if err != nil {
		return c, err
	}
	c.Detail = a.Lang.Say("%d, none shows a change by other hands", len(sessions))
	for _, s := range sessions {
		v, found := changed[s.SessionID]
		if !found {
			continue
		}
		c.Status = doctor.Problem
		c.Items = append(c.Items, doctor.Defect{Path: store.SessionPath(s.SessionID), What: a.Lang.Say("%s was changed by other hands: %s", s.TaskName, v.In(a.Lang).Problem)})
		c.Remedy = a.Lang.Say("put the file back as it was, or accept it at a terminal: bmad-mcp adopt %s", terminal.ShellWord(s.TaskName))
	}
	if len(c.Items) > 0 {
		c.Detail = a.Lang.Say("%d of %d were changed by other hands", len(c.Items), len(sessions))
	}
	addAltered(ctx, a, cwd, sessions, &c)
	return c, ctx.Err()
}

// addAltered names the approved texts of active runs that are not as they were approved; those of
// a run that has ended are free to change.
func addAltered(ctx context.Context, a *app.App, cwd string, sessions []workflow.Summary, c *doctor.Check) {
	for _, s := range sessions {
		if !s.CurrentState.Active() {
			continue
		}
		_, v, _, err := a.Engine().Inspect(ctx, project.Address{Cwd: cwd, Session: s.SessionID})
		if err != nil {
			continue // it is gone since, or the other checks name the cause
		}
		for _, t := range v.Altered {
			c.Items = append(c.Items, doctor.Defect{Path: t.Path, What: a.Lang.Say("%s: not as approved: %s", s.TaskName, t.Text())})
			if c.Status == doctor.OK {
				c.Status = doctor.Warning
				c.Remedy = a.Lang.Say("accept it: bmad-mcp adopt %s; or put it back: bmad-mcp adopt %s --restore", terminal.ShellWord(s.TaskName), terminal.ShellWord(s.TaskName))
			}
		}
	}
}

// maxLeftOut bounds how many problems of an installation doctor names.
const maxLeftOut = 10

// checkMethod lists the installed parts of the BMAD method, if any, and which of them
// could not be used.
func checkMethod(a *app.App, cwd string) []doctor.Check {
	s := a.Library().At(cwd).Speaking(func() lang.Language { return a.Lang })
	c := doctor.Check{Group: doctor.OfProject, Name: "method", Status: doctor.OK}
	for _, src := range s.Searched() {
		if src.State == "failed" {
			c.Items = append(c.Items, doctor.Defect{Path: src.Place, What: src.Problem})
		}
	}
	for _, p := range s.Check() {
		if len(c.Items) < maxLeftOut {
			c.Items = append(c.Items, doctor.Defect{Path: p.Path, What: p.Text})
		}
	}
	if s.Empty() && len(c.Items) == 0 {
		return nil // most projects have none
	}
	c.Detail = a.Lang.Say("%d agents, %d workflows, %d tasks of the BMAD method",
		len(s.Catalog.Items(catalog.Agent)), len(s.Catalog.Items(catalog.Workflow)),
		len(s.Catalog.Items(catalog.Task)))
	if len(c.Items) > 0 {
		c.Status, c.Remedy = doctor.Warning, a.Lang.Say("bmad-mcp method sources shows all of it; the items named here were skipped")
	}
	return []doctor.Check{c}
}

// checkPolicy names the settings that do not count, and the permissions that are wanted.
func checkPolicy(a *app.App, cwd string, c *doctor.Check) {
	dir, err := durable.OpenDir(cwd)
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }()
	settings, err := a.Settings.Load(dir)
	if err != nil {
		return
	}
	for _, what := range settings.Ignored {
		c.Items = append(c.Items, doctor.Defect{Path: config.ProjectFile, What: what.In(a.Lang)})
	}
	_, wants, err := a.Engine().Wants(project.Address{Cwd: cwd})
	if err != nil {
		return
	}
	for _, w := range wants {
		if !w.Allowed {
			what := w.Note
			if what == "" {
				what = a.Lang.Say("%s is not allowed yet", w.Text)
			}
			c.Items = append(c.Items, doctor.Defect{Path: w.Kind, What: what})
			c.Remedy = a.Lang.Say("see and allow it with bmad-mcp allow")
		}
	}
	if len(c.Items) > 0 {
		c.Status, c.Detail = doctor.Warning, a.Lang.Say("can be used, but not all of them count")
	}
}

func doctorMachine(a *app.App, cwd string) doctor.MachineCheck {
	m := doctor.MachineCheck{Language: a.Lang, Hosts: hosts.This(cwd)}
	if self, err := os.Executable(); err == nil {
		m.Program = self
	}
	return m
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
