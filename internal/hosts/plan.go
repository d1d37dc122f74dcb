package hosts

import (
	"os/exec"
	"path/filepath"
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
	// ByHand is a change left to the person.
	ByHand = "by_hand"
	Failed = "failed"
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
	// Commands are the host's own for the change, if it has some.
	Commands [][]string `json:"commands,omitempty"`
	// Snippet is the text for the person to put into the file themselves.
	Snippet string `json:"snippet,omitempty"`
	Backup  string `json:"backup,omitempty"`
	Next    string `json:"next,omitempty"`
	// Allow offers the rule by which the host does not ask about each call of the workflow's tool.
	Allow string `json:"allow,omitempty"`

	host          Host
	entry         Entry
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
	// Force also changes an entry of this name for another program.
	Force bool
}

// Install returns the change to put the entry into a host, and makes none.
func (p Plan) Install(h Host) Change {
	if h.HasPlugin(p.Machine) && !p.Force {
		return Change{Host: h.ID, Scope: p.Scope, host: h, Status: Skipped,
			Why: p.Say("%s has the plugin, which brings the server; an entry beside it would show each tool twice (--force adds it)", h.Name)}
	}
	c := p.newChange(h, Added)
	if c.Status == Failed || c.Status == Unchanged {
		return c
	}
	c.Next = h.Next(p.Scope).In(p.Language)
	if h.rules != nil { // not bmad-confirm: only the person decides
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
		if text, err := Read(path); err == nil {
			if there, err := h.findEntry(text, p.Entry.Name); err == nil && there != nil {
				c.Note(p.Say("%s has %q in %s too, and takes only one of them", h.Name, p.Entry.Name, path))
			}
		}
	}
	return c
}

// Uninstall returns the change to take the entry out of a host, and makes none.
func (p Plan) Uninstall(h Host) Change {
	c := p.newChange(h, Removed)
	if c.Diff != "" && isEmpty(c.after) {
		c.Why = p.Say("the file holds nothing else and goes")
	}
	return c
}

// newChange returns the change to add the entry to a host's file, or remove it.
func (p Plan) newChange(h Host, done string) Change {
	c := Change{Host: h.ID, Scope: p.Scope, host: h, entry: p.Entry, Path: h.File(p.Machine, p.Scope), Status: done}
	fail := func(why string) Change {
		c.Status, c.Why = Failed, why
		return c
	}
	if c.Path == "" {
		return fail(p.Say("%s has no settings for one project", h.Name))
	}
	var err error
	if c.before, err = Read(c.Path); err != nil {
		return fail(lang.Of(err).In(p.Language))
	}
	there, err := h.findEntry(c.before, p.Entry.Name)
	switch {
	case err != nil:
		return fail(p.Say("left alone: %v", err))
	case there == nil && done == Removed:
		c.Status = Absent
		return c
	case there == nil:
	case done == Added && there.startsAs(p.Entry):
		c.Status = Unchanged
		return c
	case !Ours(there.Command, p.Entry.Command) && !p.Force:
		return fail(p.explainTaken(*there, done))
	case done == Added:
		c.Status = Updated
	}
	if !h.isTOML() {
		if done == Removed {
			c.after, err = h.Remove(c.before, p.Entry.Name)
		} else {
			c.after, err = h.Add(c.before, p.Entry)
		}
		if err != nil {
			return fail(p.Say("left alone: %v", err))
		}
	}
	byCommand := h.commands != nil && p.Scope == User
	switch {
	case byCommand && p.Machine.lookPath(h.program) != "":
		h.commands(&c, p.Language)
	case byCommand:
		c.leaveToPerson(p.Language, ByHand, p.Say("%s is not on the PATH", h.program))
	case h.isTOML():
		c.leaveToPerson(p.Language, ByHand, p.Say("%s has no command for one project", h.Name))
	default:
		c.Diff = diffText(c.Path, c.before, c.after)
	}
	return c
}

// explainTaken reports another server of the name.
func (p Plan) explainTaken(there FoundEntry, done string) string {
	is := p.Say("%q is another server there, which runs %s", there.Name, there.Command)
	if there.Command == "" {
		is = p.Say("%q is another server there", there.Name)
	}
	if done == Removed {
		return p.Say("left alone: %v; --force takes it out all the same", is)
	}
	return p.Say("left alone: %v; take another name (--name), or have it replaced (--force)", is)
}

// leaveToPerson leaves a change to the person, with a status, and says why and how.
func (c *Change) leaveToPerson(l lang.Language, status, why string) {
	c.Note(why)
	switch c.Status {
	case Removed:
		c.Note(l.Say("take the entry %q out of the file yourself", c.entry.Name))
	case Updated:
		c.Note(l.Say("put this into the file yourself, in place of its entry %q", c.entry.Name))
	default:
		c.Note(l.Say("put this into the file yourself"))
	}
	if c.Status != Removed {
		c.Snippet = c.host.Snippet(c.entry)
	}
	c.Status = status
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
