package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
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

// The values of change.Status.
const (
	statusAdded     = "added"
	statusUpdated   = "updated"
	statusUnchanged = "unchanged"
	statusRemoved   = "removed"
	statusAbsent    = "absent"
	statusSkipped   = "skipped"
	statusFailed    = "failed"
)

// change is what install or uninstall does to one host.
type change struct {
	Host   string      `json:"host"`
	Scope  hosts.Scope `json:"scope"`
	Path   string      `json:"path,omitempty"`
	Status string      `json:"status"`
	// DryRun is true where the status says what would be.
	DryRun bool   `json:"dry_run,omitempty"`
	Why    string `json:"why,omitempty"`
	Diff   string `json:"diff,omitempty"`
	// Command is the host's own command that makes the change, where it has a good one.
	Command []string `json:"command,omitempty"`
	Backup  string   `json:"backup,omitempty"`
	Next    string   `json:"next,omitempty"`

	host          hosts.Host
	before, after []byte
}

func (a *app) installCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install [HOST...]",
		Short: "Tell the hosts on this machine about this server",
		Long: `Tell hosts (` + strings.Join(hosts.IDs(), ", ") + `) about
this server: those that are named, else all that are found on this machine. The change
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
		RunE:      func(cmd *cobra.Command, args []string) error { return a.install(cmd.Context(), f, args) },
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.command, "command", "", "program that the host is to start (default: this one)")
	cmd.Flags().StringArrayVar(&f.args, "arg", nil, "argument for the program; can be repeated")
	cmd.Flags().BoolVar(&f.print, "print", false, "print what to put into the file, and change nothing")
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall [HOST...]",
		Short: "Take this server out of the hosts' settings",
		Long: `Take the entry that install makes out of hosts (` + strings.Join(hosts.IDs(), ", ") + `):
