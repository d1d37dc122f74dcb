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

// Origin is a scanned source with all files, installations and items.
type Origin struct {
	*fileReader
	Installations []*Installation
	Items         []*Item
	// Skills has the skills by name and by id.
	Skills map[string]*Item
	// scripts is the folder of the scripts for skills, if the source is a repository, else "".
	scripts string
	// missing are the skills listed or described, but not found in this source.
	missing []missing
	// order is the place among the sources.
	order int
	// authors has a written for the path of each listed workflow.
	authors sync.Map
}

// scriptPath returns the path in a repository of a script with a given installed path.
func (f *Origin) scriptPath(name string) (string, bool) {
	first, rest, _ := strings.Cut(name, "/")
	rest, ok := strings.CutPrefix(rest, "scripts/")
	name = path.Join(f.scripts, rest)
	return name, ok && f.scripts != "" && IsNamed(first, "bmad") && f.Has(name)
}

// missing is a skill without a folder in the source; another source may have it.
type missing struct {
	id, file string
	problem  lang.Text
}

// renamed is the present name of a renamed skill.
type renamed struct {
	now string
	// intent is the part of the skill in place of the earlier one; "" is all of it.
	intent string
}

// staleRow is a row of a manifest whose file is missing.
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
	// LayoutSkills is a folder of skills outside every other installation.
	LayoutSkills = "skills"
)

// Installation is one tree of the method.
type Installation struct {
	// Dir is the installation's folder in the source.
	Dir     string
	Layout  string
	Version string
	// Modules has the versions of the modules, by name.
	Modules map[string]string
	Origin  *Origin
	// agents has the agents of the configuration, by id.
	agents map[string]roster
	// ids has the modules of skills, by id, from the manifest.
	ids map[string]string
	// old has the present names of skills, by their former names.
	old map[string]renamed
	// stale are the rows of the manifests without a file.
	stale []staleRow
	// only is the module of a folder that is a module itself, not a folder of modules.
	only string
	// Described has the files with the description of each module.
	Described map[string]string
	// Helps are the files with codes and phases, if no manifest has them.
	Helps []string
}

// IsNamed reports whether a folder has a name, with or without the method's leading marks.
func IsNamed(base, name string) bool { return strings.TrimLeft(base, "._") == name }

// Places returns the possible places in the source of a path in a manifest. The path starts at the
// project's folder, with any earlier name of the installation's folder, or at the installation's folder.
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

// ModuleOf returns the module of a file of the installation; "" for one beside the modules.
func (in *Installation) ModuleOf(name string) string {
	module, rest := in.moduleAndPath(name)
	if rest == "" {
		return ""
	}
	return module
}

// Root returns the folder of a module.
func (in *Installation) Root(module string) string {
	if in.only != "" || in.Layout == LayoutV4 {
		return in.Dir
	}
	return path.Join(in.Dir, module)
}

// moduleAndPath returns the module of a path in the installation, and the path in the module.
func (in *Installation) moduleAndPath(name string) (module, rest string) {
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

// addDescribedAgents adds the agents described in a file.
func (in *Installation) addDescribedAgents(values map[string]any, file string, own bool) {
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

// addMembers adds the agents of a module's roster, a list of tables with the name of a skill in each.
func (in *Installation) addMembers(values map[string]any, file, module string) {
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
