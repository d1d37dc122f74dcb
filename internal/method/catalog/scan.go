package catalog

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// scan fills an origin.
type scan struct {
	origin *Origin
	// before are the sources before this one, which may list its skills.
	before []*Origin
	// installed has the folder of each module installed in the project, set after the search of the
	// project's sources.
	installed map[string]string
	// byShort has the items by kind and short name.
	byShort map[itemKey][]*Item
}

func newScan(s Source, before []*Origin) *scan {
	files := &fileReader{Source: s, stamps: map[string]stamp{}, names: s.topFolderNames()}
	return &scan{origin: &Origin{fileReader: files, Skills: map[string]*Item{}}, before: before}
}

// itemKey is shared by possibly equal items of one source.
type itemKey struct {
	kind Kind
	name string
}

// newInstallation adds an installation to the source.
func (s *scan) newInstallation(dir, layout string) *Installation {
	in := &Installation{
		Dir: dir, Layout: layout, Origin: s.origin, Modules: map[string]string{}, agents: map[string]roster{},
		ids: map[string]string{}, old: map[string]renamed{}, Described: map[string]string{},
	}
	s.origin.Installations = append(s.origin.Installations, in)
	return in
}

// maxName bounds the names of items, in bytes: they go into lists, and into the names of tools.
const maxName = 200

// addItem keeps an item.
func (s *scan) addItem(i *Item) {
	if len(i.Name) > maxName || len(i.Module) > maxName {
		s.origin.addProblem(i.Path, "its name or module has more than %d bytes", maxName)
		return
	}
	for _, field := range []*string{&i.Title, &i.DisplayName, &i.Icon} {
		*field = visible.Fit(*field, maxName)
	}
	i.Aliases = slices.DeleteFunc(i.Aliases, func(alias string) bool { return len(alias) > maxName || alias == i.Name })
	i.Origin, i.Source = s.origin, s.origin.Name
	i.URI = s.origin.URI(i.Path)
	s.origin.Items = append(s.origin.Items, i)
	if s.byShort == nil {
		s.byShort = map[itemKey][]*Item{}
	}
	key := itemKey{i.Kind, withoutPrefix(i.Name)}
	s.byShort[key] = append(s.byShort[key], i)
}

// ownerOf returns the installation of a skill in a shared folder: the one with the skill in its lists, else
// the first of the source, else the folder itself.
func (s *scan) ownerOf(dir, id string) *Installation {
	var first *Installation
	for _, in := range s.origin.Installations {
		if _, listed := in.ids[id]; listed {
			return in
		}
		if first == nil && in.Layout == LayoutV6 {
			first = in
		}
	}
	if first != nil {
		return first
	}
	for _, in := range s.origin.Installations {
		if in.Layout == LayoutSkills && in.Dir == dir {
			return in
		}
	}
	return s.newInstallation(dir, LayoutSkills)
}

// addScripts adds the scripts copied to _bmad/scripts by installers, for skills to run.
func (s *scan) addScripts(dir string) {
	if s.origin.scripts == "" && s.origin.isDir(dir) {
		s.origin.scripts = dir
		s.origin.trees = append(s.origin.trees, dir)
	}
}