those that are named, else all. The rest of each file stays as it is, and the file as it
was is kept. Sessions and documents in your projects are not touched.`,
		ValidArgs: hosts.IDs(),
		RunE:      func(cmd *cobra.Command, args []string) error { return a.uninstall(cmd.Context(), f, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *installFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.scope, "scope", "user", "user (all your projects) or project (everyone who works in this one)")
	flags.StringVar(&f.name, "name", "bmad", "name of the server in the host")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be done, and change nothing")
	flags.BoolVar(&f.force, "force", false, "also where the name is another server's")
	// The error is for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]string{"user", "project"}, cobra.ShellCompDirectiveNoFileComp))
}

// serverName is what every host takes for a name; Claude Code refuses others.
var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// which returns the hosts that a command is for.
func (f installFlags) which(names []string) ([]hosts.Host, error) {
	if f.scope != string(hosts.User) && f.scope != string(hosts.Project) {
		return nil, fault.New(fault.InvalidArgument, "--scope %q is none of user, project", f.scope).WithHint("leave it out for all your projects")
	}
	if !serverName.MatchString(f.name) {
		return nil, fault.New(fault.InvalidArgument, "--name %q is no name for a server", f.name).WithHint("take letters, digits, - and _, at most 64")
	}
	var out []hosts.Host
	for _, name := range names {
		h, ok := hosts.Lookup(name)
		if !ok {
			return nil, fault.New(fault.InvalidArgument, "unknown host %q", name).WithHint("use one of: %s", strings.Join(hosts.IDs(), ", "))
		}
		if !slices.ContainsFunc(out, func(o hosts.Host) bool { return o.ID == h.ID }) {
			out = append(out, h)
		}
	}
	return out, nil
}

// chosen returns the hosts that a command is for, and their machine: those that are named,
// else those that have settings in the scope and are wanted.
func (a *app) chosen(f installFlags, names []string, wanted func(hosts.Machine, hosts.Host) bool) (hosts.Machine, []hosts.Host, error) {
	named, err := f.which(names)
	if err != nil {
		return hosts.Machine{}, nil, err
	}
	m, err := a.hostMachine(f)
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

func (a *app) install(ctx context.Context, f installFlags, names []string) error {
	m, chosen, err := a.chosen(f, names, func(m hosts.Machine, h hosts.Host) bool { return f.print || h.Present(m) != "" })
	if err != nil {
		return err
	}
	entry, err := f.entry()
	if err != nil {
		return err
	}
	if f.print {
		return a.printSnippets(m, hosts.Scope(f.scope), entry, chosen)
	}
	if len(chosen) == 0 {
		return fault.New(fault.NotFound, "none of the hosts is found on this machine: %s", strings.Join(hosts.IDs(), ", ")).
			WithHint("name yours (bmad-mcp install cursor), or see what to put where: bmad-mcp install --print")
	}
	var plans []func() change
	for _, h := range chosen {
		plans = append(plans, func() change { return f.planInstall(m, h, entry) })
	}
	return a.apply(ctx, plans, f)
}

// planInstall works out what install does to a host.
func (f installFlags) planInstall(m hosts.Machine, h hosts.Host, entry hosts.Entry) change {
	scope := hosts.Scope(f.scope)
	if h.HasPlugin(m) && !f.force {
		return change{Host: h.ID, Scope: scope, host: h, Status: statusSkipped,
			Why: h.Name + " has the plugin, which brings the server; an entry beside it would show each tool twice (--force adds it)"}
	}
	c := planned(m, scope, h, statusAdded, func(text []byte) ([]byte, error) { return h.Add(text, entry, f.force) })
	if c.Status == statusAdded && has(h, c.before, entry.Name) {
		c.Status = statusUpdated
	}
	c.Command = ownCommand(c, entry)
	if c.Status != statusAdded && c.Status != statusUpdated {
		return c
	}
	c.Next = h.Next(scope)
	var notes []string
	if _, err := exec.LookPath(entry.Command); err != nil {
		notes = append(notes, entry.Command+" is not there, or cannot be run: the host will not be able to start it")
	}
	other := map[hosts.Scope]hosts.Scope{hosts.User: hosts.Project, hosts.Project: hosts.User}[scope]
	if path := h.File(m, other); path != "" && path != c.Path {
		if text, err := hosts.Read(path); err == nil && has(h, text, entry.Name) {
			notes = append(notes, fmt.Sprintf("%s has %q in %s too, and takes only one of them", h.Name, entry.Name, path))
		}
	}
	c.Why = strings.Join(notes, "; ")
	return c
}

// has reports whether a host's file has an entry of a name.
func has(h hosts.Host, text []byte, name string) bool {
	found, err := h.Find(text)
	return err == nil && slices.ContainsFunc(found, func(e hosts.Found) bool { return e.Name == name && e.Folder == "" })
}

func (a *app) uninstall(ctx context.Context, f installFlags, names []string) error {
	m, chosen, err := a.chosen(f, names, func(hosts.Machine, hosts.Host) bool { return true })
	if err != nil {
		return err
	}
	self, _ := os.Executable() // without it, only the usual name is known for ours
	var plans []func() change
	for _, h := range chosen {
		plans = append(plans, func() change {
			c := planned(m, hosts.Scope(f.scope), h, statusRemoved, func(text []byte) ([]byte, error) {
				if text == nil {
					return nil, nil
				}
				return h.Remove(text, f.name, self, f.force)
			})
			if c.Status == statusRemoved && nothingLeft(c.after) {
				c.Why = "the file holds nothing else and goes"
			}
			c.Command = ownCommand(c, hosts.Entry{Name: f.name})
			return c
		})
	}
	return a.apply(ctx, plans, f)
}

// hostMachine returns this machine, with the project that entries of the project are for.
func (a *app) hostMachine(f installFlags) (hosts.Machine, error) {
	project, err := a.project()
	if err != nil || f.scope != string(hosts.Project) {
		return hosts.This(project), err
	}
	if a.cwd == "" {
		project = repository(project)
	}
	m := hosts.This(project)
	if info, err := os.Stat(project); err != nil || !info.IsDir() {
		return m, fault.New(fault.InvalidArgument, "the project folder %s does not exist", project).WithHint("pass --cwd with an existing folder; it is not made for you")
	}
	if project == filepath.Dir(project) || m.Home != "" && sameFile(project, m.Home) {
		return m, fault.New(fault.InvalidArgument, "%s is no project", project).WithHint("go into the project, or pass --cwd with its folder")
	}
	return m, nil
}

// repository returns the nearest folder upwards that is a repository or has sessions, else
// the folder itself.
func repository(folder string) string {
	for dir := folder; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		for _, name := range []string{".git", ".bmad-task"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return dir
			}
		}
	}
	return folder
}

// entry returns what hosts are to start.
func (f installFlags) entry() (hosts.Entry, error) {
	e := hosts.Entry{Name: f.name, Command: f.command, Args: f.args}
	if f.scope == string(hosts.Project) {
		if e.Command == "" {
			e.Command = "bmad-mcp" // a path of this machine is of no use to the others
		}
		return e, nil
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "BMAD_") || name == "XDG_STATE_HOME" || name == "XDG_CONFIG_HOME" || name == "XDG_CACHE_HOME" {
			e.Pass = append(e.Pass, name)
		}
	}
	slices.Sort(e.Pass)
	if e.Command != "" {
		return e, nil
	}
	self, err := os.Executable()
	if err != nil {
		return e, fault.New(fault.Storage, "where this program lies cannot be told: %w", err).WithHint("name it with --command")
	}
	if strings.Contains(self, "go-build") {
		return e, fault.New(fault.InvalidArgument, "this program was made for one run (go run) and is gone after it").
			WithHint("install it first: go install ./cmd/bmad-mcp; or name another with --command")
	}
	// What the PATH has may be a link that outlives the version that it leads to.
	if onPath, err := exec.LookPath(filepath.Base(self)); err == nil {
		if onPath, err = filepath.Abs(onPath); err == nil && sameFile(onPath, self) {
			self = onPath
		}
	}
	e.Command = self
	return e, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// planned works out what is to be done for a host, without doing it.
func planned(m hosts.Machine, scope hosts.Scope, h hosts.Host, done string, edit func([]byte) ([]byte, error)) change {
	c := change{Host: h.ID, Scope: scope, host: h, Path: h.File(m, scope)}
	if c.Path == "" {
		c.Status, c.Why = statusFailed, fmt.Sprintf("%s has no settings for one project", h.Name)
		return c
	}
	var err error
	if c.before, err = hosts.Read(c.Path); err != nil {
		c.Status, c.Why = statusFailed, err.Error()
		return c
	}
	if c.after, err = edit(c.before); err != nil {
		c.Status, c.Why = statusFailed, "left alone: "+err.Error()
		var taken hosts.Taken
		if errors.As(err, &taken) {
			c.Why += map[bool]string{
				true:  "; --force takes it out all the same",
				false: "; take another name (--name), or have it replaced (--force)",
			}[done == statusRemoved]
		}
		return c
	}
	if string(c.before) == string(c.after) {
		c.Status = statusUnchanged
		if done == statusRemoved {
			c.Status = statusAbsent
		}
		return c
	}
	c.Status = done
	c.Diff = diffText(c.Path, c.before, c.after)
	return c
}

// ownCommand returns the host's command that makes a change, where that is the better way:
// Claude Code's own file is written by its sessions too.
func ownCommand(c change, e hosts.Entry) []string {
	program, err := exec.LookPath(c.host.Program())
	if err != nil || c.Host != "claude-code" || c.Scope != hosts.User {
		return nil
	}
	switch c.Status {
	case statusRemoved:
		return []string{program, "mcp", "remove", "--scope", "user", e.Name}
	case statusAdded:
		server := map[string]any{"type": "stdio", "command": e.Command}
		if len(e.Args) > 0 {
			server["args"] = e.Args
		}
		if data, err := json.Marshal(server); err == nil {
			return []string{program, "mcp", "add-json", "--scope", "user", e.Name, string(data)}
		}
	}
	return nil // it would refuse to change an entry that is there
}

// attempts bounds how often a change is worked out anew because another program has
// changed the file in between.
const attempts = 3

// apply works out each change, makes it, and shows it.
func (a *app) apply(ctx context.Context, plans []func() change, f installFlags) error {
	if !f.dryRun {
		unlock := a.lockHosts(ctx)
		defer unlock()
	}
	failed, changes := false, make([]change, len(plans))
	for i, plan := range plans {
		c := &changes[i]
		for n := 0; ; n++ {
			*c = plan()
			if c.DryRun = f.dryRun; f.dryRun || c.Diff == "" {
				break
			}
			if err := a.write(ctx, c, f.name); !errors.Is(err, hosts.ErrChanged) || n+1 == attempts {
				if err != nil {
					c.Status, c.Why = statusFailed, err.Error()
				}
				break
			}
		}
		if failed = failed || c.Status == statusFailed; c.Status == statusFailed {
			c.Next, c.Backup = "", ""
		}
		if !a.asJSON {
			a.printChange(*c)
		}
	}
	if a.asJSON {
		if err := a.printJSON(map[string]any{"changes": changes}); err != nil {
			return err
		}
	}
	if failed {
		return errReported
	}
	return nil
}

// lockHosts keeps another install from working on the same files. Where it cannot be had,
// each file is compared once more before it is replaced.
func (a *app) lockHosts(ctx context.Context) (unlock func()) {
	none := func() {}
	folder := a.stateFolder()
	if folder == "" || os.MkdirAll(folder, 0o700) != nil {
		return none
	}
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return none
	}
	lock, err := dir.Lock(ctx, "hosts.lock")
	if err != nil {
		_ = dir.Close()
		return none
	}
	return func() {
		_ = lock.Unlock() // the process ends, and the lock with it
		_ = dir.Close()
	}
}

// ownLimit bounds how long a host's own command may take.
const ownLimit = 30 * time.Second

// write makes a change, and keeps the file as it was.
func (a *app) write(ctx context.Context, c *change, name string) error {
	if folder := a.stateFolder(); folder != "" && c.before != nil {
		stem := fmt.Sprintf("%s-%s-%s-%s", a.engine.Now().Format("20060102T150405Z"), c.Host, c.Scope, strings.TrimPrefix(filepath.Base(c.Path), "."))
		var err error
		if c.Backup, err = hosts.Keep(filepath.Join(folder, "backups"), stem, c.before); err != nil {
			return fmt.Errorf("the file as it is cannot be kept: %w", err)
		}
	}
	switch {
	case len(c.Command) > 0:
		ctx, cancel := context.WithTimeout(ctx, ownLimit)
		defer cancel()
		out, err := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...).CombinedOutput() //nolint:gosec // the host's own program
		text, readErr := hosts.Read(c.Path)
		if err == nil && readErr == nil && has(c.host, text, name) == (c.Status == statusAdded) {
			return nil
		}
		return fmt.Errorf("%s did not take it: %s", strings.Join(c.Command[:3], " "), strings.TrimSpace(string(out)))
	case c.Status == statusRemoved && nothingLeft(c.after):
		return hosts.Delete(c.Path, c.before, c.after)
	}
	return hosts.Write(c.Path, c.before, c.after)
}

// nothingLeft reports whether a file says nothing, as one does that install has made.
func nothingLeft(text []byte) bool {
	left := strings.TrimSpace(string(text))
	return left == "" || left == "{}" || left == "{\n}"
}
