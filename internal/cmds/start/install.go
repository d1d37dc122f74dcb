package start

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
)

// installFlags are the flags of install and uninstall.
type installFlags struct {
	scope   string
	name    string
	command string
	args    []string
	dryRun  bool
	print   bool
	force   bool
}

// Install returns the command that registers the server with hosts.
func Install(a *app.App) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install [HOST...]",
		Short: "Register this server with the hosts on this machine",
		Long: `Register this server with hosts (` + strings.Join(hosts.IDs(), ", ") + `):
those that are named, else all that are found on this machine. The change
is shown as a diff and written; everything else in the file stays as it is, and the file
as it was is kept. A file that the host itself could not read is named and left alone.

Claude Code's user settings are changed by its own command (claude mcp add-json), since
a running session writes that file too.

--scope project writes the project's own file, for everyone who works in it: it names the
program bmad-mcp without a path, so all of them need it on their PATH.`,
		Example: `  bmad-mcp install --dry-run
  bmad-mcp install claude-code cursor
  bmad-mcp install --scope project
  bmad-mcp install vscode --print`,
		ValidArgs: hosts.IDs(),
		RunE:      func(cmd *cobra.Command, args []string) error { return runInstall(cmd.Context(), a, f, args) },
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.command, "command", "", "program that the host is to start (default: this one)")
	cmd.Flags().StringArrayVar(&f.args, "arg", nil, "argument for the program; can be repeated")
	cmd.Flags().BoolVar(&f.print, "print", false, "print the text for the file, and change nothing")
	return cmd
}

// Uninstall returns the command that undoes Install.
func Uninstall(a *app.App) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall [HOST...]",
		Short: "Remove this server from the hosts' settings",
		Long: `Take the entry that install makes out of hosts (` + strings.Join(hosts.IDs(), ", ") + `):
those that are named, else all. The rest of each file stays as it is, and the file as it
was is kept. Sessions and documents in your projects are not touched.`,
		ValidArgs: hosts.IDs(),
		RunE:      func(cmd *cobra.Command, args []string) error { return runUninstall(cmd.Context(), a, f, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *installFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.scope, "scope", "user", "user (all your projects) or project (everyone who works in this one)")
	flags.StringVar(&f.name, "name", "bmad", "name of the server in the host")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be done, and change nothing")
	flags.BoolVar(&f.force, "force", false, "even if another server has the name")
	// The error is for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]string{"user", "project"}, cobra.ShellCompDirectiveNoFileComp))
}

// serverName matches the names that every host takes; Claude Code refuses others.
var serverName = pattern.New(`^[A-Za-z0-9_-]{1,64}$`)

// which returns the hosts that a command is for.
func (f installFlags) which(names []string) ([]hosts.Host, error) {
	if f.scope != string(hosts.User) && f.scope != string(hosts.Project) {
		return nil, fault.New(fault.InvalidArgument, "--scope %q is not user or project", f.scope).WithHint("leave it out for all your projects")
	}
	if !serverName.MatchString(f.name) {
		return nil, fault.New(fault.InvalidArgument, "--name %q is not a valid server name", f.name).WithHint("take letters, digits, - and _, at most 64")
	}
	var out []hosts.Host
	for _, name := range names {
		h, ok := hosts.Lookup(name)
		if !ok {
			return nil, fault.New(fault.InvalidArgument, "unknown host %q", name).WithHint("use one of: %s", strings.Join(hosts.IDs(), ", ")).Suggest(name, hosts.IDs())
		}
		if !slices.ContainsFunc(out, func(o hosts.Host) bool { return o.ID == h.ID }) {
			out = append(out, h)
		}
	}
	return out, nil
}

