package setup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Health gathers the program's own state for the dashboard, as doctor and projects do at a
// terminal. It repairs nothing.
func Health(of func(folder string, l lang.Language) Upkeep) web.HealthFunc {
	return func(ctx context.Context, l lang.Language, folder string, whole bool) (web.Health, error) {
		u := of(folder, l)
		out := web.Health{UserFile: filepath.Join(u.Tasks.Settings.UserFolder, filepath.FromSlash(config.UserFile))}
		rows, err := projectRows(u.Term.Lang, u.Tasks.Workspace)
		if err != nil {
			return out, err
		}
		for _, row := range rows {
			out.Places = append(out.Places, web.Place{Folder: row.Folder, From: row.From, Why: row.Why})
		}
		var checks []doctor.Check
		if whole && folder != "" {
			dir, err := durable.OpenDir(folder)
			if err != nil {
				return out, fault.From(err)
			}
			defer func() { _ = dir.Close() }()
			files := doctor.New(dir, u.Parts().Summaries.Store(dir))
			files.Language, files.Worktree = l, worktreesFrom(folder)
			if checks, err = projectChecks(ctx, u, files, folder); err != nil {
				return out, err
			}
		}
		for _, c := range append(checks, machineChecks(u, folder)...) {
			row := web.Check{Name: c.Name, Status: string(c.Status), Detail: c.Detail, Remedy: c.Remedy}
			for _, item := range c.Items[:min(len(c.Items), shownItems)] {
				row.Items = append(row.Items, item.Path+": "+item.What)
			}
			if more := len(c.Items) - shownItems; more > 0 {
				row.Items = append(row.Items, l.Say("… and %d more", more))
			}
			out.Checks = append(out.Checks, row)
		}
		return out, nil
	}
}

// projectChecks checks a project: its settings, files, histories, method and memory.
func projectChecks(ctx context.Context, u Upkeep, files *doctor.ProjectFiles, cwd string) ([]doctor.Check, error) {
	checks, err := files.Check(ctx)
	if u.Tasks.Config.Store.Address != "" { // the files are only what the work leaves here
		checks, err = checkTeamStore(ctx, u)
	}
	if err != nil {
		return nil, err
	}
	settings := checkSettings(u, cwd)
	histories, err := checkHistories(ctx, u, cwd)
	if err != nil {
		return nil, err
	}
	rest := slices.Concat(checkIgnored(ctx, u, cwd), checkMethod(u, cwd), checkMemory(ctx, u))
	return slices.Concat([]doctor.Check{settings}, checks, []doctor.Check{histories}, rest), nil
}

// checkIgnored warns of a repository that gets no documents.
func checkIgnored(ctx context.Context, u Upkeep, cwd string) []doctor.Check {
	if ignored, err := git.Ignores(ctx, cwd, artifact.Folder+"/run/document.md"); err != nil || !ignored {
		return nil
	}
	return []doctor.Check{{
		Group: doctor.OfProject, Name: "git", Status: doctor.Warning,
		Detail: u.Term.Lang.Say("git ignores %s, so documents never reach the repository", artifact.Folder),
		Remedy: u.Term.Lang.Say("to commit them, end .gitignore with three lines: %s", "!.claude/  .claude/*  !.claude/specs/"),
	}}
}

// checkTeamStore checks the database of the team, and the project's sessions in it.
func checkTeamStore(ctx context.Context, u Upkeep) ([]doctor.Check, error) {
	c := doctor.Check{Group: doctor.OfProject, Name: "store", Status: doctor.OK}
	var checks []doctor.Check
	d, err := u.Databases.TeamStore()
	if err == nil {
		s, statusErr := d.Status(ctx)
		if c.Detail, err = s.Line(), statusErr; len(s.Warnings()) > 0 {
			c.Status, c.Remedy = doctor.Warning, u.Term.Lang.Say("with %s the database can lose what it has acknowledged", strings.Join(s.Warnings(), ", "))
		}
	}
	if from := u.Tasks.Config.Origin("store"); from.Variable != "" {
		what := u.Term.Lang.Say("a program without the variable keeps the runs in files: name the store in your own settings instead")
		c.Items = append(c.Items, doctor.Defect{Path: from.Variable, What: what})
	}
	if err == nil {
		err = withCarrier(u, func(p *project.Project, sessions store.Carrier) (err error) {
			tied := checkTie(u, p)
			if checks, err = doctor.CheckSessions(ctx, u.Term.Lang, sessions); err != nil {
				return err
			}
			checks = append(checks, tied)
			return nil
		})
	}
	if err != nil {
		f := fault.From(err).Translated(u.Term.Lang)
		c.Status, c.Detail, c.Remedy = doctor.Problem, f.Message, f.Hint
	}
	return append([]doctor.Check{c}, checks...), ctx.Err()
}

