package catalog

import (
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Marks of the method in the folder of a skill.
const (
	customizeFile = "customize.toml"
	skillManifest = "bmad-skill-manifest.yaml"
	moduleFile    = "module-manifest.toml"
	bmodFile      = "bmod.toml"
)

// launcher is what the body of a skill has that only sends its reader to an agent's file.
const launcher = "<agent-activation"

// skillsIn takes the skills of a folder that holds those of many makers.
func (f *found) skillsIn(dir string) {
	if !f.isDir(dir) {
		return
	}
	module, described, all := "", "", false
	if !f.Home && f.Name != Project && (dir == "." || dir == "skills") { // somebody has named it as a source of the method
		module, described = f.setUp(dir)
		all = module != "" || dir == "skills"
	}
	for _, e := range f.list(dir) {
		if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		at := path.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 && !f.leadsToFolder(at) {
			continue
		}
		if slices.ContainsFunc(f.installs, func(in *installation) bool { return in.dir == at }) {
			continue
		}
		names := f.list(at)
		switch {
		case has(names, bmodFile) && f.hub(dir, at, names):
		case !has(names, "SKILL.md"):
		case all || f.ofMethod(e.Name(), names):
			f.memberSkill(at, names, module, described)
		}
	}
}

// leadsToFolder reports whether a link leads to a folder that may be looked into.
func (f *found) leadsToFolder(link string) bool {
	info, err := fs.Stat(f.FS, link)
	if err == nil && info.IsDir() && !f.leadsUp(link) {
		return true
	}
	if strings.HasPrefix(path.Base(link), "bmad") {
		f.problem(link, "it is a symbolic link that leads out of the folder, up in it, or nowhere")
	}
	return false
}

// memberSkill takes a skill of a module that a folder describes; both may be unknown.
func (f *found) memberSkill(dir string, names []fs.DirEntry, module, described string) {
	in := f.owner(path.Dir(dir), path.Base(dir))
	if module != "" && described != "" && in.described[module] == "" {
		f.describes(in, described, module)
	}
	f.skill(dir, names, in, module)
}

// ofMethod tells the skills of the method from those of others.
func (f *found) ofMethod(id string, names []fs.DirEntry) bool {
	if id == "bmad" || strings.HasPrefix(id, "bmad-") || strings.HasPrefix(id, "bmod-") {
		return true
	}
	for _, mark := range []string{skillManifest, moduleFile, bmodFile} {
		if has(names, mark) {
			return true
		}
	}
	return slices.ContainsFunc(append([]*found{f}, f.before...), func(f *found) bool {
		return slices.ContainsFunc(f.installs, func(in *installation) bool {
			_, listed := in.ids[id]
			_, described := in.agents[id]
			return listed || described
		})
	})
}

// owner returns the installation that a skill of a shared folder belongs to: the one that
// lists it, else the first of its source, else the folder itself.
func (f *found) owner(dir, id string) *installation {
	var first *installation
	for _, in := range f.installs {
		if _, listed := in.ids[id]; listed {
			return in
		}
		if first == nil && in.layout == LayoutV6 {
			first = in
		}
	}
	if first != nil {
		return first
	}
	for _, in := range f.installs {
		if in.layout == LayoutSkills && in.dir == dir {
			return in
		}
	}
	return f.install(dir, LayoutSkills)
}

// skill takes a folder with SKILL.md.
func (f *found) skill(dir string, names []fs.DirEntry, in *installation, module string) {
	file := path.Join(dir, "SKILL.md")
	head := f.head(file)
	id := path.Base(dir)
	if strings.Contains(head, launcher) {
		f.trees = append(f.trees, dir)
		return
	}
	if strings.TrimSpace(head) == "" {
		f.problem(file, "it is empty")
		return
	}
	if in == nil {
		in = f.owner(path.Dir(dir), id)
	}
	front, body, ok := frontMatter(head)
	if !ok && strings.HasPrefix(head, "---\n") {
		f.problem(file, "its front matter has no end; what it says was left out")
	}
	i := &Item{Kind: Task, Name: id, Skill: true, Path: file, Dir: dir, install: in, Description: front.Description}
	i.Aliases = appendNew(nil, front.Name)
	if front.Name == id {
		i.Aliases = nil
	}
	i.Module = cmp.Or(in.ids[id], in.agents[id].Module, f.marked(dir, names, in), module)
	i.Phase = phase(path.Dir(dir) + "/") // the folders it lies in: its own name may be sprint-planning
	f.trees = append(f.trees, dir)
	if known := f.skills[id]; known != nil {
		return // the same skill for another host
	}
	title := heading(body)
	if strings.EqualFold(title, "overview") {
		title = ""
	}
	f.classify(i, names, title)
	f.skills[id] = i
	f.add(i)
}

// classify tells what a skill is: by what its customization holds, which is the installer's
// own rule, else by its manifest, else by its files. Its name tells nothing.
func (f *found) classify(i *Item, names []fs.DirEntry, title string) {
	settings := map[string]any{}
	if has(names, customizeFile) {
		settings = f.toml(path.Join(i.Dir, customizeFile))
	}
	var manifest struct {
		Type        string `yaml:"type"`
		DisplayName string `yaml:"displayName"`
		Title       string `yaml:"title"`
		Icon        string `yaml:"icon"`
	}
	if has(names, skillManifest) {
		f.yaml(path.Join(i.Dir, skillManifest), &manifest)
	}
	agent, isAgent := settings["agent"].(map[string]any)
	_, isWorkflow := settings["workflow"].(map[string]any)
	switch {
	case isAgent || manifest.Type == "agent":
		i.Kind = Agent
		i.DisplayName = cmp.Or(plainString(agent["name"]), manifest.DisplayName)
		i.Title = cmp.Or(plainString(agent["title"]), manifest.Title)
		i.Icon = cmp.Or(plainString(agent["icon"]), manifest.Icon)
		i.called(i.install.agents[i.Name])
	case isWorkflow, has(names, "workflow.md"), has(names, "workflow.yaml"), hasSteps(names):
		i.Kind, i.Title = Workflow, title
	default:
		i.Title = title
	}
}

// hasSteps reports whether a skill is done in steps of a file each.
func hasSteps(names []fs.DirEntry) bool {
	return slices.ContainsFunc(names, func(e fs.DirEntry) bool {
		return e.Name() == "steps" && e.IsDir() || strings.HasPrefix(e.Name(), "step-") && path.Ext(e.Name()) == ".md"
	})
}

func plainString(v any) string {
	s, _ := v.(string)
	return oneLine(s)
}

// marked returns the module that a skill's own files name, and keeps its version.
func (f *found) marked(dir string, names []fs.DirEntry, in *installation) string {
	for _, mark := range []string{moduleFile, bmodFile} {
		if !has(names, mark) {
			continue
		}
		values := f.toml(path.Join(dir, mark))
		for _, table := range []any{values, values["skill"], values["bmod"]} {
			t, ok := table.(map[string]any)
			if !ok {
				continue
			}
			if name := cmp.Or(plainString(t["module"]), plainString(t["bmod"]), plainString(t["code"])); name != "" {
				name = strings.TrimPrefix(name, "bmod-")
				if version := plainString(t["version"]); in.modules[name] == "" {
					in.modules[name] = version
				}
				return name
			}
		}
	}
	if has(names, skillManifest) {
		var manifest struct {
			Module string `yaml:"module"`
		}
		if yaml.Unmarshal([]byte(f.read(path.Join(dir, skillManifest))), &manifest) == nil {
			return manifest.Module
		}
	}
	return ""
}

// hub takes a folder that describes a module whose skills lie beside it. A SKILL.md in it
// only keeps hosts from passing it over.
func (f *found) hub(root, dir string, names []fs.DirEntry) bool {
	table, ok := f.toml(path.Join(dir, bmodFile))["bmod"].(map[string]any)
	if !ok {
		return false
	}
	in := f.owner(root, path.Base(dir))
	f.trees = append(f.trees, dir)
	code := cmp.Or(plainString(table["code"]), strings.TrimPrefix(path.Base(dir), "bmod-"))
	in.modules[code] = plainString(table["version"])
	if skills, ok := table["skills"].([]any); ok {
		for _, s := range skills {
			in.ids[plainString(s)] = code
		}
	}
	if has(names, "roster.toml") {
		name := path.Join(dir, "roster.toml")
		roster := f.toml(name)
		in.describe(roster, name, false)
		in.members(roster, name, code)
	}
	return true
}

// renamedRow finds a row of the table that says what became of a skill.
var renamedRow = regexp.MustCompile("(?m)^\\|\\s*`([a-z0-9-]+)`\\s*\\|\\s*`([a-z0-9-]+)`(?:\\s*\\(([^)|]+)\\))?")

// renamed reads which names skills had before.
func (f *found) renamed(in *installation, name string) {
	for _, m := range renamedRow.FindAllStringSubmatch(f.read(name), -1) {
		in.old[m[1]] = renamed{m[2], m[3]}
	}
}