// chooseHosts returns the hosts that a command is for, and their machine: the named ones if there are
// any, else those that have settings in the scope and are wanted.
func chooseHosts(a *app.App, f installFlags, names []string, wanted func(hosts.Machine, hosts.Host) bool) (hosts.Machine, []hosts.Host, error) {
	named, err := f.which(names)
	if err != nil {
		return hosts.Machine{}, nil, err
	}
	m, err := hostMachine(a, f)
	if err != nil || len(named) > 0 {
		return m, named, err
	}
	var out []hosts.Host
	for _, h := range hosts.All() {
		if h.File(m, hosts.Scope(f.scope)) != "" && wanted(m, h) {
			out = append(out, h)
		}
	}
	return m, out, nil
}

func runInstall(ctx context.Context, a *app.App, f installFlags, names []string) error {
	m, chosen, err := chooseHosts(a, f, names, func(m hosts.Machine, h hosts.Host) bool { return f.print || h.Present(m) != "" })
	if err != nil {
		return err
	}
	entry, err := hosts.Entry{Name: f.name, Command: f.command, Args: f.args}.Complete(hosts.Scope(f.scope))
	if err != nil {
		return err
	}
	if f.print {
		return printSnippets(a, m, hosts.Scope(f.scope), entry, chosen)
	}
	if len(chosen) == 0 {
		return fault.New(fault.NotFound, "none of the hosts is found on this machine: %s", strings.Join(hosts.IDs(), ", ")).
			WithHint("name yours (bmad-mcp install cursor), or see what to put where: bmad-mcp install --print")
	}
	plan := hosts.Plan{Machine: m, Language: a.Lang, Scope: hosts.Scope(f.scope), Entry: entry, Force: f.force}
	return applyChanges(ctx, a, chosen, plan.Install, f.dryRun)
}

func runUninstall(ctx context.Context, a *app.App, f installFlags, names []string) error {
	m, chosen, err := chooseHosts(a, f, names, func(hosts.Machine, hosts.Host) bool { return true })
	if err != nil {
		return err
	}
	self, _ := os.Executable() // without it, only the usual name is known for ours
	plan := hosts.Plan{Machine: m, Language: a.Lang, Scope: hosts.Scope(f.scope), Entry: hosts.Entry{Name: f.name, Command: self}, Force: f.force}
	return applyChanges(ctx, a, chosen, plan.Uninstall, f.dryRun)
}

// applyChanges makes the changes that are planned for hosts, and shows them.
func applyChanges(ctx context.Context, a *app.App, chosen []hosts.Host, plan func(hosts.Host) hosts.Change, dryRun bool) error {
	applier := hosts.Applier{Language: a.Lang, Folder: a.StateFolder(), Now: a.Engine().Now, DryRun: dryRun}
	defer applier.Lock(ctx)()
	failed, changes := false, make([]hosts.Change, len(chosen))
	for i, h := range chosen {
		changes[i] = applier.Apply(ctx, func() hosts.Change { return plan(h) })
		failed = failed || changes[i].Status == hosts.Failed
		if !a.JSON {
			printChange(a, changes[i])
		}
	}
	if a.JSON {
		if err := a.PrintJSON(map[string]any{"changes": changes}); err != nil {
			return err
		}
	}
	if failed {
		return terminal.ErrReported
	}
	return nil
}

// hostMachine returns this machine, with the project that entries of the project are for.
func hostMachine(a *app.App, f installFlags) (hosts.Machine, error) {
	project, err := a.Project()
	if err != nil || f.scope != string(hosts.Project) {
		return hosts.This(project), err
	}
	if a.Cwd == "" {
		project = hosts.Repository(project)
	}
	m := hosts.This(project)
	if info, err := os.Stat(project); err != nil || !info.IsDir() {
		return m, fault.New(fault.InvalidArgument, "the project folder %s does not exist", project).WithHint("pass --cwd with an existing folder; it is not created for you")
	}
	if project == filepath.Dir(project) || m.Home != "" && hosts.SameFile(project, m.Home) {
		return m, fault.New(fault.InvalidArgument, "%s is not a project", project).WithHint("go into the project, or pass --cwd with its folder")
	}
	return m, nil
}
