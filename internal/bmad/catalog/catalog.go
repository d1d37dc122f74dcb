// Package catalog finds what installations of the BMAD method hold, in every layout they
// have had from version 4 on, and reads it: from any fs.FS, changing nothing.
//
// A source is a folder with installations in or under it: a project, the person's home, a
// checkout. An installation is one tree of the method in it, told by what exists on disk;
// its manifests only enrich what was found. An item is an agent, a workflow or a task, with
// the file that begins it. A tree is a folder of an installation whose files may be read;
// nothing outside of the trees ever is. A repository of the method or of a module, from which
// an installer would install, counts as an installation too.
//
// There are two views of everything: the bytes of a file (Catalog.Read), and an item resolved
// (Catalog.Resolve): its persona merged with the customization of the project, its
// placeholders filled in, what it refers to as addresses.
package catalog

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
)

// Kind is what an item is.
type Kind string

// The kinds of items.
const (
	Agent    Kind = "agent"
	Workflow Kind = "workflow"
	Task     Kind = "task"
)

// Source is a folder with installations in or under it.
type Source struct {
	// Name tells the source from others: "project", "user", "git-…". Addresses of files
	// that are not the project's begin with it.
	Name string
	// Dir is the absolute path of FS, for placeholders; it may be empty.
	Dir string
	FS  fs.FS
	// Home is true for a home folder: only the places where the method keeps what is the
	// person's are looked at.
	Home bool
	// Main is true for what is in the place of the caller's project: its configuration and
	// customization go for the items of every source.
	Main bool
	// Only names the one folder to look at, besides the folders of skills; "" for all.
	Only string
}

// Project is the name of the source that is the caller's project. Its files need no name of
// their source in an address.
const Project = "project"

// Item is an agent, a workflow or a task.
type Item struct {
	Kind Kind `json:"kind"`
	// Name is its name in the method, such as "analyst" or "bmad-agent-analyst".
	Name   string `json:"name"`
	Module string `json:"module,omitempty"`
	// Title is a role ("Business Analyst") or a name for people; DisplayName is that of an
	// agent's person ("Mary").
	Title       string `json:"title,omitempty"`
	DisplayName string `json:"display_name,omitempty"`
	Icon        string `json:"icon,omitempty"`
	Description string `json:"description,omitempty"`
	// Phase is the phase of the method that it belongs to: analysis, planning, solutioning,
	// implementation, anytime; "" where nothing says so.
	Phase string `json:"phase,omitempty"`
	// Codes are those of the method's menus, such as CP.
	Codes []string `json:"codes,omitempty"`
	// Aliases are other names it is known by: ids, commands, names of earlier versions.
	Aliases []string `json:"aliases,omitempty"`
	// Source names the source.
	Source string `json:"source"`
	// URI is the address of the file that begins it; "" for an agent that only a
	// configuration describes.
	URI string `json:"uri,omitempty"`

	// Path is that file in its source, and Dir its folder.
	Path string `json:"-"`
	Dir  string `json:"-"`
	// Skill is true for a folder with SKILL.md.
	Skill bool `json:"-"`

	in      *found
	install *installation
	// others are names that it is found by where nobody else has them: what its own text calls
	// an agent that the project calls otherwise, and the parts of what an item does.
	others []string
	// intents say what a code, a name or an earlier name of it means that is a part of what it
	// does.
	intents map[string]string
}

// Intent returns which part of what the item does a name of it means, such as "create intent";
// "" where it is all.
func (i Item) Intent(name string) string {
	for old, intent := range i.intents {
		if normal(name) == normal(old) || normal(name) == short(old) {
			return intent
		}
	}
	return ""
}

func (i *Item) intend(name, part string) {
	if i.intents == nil {
		i.intents = map[string]string{}
	}
	i.intents[name] = part
}

// Short returns the name without what only says that it is of the method.
func (i Item) Short() string { return short(i.Name) }

// Full returns the name with its module.
func (i Item) Full() string {
	if i.Module == "" {
		return i.Name
	}
	return i.Module + "/" + i.Name
}

// Module is a part of an installation.
type Module struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Installation is the folder, and Layout its kind.
	Installation string `json:"installation"`
	Layout       string `json:"layout"`
	Source       string `json:"source"`
	Agents       int    `json:"agents"`
	Workflows    int    `json:"workflows"`
	Tasks        int    `json:"tasks"`
}

// Problem is something in a source that was left out, and why.
type Problem struct {
	Source string `json:"source"`
	Path   string `json:"path"`
	Text   string `json:"problem"`
}

// Catalog is what several sources hold together. It does not change; Fresh tells when the
// disk has.
type Catalog struct {
	sources []*found
	items   []*Item
	names   map[Kind]map[string][]match
}

// Open reads what the sources hold, those of the first before those of the next.
func Open(sources ...Source) *Catalog {
	c := &Catalog{}
	for _, s := range sources {
		c.sources = append(c.sources, scan(s, c.sources))
	}
	c.unite()
	for n, f := range c.sources {
		f.order = n
		f.Main = f.Main || f.Name == Project
	}
	c.merge()
	c.index()
	return c
}

// Empty reports whether there is no installation.
func (c *Catalog) Empty() bool {
	return !slices.ContainsFunc(c.sources, func(f *found) bool { return len(f.installs) > 0 })
}

