// Package catalog finds the agents, workflows and tasks of BMAD method installations, in every
// layout since version 4, and reads their files: from any fs.FS, changing nothing.
//
// A source is a folder with installations in or under it: a project, the person's home, a checkout. An
// installation is one tree of the method in it, recognized by the files on disk; manifests only add to the
// items. An item is an agent, a workflow or a task, with an entry file. A tree is a folder of an
// installation whose files may be read; nothing outside the trees ever is. A repository of the method or of
// a module, from which an installer would install, counts as an installation too.
//
// Catalog.Read returns the bytes of a file; package resolve fills in an item for a project.
//
// # Invariants
//
//   - Only the trees of an installation are read, because the rest of a repository or home is
//     not ours to serve (TestReadRefuses, TestMethodIsNeverChanged).
//   - Every skipped part is listed (TestSkipped).
package catalog

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// Module is a part of an installation.
type Module struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Installation is the folder, Layout the kind of installation.
	Installation string `json:"installation"`
	Layout       string `json:"layout"`
	Source       string `json:"source"`
	Agents       int    `json:"agents"`
	Workflows    int    `json:"workflows"`
	Tasks        int    `json:"tasks"`
}

// Catalog is the union of several sources. It does not change; Fresh reports whether the disk
// still matches it.
type Catalog struct {
	origins []*Origin
	items   []*Item
	names   map[Kind]map[string][]namedItem
}

// Origins returns the sources as they were scanned, in order.
func (c *Catalog) Origins() []*Origin { return c.origins }

// Empty reports whether the catalog has no installations.
func (c *Catalog) Empty() bool {
	return !slices.ContainsFunc(c.origins, func(f *Origin) bool { return len(f.Installations) > 0 })
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

// Problems returns the files and rows that were left out.
func (c *Catalog) Problems() []Problem {
	out := []Problem{}
	for _, f := range c.origins {
		out = append(out, f.problems...)
	}
	return out
}

// Modules returns the modules of every installation.
func (c *Catalog) Modules() []Module {
	var out []Module
	for _, f := range c.origins {
		for _, in := range f.Installations {
			for _, name := range in.moduleNames(c) {
				m := Module{Name: name, Version: cmp.Or(in.Modules[name], in.Version), Installation: in.Dir, Layout: in.Layout, Source: f.Name}
				counts := map[Kind]*int{Agent: &m.Agents, Workflow: &m.Workflows, Task: &m.Tasks}
				for _, i := range c.items {
					if i.Installation == in && i.Module == name {
						*counts[i.Kind]++
					}
				}
				out = append(out, m)
			}
		}
	}
	return out
}

// moduleNames returns the modules of an installation with items or named by the manifest.
func (in *Installation) moduleNames(c *Catalog) []string {
	var names []string
	for name := range in.Modules {
		names = append(names, name)
	}
	for _, i := range c.items {
		if i.Installation == in {
			names = append(names, i.Module)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Holds reports whether a source has an installation.
func (c *Catalog) Holds(source string) bool {
	return slices.ContainsFunc(c.origins, func(f *Origin) bool { return f.Name == source && len(f.Installations) > 0 })
}

// Fresh reports whether the disk is unchanged since the catalog was made.
func (c *Catalog) Fresh() bool {
	for _, f := range c.origins {
		top := f.topFolderNames()
		for name, was := range f.stamps {
			if was == (stamp{}) && !top.mayHold(name) {
				continue
			}
			if name == "." && f.Name == Project && top != nil {
				if !top.sameFolders(f.names) { // the source's own files do not belong to the method
					return false
				}
				continue
			}
			info, err := f.stat(name)
			var now stamp
			if err == nil {
				now = stampOf(info)
			}
			if now != was {
				return false
			}
		}
	}
	return true
}

// Folders returns the folders whose changes can change the catalog, as paths of the system: the searched
// ones, and the folders of the files read or looked for.
func (c *Catalog) Folders() []string {
	var out []string
	for _, f := range c.origins {
		if f.Dir == "" {
			continue
		}
		folders := map[string]bool{}
		for name, s := range f.stamps {
			if s.mode.IsDir() {
				folders[name] = true
				continue
			}
			above := path.Dir(name)
			if _, known := folders[above]; !known && (s != stamp{} || f.Serves(above)) {
				info, err := f.stat(above)
				folders[above] = err == nil && info.IsDir()
			}
		}
		for name, there := range folders {
			if there {
				out = append(out, filepath.Join(f.Dir, filepath.FromSlash(name)))
			}
		}
	}
	slices.Sort(out)
	return out
}

// namedItem is an item under one of its names. A lower level is better. Among an item's own names the
// source counts first, so nothing added later takes precedence over the project's own items.
type namedItem struct {
	item  *Item
	level int
}

// The levels at which a name identifies an item.
const (
	byName = iota // with or without the prefix of the method
	byAlias
	byCode
	byPerson
	byTitle
	byOther
)

// NoInstallation returns the error if no installation was found.
func NoInstallation() error {
	return fault.New(fault.NotFound, "no installation of the BMAD method was found").
		WithHint("install it into the project (npx bmad-method install), point BMAD_ROOT at the folder of an installation, or add a repository or package: bmad-mcp method sources add git+https://… or npm:NAME")
}
