package start

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
)

// installOptions are the flags of install and uninstall.
type installOptions struct {
	scope   string
	name    string
	command string
	args    []string
	dryRun  bool
	print   bool
	force   bool
}

// Install returns the command that registers the server with hosts.
func Install(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "install [HOST...]",
		Short: "Register this server with the hosts on this machine",
		Long: `Register this server with hosts (` + strings.Join(hosts.IDs(), ", ") + `):
those that are named, else all that are found on this machine. A change to a file
is shown as a diff and written; everything else in the file stays as it is, and the file
as it was is kept. A file that the host itself could not read is named and left alone.

Codex's settings and Claude Code's user settings are changed by their own commands
(codex mcp add, claude mcp add-json). If the command is not on the PATH, the lines to put
into the file are printed, and the file is not touched.

--scope project writes the project's own file, for everyone who works in it: it names the
program bmad-mcp without a path, so all of them need it on their PATH.`,
		Example: `  bmad-mcp install --dry-run
  bmad-mcp install claude-code cursor
  bmad-mcp install --scope project
  bmad-mcp install vscode --print`,
		ValidArgs: hosts.IDs(),
		RunE:      func(cmd *cobra.Command, args []string) error { return o.installHosts(cmd.Context(), term, tasks, args) },
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.command, "command", "", "program that the host is to start (default: this one)")
	cmd.Flags().StringArrayVar(&o.args, "arg", nil, "argument for the program; can be repeated (default: those of an entry stay)")
	cmd.Flags().BoolVar(&o.print, "print", false, "print the text for the file, and change nothing")
	return cmd
}

// Uninstall returns the command that undoes Install.
func Uninstall(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "uninstall [HOST...]",
		Short: "Remove this server from the hosts' settings",
		Long: `Take the entry that install makes out of hosts (` + strings.Join(hosts.IDs(), ", ") + `):
those that are named, else all, in the way of install. The rest of each file stays as it is,
and the file as it was is kept. Runs and documents in your projects are not touched.`,
		ValidArgs: hosts.IDs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.uninstallHosts(cmd.Context(), term, tasks, args)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *installOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.scope, "scope", "user", "user (all your projects) or project (everyone who works in this one)")
	flags.StringVar(&o.name, "name", "bmad", "name of the server in the host")
	flags.BoolVar(&o.dryRun, "dry-run", false, "show what would be done, and change nothing")
	flags.BoolVar(&o.force, "force", false, "even if another server has the name")
	// The error is for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]string{"user", "project"}, cobra.ShellCompDirectiveNoFileComp))
}

// serverName matches the names valid in every host; Claude Code refuses others.
var serverName = pattern.New(`^[A-Za-z0-9_-]{1,64}$`)

// findHosts checks the flags, and returns the named hosts.
func (o *installOptions) findHosts(names []string) ([]hosts.Host, error) {
	if o.scope != string(hosts.User) && o.scope != string(hosts.Project) {
		return nil, fault.New(fault.InvalidArgument, "--scope %q is not user or project", o.scope).WithHint("leave it out for all your projects")
	}
	if !serverName.MatchString(o.name) {
		return nil, fault.New(fault.InvalidArgument, "--name %q is not a valid server name", o.name).WithHint("take letters, digits, - and _, at most 64")
	}
	var out []hosts.Host
	for _, name := range names {
		h, ok := hosts.Lookup(name)
		if !ok {
			return nil, fault.New(fault.InvalidArgument, "unknown host %q", name).WithHint("use one of: %s", strings.Join(hosts.IDs(), ", ")).Suggest(name, hosts.IDs())
		}
		if !slices.ContainsFunc(out, func(other hosts.Host) bool { return other.ID == h.ID }) {
			out = append(out, h)
		}
	}
	return out, nil
}

// chooseHosts returns the hosts of a command, with the machine: the named hosts, or without names all wanted
// ones with settings in the scope.
func (o *installOptions) chooseHosts(workspace *app.Workspace, names []string, wanted func(hosts.Machine, hosts.Host) bool) (hosts.Machine, []hosts.Host, error) {
	named, err := o.findHosts(names)
	if err != nil {
		return hosts.Machine{}, nil, err
	}
	m, err := o.findMachine(workspace)
	if err != nil || len(named) > 0 {
		return m, named, err
	}
	var out []hosts.Host
	for _, h := range hosts.All() {
		if h.File(m, hosts.Scope(o.scope)) != "" && wanted(m, h) {
			out = append(out, h)
		}
	}
	return m, out, nil
}

