package hosts

import (
	"bytes"
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
	first         bool // no entry of this server is there yet
	gone          bool // the file goes with the entry
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
	// Entry without arguments leaves those of an entry of this program as they are.
	Entry Entry
	// Folder is the Applier's.
	Folder string
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
	for _, e := range p.otherEntries(h, c) {
		c.Note(h.ExplainOther(p.Language, e, p.Entry.Name))
	}
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
	return c
}

// Uninstall returns the change to take the entry out of a host, and makes none.
func (p Plan) Uninstall(h Host) Change {
	c := p.newChange(h, Removed)
	if c.gone && c.Diff != "" {
		c.Why = p.Say("the file holds nothing else and goes")
	}
	for _, e := range p.otherEntries(h, c) {
		c.Note(p.Say("this server is still in %s, as %q", e.Place, e.Name))
	}
	return c
}

// ExplainOther describes the effect of an entry for this server beside one of a name.
func (h Host) ExplainOther(l lang.Language, other FoundEntry, name string) string {
	if other.Name == name {
		return l.Say("%s has %q in %s too, and takes only one of them", h.Name, name, other.Place)
	}
	return l.Say("%s has this server in %s too, as %q, and shows each tool twice", h.Name, other.Place, other.Name)
}

// otherEntries returns the entries for this server that a change leaves in the host's files; none if it failed.
func (p Plan) otherEntries(h Host, c Change) []FoundEntry {
	if c.Status == Failed {
		return nil
	}
	return slices.DeleteFunc(h.EntriesOf(p.Machine, p.Entry.Command), func(e FoundEntry) bool { return e.Place == c.Path && e.Name == p.Entry.Name })
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
	found, err := h.Find(c.before)
	c.first = !slices.ContainsFunc(found, func(e FoundEntry) bool { return Ours(e.Command, p.Entry.Command) })
	there := lastOf(found, p.Entry.Name)
	ours := there != nil && Ours(there.Command, p.Entry.Command)
	if ours && c.entry.Args == nil {
		c.entry.Args = there.Args
	}
	switch {
	case err != nil:
		return fail(p.Say("left alone: %v", err))
	case there == nil && done == Removed:
		c.Status = Absent
		return c
	case there == nil:
	case done == Added && there.startsAs(c.entry):
		c.Status = Unchanged
		return c
	case !ours && !p.Force:
		return fail(p.explainTaken(*there, done))
	case done == Added:
		c.Status = Updated
	}
	if !h.isTOML() {
		if done == Removed {
			err = p.takeOut(&c)
		} else {
			c.after, err = h.Add(c.before, c.entry)
		}
		if err != nil {
			return fail(p.Say("left alone: %v", err))
		}
	}
	p.chooseWay(h, &c, there)
	return c
}

// chooseWay says how a change is made: by the host's command, by us, or by the person. there is the present entry.
func (p Plan) chooseWay(h Host, c *Change, there *FoundEntry) {
	byCommand := h.commands != nil && p.Scope == User
	switch {
	case byCommand && c.Status == Updated && there.More:
		c.leaveToPerson(p.Language, ByHand, p.Say("%s has no command that keeps what else is set in the entry", h.Name))
	case byCommand && p.Machine.lookPath(h.program) != "":
		h.commands(c, p.Language)
	case byCommand:
		c.leaveToPerson(p.Language, ByHand, p.Say("%s is not on the PATH", h.program))
	case h.isTOML():
		c.leaveToPerson(p.Language, ByHand, p.Say("%s has no command for one project", h.Name))
	default:
		c.Diff = diffText(c.Path, c.before, c.after)
	}
}

// takeOut works out the text without the entry. Where install has found an empty list, or an empty file, it is left.
func (p Plan) takeOut(c *Change) (err error) {
	was, _ := Read(recordFile(p.Folder, c.Path)) // without a record the frame is taken for our own
	file := c.host.json
	hadList := file.hasServers(was)
	if c.after, err = file.removeEntry(c.before, c.entry.Name, hadList); err != nil || was == nil {
		c.gone = err == nil && isEmpty(c.after)
		return err
	}
	if added, err := file.addEntry(was, c.entry); err == nil {
		if left, err := file.removeEntry(added, c.entry.Name, hadList); err == nil && bytes.Equal(left, c.after) {
			c.after = was
		}
	}
	return nil
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
		c.entry.Pass = nil
		c.Note(l.Say("set this in the file's entry %q yourself; what else is in it can stay", c.entry.Name))
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