// checkTie says which project of the store the folder shows, and warns if that cannot be remembered. A folder that names
// another one than is remembered has failed before.
func checkTie(u Upkeep, p *project.Project) doctor.Check {
	c := doctor.Check{Group: doctor.OfProject, Name: "project", Status: doctor.OK, Detail: u.Term.Lang.Say("this folder shows the project %s of the store", p.ID())}
	if p.Config.Store.Project != "" {
		c.Detail = u.Term.Lang.Say("this folder shows the project %s of the store, which your settings name", p.ID())
	} else if _, err := app.Trust().Ties(); err != nil {
		f := fault.From(err).Translated(u.Term.Lang)
		c.Status, c.Remedy = doctor.Warning, f.Hint
		c.Detail = u.Term.Lang.Say("this folder shows the project %s of the store, and that is not remembered: %s", p.ID(), f.Message)
	}
	return c
}

// checkSettings checks the needs of every action: the settings and the prompts.
func checkSettings(u Upkeep, cwd string) doctor.Check {
	c := doctor.Check{Group: doctor.OfProject, Name: "settings", Status: doctor.OK, Detail: u.Term.Lang.Say("settings and prompts can be used")}
	if err := u.Tasks.Engine().Projects().Ready(project.Address{Cwd: cwd}); err != nil {
		f := fault.From(err).Translated(u.Term.Lang)
		c.Status, c.Detail, c.Remedy = doctor.Problem, f.Message, f.Hint
		return c
	}
	checkPolicy(u, cwd, &c)
	return c
}

// checkFolders says in which folders assistants may work besides those that their hosts have
// open, and names those on record that do not count.
func checkFolders(u Upkeep) doctor.Check {
	c := doctor.Check{Group: doctor.OfMachine, Name: "folders", Status: doctor.OK}
	rows, err := projectRows(u.Term.Lang, u.Tasks.Workspace)
	if err != nil {
		f := fault.From(err).Translated(u.Term.Lang)
		if c.Status, c.Detail, c.Remedy = doctor.Warning, f.Message, f.Hint; u.Tasks.Unread != nil { // the check of the settings names the cause
			c.Status, c.Detail, c.Remedy = doctor.OK, u.Term.Lang.Say("not checked: the settings cannot be read"), ""
		}
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
		c.Status, c.Remedy = doctor.Warning, u.Term.Lang.Say("bmad-mcp projects remove DIR takes it off the list")
		c.Items = append(c.Items, doctor.Defect{Path: row.Folder, What: u.Term.Lang.Say("does not count: %s", row.Why)})
	}
	c.Detail = u.Term.Lang.Say("assistants may work in the folders that their host has open, in %s with runs and in %s of yours (bmad-mcp projects)",
		lang.Count(count[app.FromSessions], "project"), lang.Count(count[app.FromTerminal]+count[app.FromForm]+count[app.FromSettings], "folder"))
	return c
}

