package catalog

import (
	"cmp"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Open scans the sources. Items of earlier sources take precedence.
func Open(sources ...Source) *Catalog {
	c := &Catalog{}
	for _, s := range sources {
		c.origins = append(c.origins, scanSource(s, c.origins))
	}
	c.shareSkills()
	for n, f := range c.origins {
		f.order = n
		f.Main = f.Main || f.Name == Project
	}
	c.mergeItems()
	c.nameEmptyModules()
	c.indexNames()
	return c
}

// nameEmptyModules names the installed modules without any item. The missing skills of a list are named
// already.
func (c *Catalog) nameEmptyModules() {
	used := map[string]bool{}
	for _, i := range c.items {
		used[i.Module] = true
	}
	for _, f := range c.origins {
		for _, in := range f.Installations {
			for _, id := range in.ids {
				used[id] = true
			}
			for _, module := range slices.Sorted(maps.Keys(in.Modules)) {
				if !used[module] && in.Layout != LayoutSkills {
					f.addProblem(in.Root(module), "the module %q is installed, and no agent, workflow or task of it was found", module)
				}
			}
		}
	}
}

// shareSkills connects the sources: a project can list and describe skills in the person's home or in a
// checkout.
func (c *Catalog) shareSkills() {
	skills := map[string]*Item{}
	for _, f := range c.origins {
		for id, i := range f.Skills {
			if skills[id] == nil {
				skills[id] = i
			}
		}
	}
	for _, f := range c.origins {
		for _, m := range f.missing {
			if skills[m.id] == nil {
				f.addProblem(m.file, "%s", m.problem)
			}
		}
		f.Items = slices.DeleteFunc(f.Items, func(i *Item) bool { return i.Path == "" && skills[i.Name] != nil })
		for _, in := range f.Installations {
			for id, i := range skills {
				i.Module = cmp.Or(i.Module, in.ids[id])
				if f.Name == Project && i.Origin != f && i.Kind == Agent {
					i.Module = cmp.Or(i.Module, in.agents[id].Module)
					i.applyRoster(in.agents[id])
				}
			}
		}
	}
}

// mergeItems makes one list of the items of all sources. Items of the same kind, module and name are one; an
// item of an unknown module counts as the known one of the same name.
func (c *Catalog) mergeItems() {
	type key struct {
		kind         Kind
		module, name string
	}
	seen := map[key]*Item{}
	first := map[key]*Item{} // of each name, in any module
	for _, f := range c.origins {
		for _, i := range f.Items {
			k := key{i.Kind, i.Module, withoutPrefix(i.Name)}
			bare := key{i.Kind, "", withoutPrefix(i.Name)}
			known := cmp.Or(seen[k], seen[bare])
			if i.Module == "" {
				known = cmp.Or(known, first[bare])
			}
			if known != nil {
				if known.Origin == f { // described twice in one source: both descriptions count
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
		return cmp.Or(cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)), strings.Compare(a.Module, b.Module), strings.Compare(a.Name, b.Name))
	})
}

// IsInstallation reports whether a folder is an installation itself, as opposed to containing some.
func IsInstallation(fsys fs.FS, dir string) bool {
	return newScan(Source{Dir: dir, FS: fsys}, nil).addInstallation(".")
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
