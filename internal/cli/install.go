package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/hosts"
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
		RunE:      func(_ *cobra.Command, args []string) error { return a.uninstall(f, args) },
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

// which returns the hosts that a command is for.
func (f installFlags) which(names []string) ([]hosts.Host, error) {
	if f.scope != string(hosts.User) && f.scope != string(hosts.Project) {
		return nil, fault.New(fault.InvalidArgument, "--scope %q is none of user, project", f.scope).WithHint("leave it out for all your projects")
	}
	if strings.TrimSpace(f.name) == "" || strings.ContainsFunc(f.name, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' }) {
		return nil, fault.New(fault.InvalidArgument, "--name %q is no name for a server", f.name).WithHint("take letters, digits, - and _")
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

func (a *app) install(ctx context.Context, f installFlags, names []string) error {
	chosen, err := f.which(names)
	if err != nil {
		return err
	}
	project, err := a.project()
	if err != nil {
		return err
	}
	entry, err := f.entry()
	if err != nil {
		return err
	}
	m := hosts.This(project)
	if len(chosen) == 0 {
		for _, h := range hosts.All() {
			if f.print || h.Present(m) != "" {
				chosen = append(chosen, h)
			}
		}
	}
	if f.print {
		return a.printSnippets(m, hosts.Scope(f.scope), entry, chosen)
	}
	if len(chosen) == 0 {
		return fault.New(fault.NotFound, "none of the hosts is found on this machine: %s", strings.Join(hosts.IDs(), ", ")).
			WithHint("name yours (bmad-mcp install cursor), or see what to put where: bmad-mcp install --print")
	}
	changes := make([]change, len(chosen))
	for i, h := range chosen {
		if h.HasPlugin(m) && !f.force {
			changes[i] = change{Host: h.ID, Scope: hosts.Scope(f.scope), host: h, Status: statusSkipped, Why: h.Name + " has the plugin, which brings the server; an entry beside it would show each tool twice (--force adds it)"}
			continue
		}
		changes[i] = planned(m, hosts.Scope(f.scope), h, statusAdded, func(text []byte) ([]byte, error) { return h.Add(text, entry, f.force) })
		c := &changes[i]
		if c.Status == statusAdded && len(c.before) > 0 {
			if found, err := h.Find(c.before); err == nil && slices.ContainsFunc(found, func(e hosts.Found) bool { return e.Name == entry.Name && e.Folder == "" }) {
				c.Status = statusUpdated
			}
		}
		c.Command = ownCommand(*c, entry)
		c.Next = h.Next(c.Scope)
	}
	return a.apply(ctx, changes, f, entry.Name)
}

func (a *app) uninstall(f installFlags, names []string) error {
	chosen, err := f.which(names)
	if err != nil {
		return err
	}
	project, err := a.project()
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		chosen = hosts.All()
	}
	m := hosts.This(project)
	changes := make([]change, len(chosen))
	for i, h := range chosen {
		changes[i] = planned(m, hosts.Scope(f.scope), h, statusRemoved, func(text []byte) ([]byte, error) {
			if text == nil {
				return nil, nil
			}
			return h.Remove(text, f.name, f.force)
		})
		changes[i].Command = ownCommand(changes[i], hosts.Entry{Name: f.name})
	}
	return a.apply(context.Background(), changes, f, f.name)
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
		if strings.HasPrefix(name, "BMAD_") || name == "XDG_STATE_HOME" || name == "XDG_CONFIG_HOME" {
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
		c.Status, c.Why = statusSkipped, fmt.Sprintf("%s has no settings for one project", h.Name)
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
			c.Why += "; take another name (--name), or have it replaced (--force)"
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

// diffText shows a change as a diff.
func diffText(path string, before, after []byte) string {
	_, text, _ := strings.Cut(string(diff.Diff(path, before, path, after)), "\n") // the first line repeats the next two
	return text
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

// apply shows the changes and makes them.
func (a *app) apply(ctx context.Context, changes []change, f installFlags, name string) error {
	failed := false
	for i := range changes {
		c := &changes[i]
		c.DryRun = f.dryRun
		if !f.dryRun && c.Diff != "" {
			a.write(ctx, c, name)
		}
		failed = failed || c.Status == statusFailed
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

// ownLimit bounds how long a host's own command may take.
const ownLimit = 30 * time.Second

func (a *app) write(ctx context.Context, c *change, name string) {
	if len(c.Command) > 0 {
		ctx, cancel := context.WithTimeout(ctx, ownLimit)
		defer cancel()
		out, err := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...).CombinedOutput() //nolint:gosec // the host's own program
		if err == nil && a.nowThere(c, name) == (c.Status == statusAdded) {
			return
		}
		c.Status, c.Why = statusFailed, fmt.Sprintf("%s did not take it: %s", strings.Join(c.Command[:3], " "), strings.TrimSpace(string(out)))
		return
	}
	if folder := a.stateFolder(); folder != "" && c.before != nil {
		c.Backup = filepath.Join(folder, "backups", a.engine.Now().Format("20060102T150405Z")+"-"+c.Host+"-"+strings.TrimPrefix(filepath.Base(c.Path), "."))
	}
	var err error
	if c.Status == statusRemoved && nothingLeft(c.after) {
		err = hosts.Delete(c.Path, c.before, c.Backup)
	} else {
		err = hosts.Write(c.Path, c.before, c.after, c.Backup)
	}
	if err != nil {
		c.Status, c.Why, c.Backup = statusFailed, err.Error(), ""
	}
}

// nothingLeft reports whether a file says nothing, as one does that install has made.
func nothingLeft(text []byte) bool {
	left := strings.TrimSpace(string(text))
	return left == "" || left == "{}" || left == "{\n}"
}

// nowThere reports whether the host's file has the entry.
func (a *app) nowThere(c *change, name string) bool {
	text, err := hosts.Read(c.Path)
	if err != nil {
		return false
	}
	found, err := c.host.Find(text)
	return err == nil && slices.ContainsFunc(found, func(e hosts.Found) bool { return e.Name == name && e.Folder == "" })
}

func (a *app) printChange(c change) {
	words := map[string]string{
		statusAdded: "added", statusUpdated: "updated", statusUnchanged: "is set up already", statusRemoved: "removed",
		statusAbsent: "has no such entry", statusSkipped: "skipped", statusFailed: "not changed",
	}
	status := words[c.Status]
	if c.DryRun && c.Diff != "" {
		status = "would be " + status
	}
	fmt.Fprintf(a.out, "%s: %s", c.host.Name, status)
	if c.Path != "" {
		fmt.Fprintf(a.out, " (%s)", c.Path)
	}
	fmt.Fprintln(a.out)
	if c.Why != "" {
		fmt.Fprintln(a.out, "  "+c.Why)
	}
	if c.Diff != "" && c.Status != statusFailed {
		if len(c.Command) > 0 {
			fmt.Fprintln(a.out, "  by: "+shellWords(c.Command))
		}
		fmt.Fprintln(a.out, indent(strings.TrimRight(c.Diff, "\n")))
	}
	if c.Backup != "" {
		fmt.Fprintln(a.out, "  as it was: "+c.Backup)
	}
	if c.Next != "" && (c.Status == statusAdded || c.Status == statusUpdated) {
		fmt.Fprintln(a.out, "  now: "+c.Next)
	}
}

// shellWords shows a command as one would type it.
func shellWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsAny(w, " \"'\\$`&|;<>(){}*?!#~") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

func (a *app) printSnippets(m hosts.Machine, scope hosts.Scope, e hosts.Entry, chosen []hosts.Host) error {
	snippets := []map[string]any{}
	for _, h := range chosen {
		path := h.File(m, scope)
		if path == "" {
			continue
		}
		if a.asJSON {
			snippets = append(snippets, map[string]any{"host": h.ID, "scope": scope, "path": path, "snippet": h.Snippet(e)})
			continue
		}
		if len(chosen) > 1 {
			fmt.Fprintf(a.out, "# %s, in %s\n", h.Name, path)
		} else {
			fmt.Fprintf(a.err, "in %s:\n", path)
		}
		fmt.Fprint(a.out, h.Snippet(e))
		if len(chosen) > 1 {
			fmt.Fprintln(a.out)
		}
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"snippets": snippets})
	}
	return nil
}