// checkHistories names the sessions that were changed by other hands, and the active ones that rest on entries which do
// not count.
func checkHistories(ctx context.Context, u Upkeep, cwd string) (doctor.Check, error) {
	c := doctor.Check{Group: doctor.OfProject, Name: "histories", Status: doctor.OK}
	at := project.Address{Cwd: cwd}
	var found []foundHistory
	unsealed := 0
	n, gone, err := u.Tasks.Engine().Histories(ctx, at, func(s *workflow.Summary, v workflow.Verification) {
		found = append(found, foundHistory{s, v.In(u.Term.Lang)})
	})
	if err != nil {
		c.Detail = u.Term.Lang.Say("not checked: the project cannot be used")
		return c, ctx.Err() // the other checks name the cause
	}
	slices.SortFunc(found, func(a, b foundHistory) int { return store.CompareAge(*a.Summary, *b.Summary) })
	place := store.SessionPath
	if u.Tasks.Config.Store.Address != "" { // a run in the store has no session file
		place = func(id string) string { return id }
	}
	for _, f := range found {
		if !f.Changed() {
			continue
		}
		c.Status = doctor.Problem
		c.Items = append(c.Items, doctor.Defect{Path: place(f.SessionID), What: u.Term.Lang.Say("%s was changed by other hands: %s", f.TaskName, f.Problem)})
		c.Remedy = u.Term.Lang.Say("put the file back as it was, or accept it at a terminal: bmad-mcp adopt %s", terminal.ShellWord(f.TaskName))
	}
	c.Detail = u.Term.Lang.Say("%d, none shows a change by other hands", n)
	if len(c.Items) > 0 {
		c.Detail = u.Term.Lang.Say("%d of %d were changed by other hands", len(c.Items), n)
	}
	if shown := gone[:min(len(gone), maxGone)]; len(shown) > 0 {
		c.Detail += u.Term.Lang.Say("; recorded on this machine, and gone: %d (%s)", len(gone), strings.Join(shown, ", "))
	}
	for _, f := range found {
		if !f.Changed() && !f.Sound() && f.CurrentState.Active() {
			c.Items = append(c.Items, doctor.Defect{Path: place(f.SessionID), What: u.Term.Lang.Say("%s: not confirmed: %s", f.TaskName, f.Problem)})
			if f.Unsigned {
				unsealed++
			}
			c.Warn(u.Term.Lang.Say("if you know whose the key is: bmad-mcp allow; else accept it as it is: bmad-mcp adopt %s", terminal.ShellWord(f.TaskName)))
		}
		addAltered(u.Term.Lang, f.TaskName, f.Altered, &c)
	}
	if unsealed > 0 { // anybody could change it, and nothing would show it
		c.Status, c.Detail = doctor.Problem, u.Term.Lang.Say("%s; without a seal: %d", c.Detail, unsealed)
	}
	return c, nil
}

// maxGone bounds how many recorded sessions doctor names that are gone.
const maxGone = 5

// foundHistory is a session with the result of the check.
type foundHistory struct {
	*workflow.Summary
	workflow.Verification
}

// addAltered names the approved texts of an active run that are not as they were approved; those of
// a run that has ended are free to change.
func addAltered(l lang.Language, name string, altered []workflow.Alteration, c *doctor.Check) {
	for _, t := range altered {
		c.Items = append(c.Items, doctor.Defect{Path: t.Path, What: l.Say("%s: not as approved: %s", name, t.Text())})
		c.Warn(l.Say("accept it: bmad-mcp adopt %s; or put it back: bmad-mcp adopt %s --restore", terminal.ShellWord(name), terminal.ShellWord(name)))
	}
}

// maxLeftOut bounds how many problems of an installation doctor names.
const maxLeftOut = 10

// checkMethod lists the installed parts of the BMAD method, if any, and which of them
// could not be used.
func checkMethod(u Upkeep, cwd string) []doctor.Check {
	if u.Tasks.Unread != nil {
		return []doctor.Check{{Group: doctor.OfProject, Name: "method", Status: doctor.OK, Detail: u.Term.Lang.Say("not checked: the settings cannot be read")}}
	}
	s := u.Parts().Library.At(cwd).Speaking(func() lang.Language { return u.Term.Lang })
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
	c.Detail = u.Term.Lang.Say("%d agents, %d workflows, %d tasks of the BMAD method",
		len(s.Catalog.Items(catalog.Agent)), len(s.Catalog.Items(catalog.Workflow)),
		len(s.Catalog.Items(catalog.Task)))
	if len(c.Items) > 0 {
		c.Status, c.Remedy = doctor.Warning, u.Term.Lang.Say("bmad-mcp method sources shows all of it; the items named here were skipped")
	}
	return []doctor.Check{c}
}

