package catalog

import (
	"cmp"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// Origin is a scanned source: its files, and the installations and items in them.
type Origin struct {
	*fileReader
	Installations []*Installation
	Items         []*Item
	// Skills has the skills by name and by id.
	Skills map[string]*Item
	// scripts is the folder of the scripts that skills run, if it is a repository, else "".
	scripts string
	// missing are the skills that are listed or described and that this source does not have.
	missing []missing
	// order is its place among the sources.
	order int
	// authors has a written for the path of each workflow that was listed.
	authors sync.Map
}

// script returns the path in a repository of a script that is named by its installed path.
func (f *Origin) script(name string) (string, bool) {
	first, rest, _ := strings.Cut(name, "/")
	rest, ok := strings.CutPrefix(rest, "scripts/")
	name = path.Join(f.scripts, rest)
	return name, ok && f.scripts != "" && IsNamed(first, "bmad") && f.Has(name)
}

// missing is a skill that a source lacks; another may have it.
type missing struct {
	id, file string
	problem  lang.Text
}

// renamed is the present name of a skill that was renamed.
type renamed struct {
	now string
	// intent is the part of it that replaces the earlier skill; "" is all of it.
	intent string
}

// staleRow is a row of a manifest whose file is missing from its place.
type staleRow struct {
	kind     Kind
	manifest string
	row      format.Row
}

// The layouts an installation can have.
const (
	// LayoutV4 is the layout of version 4: .bmad-core and expansion packs.
	LayoutV4 = "v4"
	// LayoutV6 is the layout of version 6: a folder of modules with manifests in _cfg or _config.
	LayoutV6 = "v6"
	// LayoutSkills is a folder of skills that belongs to no other installation.
	LayoutSkills = "skills"
)

// Installation is one tree of the method.
type Installation struct {
	// Dir is its folder in the source.
	Dir     string
	Layout  string
	Version string
	// Modules has the versions of its modules, by name.
	Modules map[string]string
	Origin  *Origin
	// agents has the agents that the configuration describes, by id.
	agents map[string]roster
	// ids has the modules of skills, by id, from the manifest.
	ids map[string]string
	// old has the present names of skills, by their former names.
	old map[string]renamed
	// stale are the rows of its manifests without a file.
	stale []staleRow
	// only is the module that the folder itself is, if it is not a folder of modules.
	only string
	// Described has the files that describe modules, by module.
	Described map[string]string
	// Helps are the files with codes and phases, if no manifest has them.
	Helps []string
}

// IsNamed reports whether a folder has a name, with or without the method's leading marks.
func IsNamed(base, name string) bool { return strings.TrimLeft(base, "._") == name }

// Places returns the possible places in the source of a path in a manifest: it starts at the
// project's folder, with whatever name the installation's folder had then, or at its own.
func (in *Installation) Places(name string) ([]string, bool) {
	base := path.Base(in.Dir)
	name = strings.ReplaceAll(strings.TrimPrefix(name, "{project-root}/"), "{bmad_folder}", base)
	if name == "" || !fs.ValidPath(name) || strings.Contains(name, `\`) {
		return nil, name == ""
	}
	var out []string
	first, rest, _ := strings.Cut(name, "/")
	if rest != "" && (first == base || IsNamed(first, "bmad")) {
		if in.only != "" {
			rest = strings.TrimPrefix(rest+"/", in.only+"/")
		}
		out = append(out, path.Join(in.Dir, rest))
	}
	return append(out, path.Join(in.Dir, name)), true
}

// ModuleOf returns the module of a file of the installation.
func (in *Installation) ModuleOf(name string) string {
	module, _ := in.within(name)
	return module
}

// within returns the module of a path of the installation, and the path in that module.
func (in *Installation) within(name string) (module, rest string) {
	if in.Dir != "." {
		name = strings.TrimPrefix(strings.TrimPrefix(name, in.Dir), "/")
	}
	if in.only != "" {
		return in.only, name
	}
	module, rest, _ = strings.Cut(name, "/")
	return module, rest
}

func (in *Installation) manifestOf(name string) string { return path.Join(in.Dir, "_config", name) }

// describe adds the agents that a file describes.
func (in *Installation) describe(values map[string]any, file string, own bool) {
	agents, _ := values["agents"].(map[string]any)
	for id, v := range agents {
		if t, ok := v.(map[string]any); ok {
			in.describeAgent(id, t, file, own)
		}
	}
}

func (in *Installation) describeAgent(id string, t map[string]any, file string, own bool) {
	known := in.agents[id]
	says := known.says
	if own {
		says = cmp.Or(format.PlainString(t["description"]), says)
	}
	in.agents[id] = roster{
		Module: cmp.Or(format.PlainString(t["module"]), known.Module),
		Name:   cmp.Or(format.PlainString(t["name"]), known.Name), Title: cmp.Or(format.PlainString(t["title"]), known.Title),
		Icon: cmp.Or(format.PlainString(t["icon"]), known.Icon), Description: cmp.Or(format.PlainString(t["description"]), known.Description),
		file: cmp.Or(known.file, file), own: own || known.own, says: says,
	}
}

// members adds the agents of a module's roster, a list of tables that each name a skill.
func (in *Installation) members(values map[string]any, file, module string) {
	members, _ := values["members"].([]any)
	for _, v := range members {
		t, ok := v.(map[string]any)
		if id := format.PlainString(t["skill"]); ok && id != "" {
			in.describeAgent(id, t, file, false)
			known := in.agents[id]
			known.Module = cmp.Or(known.Module, module)
			in.agents[id] = known
		}
	}
}
