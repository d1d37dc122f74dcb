package hosts

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// The values of Change.Status.
const (
	Added     = "added"
	Updated   = "updated"
	Unchanged = "unchanged"
	Removed   = "removed"
	Absent    = "absent"
	Skipped   = "skipped"
	Failed    = "failed"
)

// Change is the effect of install or uninstall on one host.
type Change struct {
	Host   string `json:"host"`
	Scope  Scope  `json:"scope"`
	Path   string `json:"path,omitempty"`
	Status string `json:"status"`
	// DryRun is true if nothing was changed, and the status is hypothetical.
	DryRun bool   `json:"dry_run,omitempty"`
	Why    string `json:"why,omitempty"`
	Diff   string `json:"diff,omitempty"`
	// Command is the host's own command that makes the change, if it has a good one.
	Command []string `json:"command,omitempty"`
	Backup  string   `json:"backup,omitempty"`
	Next    string   `json:"next,omitempty"`
	// Allow offers the rule by which the host does not ask about each call of the workflow's tool.
	Allow string `json:"allow,omitempty"`

	host          Host
	entry         string // its name
	before, after []byte
}

// Name returns the host's name for people.
func (c Change) Name() string { return c.host.Name }

// Note adds a note to the reasons, unless it is "".
func (c *Change) Note(note string) {
	if c.Why != "" && note != "" {
		c.Why += "; "
	}
	c.Why += note
}

// Plan is an entry to be put into the hosts of a machine, or taken out of them.
type Plan struct {
	lang.Language // of the results

	Machine Machine
	Scope   Scope
	Entry   Entry
	// Force also changes an entry of this name that starts another program.
	Force bool
}

// Install returns the change that puts the entry into a host, and makes none.
func (p Plan) Install(h Host) Change {
	if h.HasPlugin(p.Machine) && !p.Force {
		return Change{Host: h.ID, Scope: p.Scope, host: h, entry: p.Entry.Name, Status: Skipped,
			Why: p.Say("%s has the plugin, which brings the server; an entry beside it would show each tool twice (--force adds it)", h.Name)}
	}
	c := p.change(h, Added, func(text []byte) ([]byte, error) { return h.Add(text, p.Entry, p.Force) })
	if c.Status == Added && h.has(c.before, p.Entry.Name) {
		c.Status = Updated
	}
	c.Command = ownCommand(c, p.Entry)
	if c.Status != Added && c.Status != Updated {
		return c
	}
	c.Next = h.Next(p.Scope).In(p.Language)
	if h.rules != nil { // not bmad-confirm: its decision is the person's
		c.Allow = p.Say("put \"mcp__%s__bmad-task\" into permissions.allow of %s", p.Entry.Name, h.rules(p.Machine, p.Scope))
	}
	if _, err := exec.LookPath(p.Entry.Command); err != nil {
		c.Note(p.Say("%s is not there, or cannot be run: the host will not be able to start it", p.Entry.Command))
	}
	if strings.Contains(filepath.ToSlash(p.Entry.Command), "/_npx/") {
		c.Note(p.Say("%s is in the cache of npx, which npm may clear: install the program (npm install -g bmad-mcp), then run bmad-mcp install again", p.Entry.Command))
	}
	other := map[Scope]Scope{User: Project, Project: User}[p.Scope]
	if path := h.File(p.Machine, other); path != "" && path != c.Path {
		if text, err := Read(path); err == nil && h.has(text, p.Entry.Name) {
			c.Note(p.Say("%s has %q in %s too, and takes only one of them", h.Name, p.Entry.Name, path))
		}
	}
	return c
}

// Uninstall returns the change that takes the entry out of a host, and makes none.
func (p Plan) Uninstall(h Host) Change {
	c := p.change(h, Removed, func(text []byte) ([]byte, error) {
		if text == nil {
			return nil, nil
		}
		return h.Remove(text, p.Entry.Name, p.Entry.Command, p.Force)
	})
	if c.Status == Removed && isEmpty(c.after) {
		c.Why = p.Say("the file holds nothing else and goes")
	}
	c.Command = ownCommand(c, p.Entry)
	return c
}

// has reports whether a host's file has an entry of a name.
func (h Host) has(text []byte, name string) bool {
	found, err := h.Find(text)
	return err == nil && slices.ContainsFunc(found, func(e FoundEntry) bool { return e.Name == name && e.Folder == "" })
}

// change returns the change that an edit makes to a host's file.
func (p Plan) change(h Host, done string, edit func([]byte) ([]byte, error)) Change {
	c := Change{Host: h.ID, Scope: p.Scope, host: h, entry: p.Entry.Name, Path: h.File(p.Machine, p.Scope)}
	if c.Path == "" {
		c.Status, c.Why = Failed, p.Say("%s has no settings for one project", h.Name)
		return c
	}
	var err error
	if c.before, err = Read(c.Path); err != nil {
		c.Status, c.Why = Failed, lang.Of(err).In(p.Language)
		return c
	}
	if c.after, err = edit(c.before); err != nil {
		c.Status, c.Why = Failed, p.Say("left alone: %v", err)
		var taken Taken
		switch {
		case !errors.As(err, &taken):
		case done == Removed:
			c.Why = p.Say("left alone: %v; --force takes it out all the same", err)
		default:
			c.Why = p.Say("left alone: %v; take another name (--name), or have it replaced (--force)", err)
		}
		return c
	}
	if string(c.before) == string(c.after) {
		c.Status = Unchanged
		if done == Removed {
			c.Status = Absent
		}
		return c
	}
	c.Status = done
	c.Diff = diffText(c.Path, c.before, c.after)
	return c
}

// ownCommand returns the host's own command for a change, if that is safer: Claude Code's sessions
// write its file too.
func ownCommand(c Change, e Entry) []string {
	program, err := exec.LookPath(c.host.Program())
	if err != nil || c.Host != "claude-code" || c.Scope != User {
		return nil
	}
	switch c.Status {
	case Removed:
		return []string{program, "mcp", "remove", "--scope", "user", e.Name}
	case Added:
		server := map[string]any{"type": "stdio", "command": e.Command}
		if len(e.Args) > 0 {
			server["args"] = e.Args
		}
		if data, err := json.Marshal(server); err == nil {
			return []string{program, "mcp", "add-json", "--scope", "user", e.Name, string(data)}
		}
	}
	return nil // it would refuse to change an existing entry
}

// diffText shows a change as a diff without context lines, which may hold keys.
func diffText(path string, before, after []byte) string {
	_, text, _ := strings.Cut(string(diff.Diff(path, before, path, after)), "\n") // the first line repeats the next two
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line[0] != ' ' {
			out.WriteString(line)
		}
	}
	return out.String()
}