// checkPolicy names the settings that do not count, and the permissions that are wanted.
func checkPolicy(u Upkeep, cwd string, c *doctor.Check) {
	dir, err := durable.OpenDir(cwd)
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }()
	settings, err := u.Tasks.Settings.Load(dir)
	if err != nil {
		return
	}
	for _, what := range settings.Ignored {
		c.Items = append(c.Items, doctor.Defect{Path: config.ProjectFile, What: what.In(u.Term.Lang)})
	}
	for _, n := range u.Tasks.NoticesIn(dir, &settings) {
		c.Items = append(c.Items, doctor.Defect{Path: n.Place.In(u.Term.Lang), What: n.What.In(u.Term.Lang)})
	}
	unmet, never := settings.Unmet()
	for _, n := range unmet {
		c.Items = append(c.Items, doctor.Defect{Path: n.Place.In(u.Term.Lang), What: n.What.In(u.Term.Lang)})
		c.Remedy = u.Term.Lang.Say("name more approvers, or a smaller quorum")
	}
	if never {
		c.Status = doctor.Problem
	}
	_, wants, err := u.Tasks.Engine().Wants(project.Address{Cwd: cwd})
	if err != nil {
		return
	}
	for _, w := range wants {
		if !w.Allowed {
			what := w.Note
			if what == "" {
				what = u.Term.Lang.Say("%s is not allowed yet", w.Text)
			}
			c.Items = append(c.Items, doctor.Defect{Path: w.Kind, What: what})
			c.Remedy = u.Term.Lang.Say("see and allow it with bmad-mcp allow")
		}
	}
	if len(c.Items) > 0 {
		c.Detail = u.Term.Lang.Say("can be used, but not all of them count")
		c.Warn(c.Remedy)
	}
}

// machineChecks checks the program on this machine, the hosts, and what the account keeps.
func machineChecks(u Upkeep, cwd string) []doctor.Check {
	return append(append(machineOf(u.Term.Lang, cwd, u.Judge).Check(), checkAccount(u), checkFolders(u)), checkNotify(u)...)
}

func machineOf(l lang.Language, cwd string, judge func(args, environ []string) error) doctor.MachineCheck {
	m := doctor.MachineCheck{Language: l, Hosts: hosts.This(cwd), Judge: judge}
	if self, err := os.Executable(); err == nil {
		m.Program = self
	}
	return m
}

// checkAccount checks the folder with the key that signs, and with all that a person has allowed.
func checkAccount(u Upkeep) doctor.Check {
	c := doctor.Check{Group: doctor.OfMachine, Name: "account", Status: doctor.OK}
	c.Detail = u.Term.Lang.Say("decisions are signed, and what you allow is kept, in %s", app.StateFolder())
	if err := app.Trust().Check(); err != nil {
		f := fault.From(err).Translated(u.Term.Lang)
		c.Status, c.Detail, c.Remedy = doctor.Problem, u.Term.Lang.Say("nothing is signed, and nothing that you allow is kept: %s", f.Message), f.Hint
	}
	return c
}

// checkMemory checks the notes of the project, for doctor; most projects have none.
func checkMemory(ctx context.Context, u Upkeep) []doctor.Check {
	c := doctor.Check{Group: doctor.OfProject, Name: "memory", Status: doctor.OK}
	err := u.WithBook(func(b *memory.Book) error {
		stats, err := b.Stats(ctx)
		if err != nil {
			return err
		}
		problems, err := b.Check(ctx)
		for _, p := range problems {
			c.Items = append(c.Items, doctor.Defect{Path: p.Place(), What: p.Why.In(u.Term.Lang)})
		}
		if stats.Notes+stats.Foreign+stats.Files+len(problems) > 0 {
			c.Detail = u.Term.Lang.Say("%d notes, and %d in files of other tools", stats.Notes, stats.Foreign)
		}
		if len(problems) > 0 {
			c.Status, c.Remedy = doctor.Warning, u.Term.Lang.Say("correct the lines, or remove them; the other notes are not affected")
		}
		return err
	})
	if fault.Is(err, fault.Storage) {
		f := fault.From(err).Translated(u.Term.Lang)
		c.Status, c.Detail, c.Remedy = doctor.Problem, f.Message, f.Hint
	}
	if c.Detail == "" {
		return nil
	}
	return []doctor.Check{c}
}