func (o *installOptions) installHosts(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, names []string) error {
	m, chosen, err := o.chooseHosts(tasks.Workspace, names, func(m hosts.Machine, h hosts.Host) bool { return o.print || h.Present(m) != "" })
	if err != nil {
		return err
	}
	entry, err := hosts.Entry{Name: o.name, Command: o.command, Args: o.args}.Complete(hosts.Scope(o.scope))
	if err != nil {
		return err
	}
	if o.print {
		return printSnippets(term, m, hosts.Scope(o.scope), entry, chosen)
	}
	if len(chosen) == 0 {
		return fault.New(fault.NotFound, "none of the hosts is found on this machine: %s", strings.Join(hosts.IDs(), ", ")).
			WithHint("name yours (bmad-mcp install cursor), or see what to put where: bmad-mcp install --print")
	}
	plan := hosts.Plan{Machine: m, Language: term.Lang, Scope: hosts.Scope(o.scope), Entry: entry, Folder: app.StateFolder(), Force: o.force}
	err = o.applyChanges(ctx, term, tasks.Engine().Now, chosen, plan.Install)
	if !term.JSON && !o.dryRun && err == nil {
		o.sayNext(term, m, chosen, len(names) == 0)
	}
	return err
}

func (o *installOptions) uninstallHosts(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, names []string) error {
	m, chosen, err := o.chooseHosts(tasks.Workspace, names, func(hosts.Machine, hosts.Host) bool { return true })
	if err != nil {
		return err
	}
	self, _ := os.Executable() // without the path, only entries with the usual name count as ours
	plan := hosts.Plan{Machine: m, Language: term.Lang, Scope: hosts.Scope(o.scope), Entry: hosts.Entry{Name: o.name, Command: self}, Folder: app.StateFolder(), Force: o.force}
	return o.applyChanges(ctx, term, tasks.Engine().Now, chosen, plan.Uninstall)
}

// applyChanges makes the planned changes for hosts, and shows them.
func (o *installOptions) applyChanges(ctx context.Context, term *terminal.Terminal, now func() time.Time, chosen []hosts.Host, plan func(hosts.Host) hosts.Change) error {
	applier := hosts.Applier{Language: term.Lang, Folder: app.StateFolder(), Now: now, DryRun: o.dryRun}
	defer applier.Lock(ctx)()
	failed, changes := false, make([]hosts.Change, len(chosen))
	for i, h := range chosen {
		changes[i] = applier.Apply(ctx, func() hosts.Change { return plan(h) })
		if changes[i].Status == hosts.Added || changes[i].Status == hosts.Updated || changes[i].Status == hosts.Unchanged {
			changes[i].Note(missingFeatures(ctx, term.Lang, h))
		}
		failed = failed || changes[i].Status == hosts.Failed
		if !term.JSON {
			printChange(term, changes[i])
		}
	}
	if term.JSON {
		if err := term.PrintJSON(map[string]any{"changes": changes}); err != nil {
			return err
		}
	}
	if failed {
		return terminal.ErrReported
	}
	return nil
}

// findMachine returns this machine, with the project for entries of scope project.
func (o *installOptions) findMachine(workspace *app.Workspace) (hosts.Machine, error) {
	project, err := workspace.Project()
	if err != nil || o.scope != string(hosts.Project) {
		return hosts.This(project), err
	}
	if workspace.Cwd == "" {
		project = hosts.Repository(project)
	}
	m := hosts.This(project)
	if info, err := os.Stat(project); err != nil || !info.IsDir() {
		return m, fault.New(fault.InvalidArgument, "the project folder %s does not exist", project).WithHint("pass --cwd with an existing folder; it is not created for you")
	}
	isHome := m.Home != "" && hosts.SameFile(project, m.Home)
	if isHome || project == filepath.Dir(project) {
		return m, fault.New(fault.InvalidArgument, "%s is not a project", project).WithHint("go into the project, or pass --cwd with its folder")
	}
	return m, nil
}