// Items returns the items of some kinds, or of all, by kind, module and name.
func (c *Catalog) Items(kinds ...Kind) []Item {
	var out []Item
	for _, i := range c.items {
		if len(kinds) == 0 || slices.Contains(kinds, i.Kind) {
			out = append(out, *i)
		}
	}
	return out
}

// Problems returns what was left out.
func (c *Catalog) Problems() []Problem {
	out := []Problem{}
	for _, f := range c.sources {
		out = append(out, f.problems...)
	}
	return out
}

// Modules returns the modules of every installation.
func (c *Catalog) Modules() []Module {
	var out []Module
	for _, f := range c.sources {
		for _, in := range f.installs {
			for _, name := range in.moduleNames(c) {
				m := Module{Name: name, Version: cmp.Or(in.modules[name], in.version), Installation: in.dir, Layout: in.layout, Source: f.Name}
				for _, i := range c.items {
					if i.install != in || i.Module != name {
						continue
					}
					switch i.Kind {
					case Agent:
						m.Agents++
					case Workflow:
						m.Workflows++
					case Task:
						m.Tasks++
					}
				}
				out = append(out, m)
			}
		}
	}
	return out
}

// moduleNames returns the modules of an installation that have items, or that its manifest
// names.
func (in *installation) moduleNames(c *Catalog) []string {
	var names []string
	for name := range in.modules {
		names = append(names, name)
	}
	for _, i := range c.items {
		if i.install == in {
			names = append(names, i.Module)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unite tells the sources of each other: what a project lists and describes can be skills of
// the person's or of a checkout.
func (c *Catalog) unite() {
	skills := map[string]*Item{}
	for _, f := range c.sources {
		for id, i := range f.skills {
			if skills[id] == nil {
				skills[id] = i
			}
		}
	}
	for _, f := range c.sources {
		for _, m := range f.missing {
			if skills[m.id] == nil {
				f.problem(m.file, "%s", m.problem)
			}
		}
		f.items = slices.DeleteFunc(f.items, func(i *Item) bool { return i.Path == "" && skills[i.Name] != nil })
		for _, in := range f.installs {
			for id, i := range skills {
				i.Module = cmp.Or(i.Module, in.ids[id])
				if f.Name == Project && i.in != f && i.Kind == Agent {
					i.Module = cmp.Or(i.Module, in.agents[id].Module)
					i.called(in.agents[id])
				}
			}
		}
	}
}

// merge makes one list of what the sources have. An item of the same kind, module and name
// is one item; one whose module nothing tells is the one of that name that is there already.
func (c *Catalog) merge() {
	type key struct {
		kind         Kind
		module, name string
	}
	seen := map[key]*Item{}
	first := map[key]*Item{} // of each name, whatever its module
	for _, f := range c.sources {
		for _, i := range f.items {
			k := key{i.Kind, i.Module, short(i.Name)}
			bare := key{i.Kind, "", short(i.Name)}
			known := cmp.Or(seen[k], seen[bare])
			if i.Module == "" {
				known = cmp.Or(known, first[bare])
			}
			if known != nil {
				if known.in == f { // one installation that has it twice: what each says of it holds
					known.enrich(i)
				}
				continue
			}
			seen[k] = i
			first[bare] = cmp.Or(first[bare], i)
			c.items = append(c.items, i)
		}
	}
	slices.SortStableFunc(c.items, func(a, b *Item) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), strings.Compare(a.Module, b.Module), strings.Compare(a.Name, b.Name))
	})
}

func rank(k Kind) int { return slices.Index([]Kind{Agent, Workflow, Task}, k) }

// enrich takes over what another description of the same item adds.
func (i *Item) enrich(other *Item) {
	i.Title, i.DisplayName, i.Icon = cmp.Or(i.Title, other.Title), cmp.Or(i.DisplayName, other.DisplayName), cmp.Or(i.Icon, other.Icon)
	i.Description, i.Phase = cmp.Or(i.Description, other.Description), cmp.Or(i.Phase, other.Phase)
	for _, code := range other.Codes {
		i.Codes = appendNew(i.Codes, code)
	}
	for _, name := range append(slices.Clone(other.Aliases), other.Name) {
		if name != i.Name {
			i.Aliases = appendNew(i.Aliases, name)
		}
	}
}

func appendNew(list []string, values ...string) []string {
	seen := map[string]bool{}
	if len(values) > 16 {
		for _, v := range list {
			seen[v] = true
		}
	}
	for _, v := range values {
		if known := seen[v] || len(values) <= 16 && slices.Contains(list, v); v != "" && !known {
			list, seen[v] = append(list, v), true
		}
	}
	return list
}

// IsInstallation reports whether a folder is an installation itself, and not one that holds
// some.
func IsInstallation(fsys fs.FS, dir string) bool {
	f := &found{Source: Source{Dir: dir, FS: fsys}, stamps: map[string]stamp{}, skills: map[string]*Item{}}
	return f.installation(".")
}

// MayHold reports whether a folder looks like one with an installation of the usual name.
func MayHold(fsys fs.FS) bool {
	for _, name := range []string{"_bmad", ".bmad-core", "bmad/_cfg", ".bmad/_cfg", ".bmad/_config"} {
		if info, err := fs.Stat(fsys, name); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// Holds reports whether a source has an installation.
func (c *Catalog) Holds(source string) bool {
	return slices.ContainsFunc(c.sources, func(f *found) bool { return f.Name == source && len(f.installs) > 0 })
}
