package catalog

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// Marks of the method in the folder of a skill.
const (
	CustomizeFile = "customize.toml"
	SkillManifest = "bmad-skill-manifest.yaml"
	moduleFile    = "module-manifest.toml"
	bmodFile      = "bmod.toml"
)

// launcher finds the body of a skill with nothing but a reference to the file of an item, and launched the
// files in it (6.0 to 6.2).
var (
	launcher = pattern.New(`<agent-activation|LOAD the FULL`)
	launched = pattern.New(`\{project-root\}/([^\s'"` + "`" + `]+\.(?:md|ya?ml|xml))`)
)

// addSkillsIn adds the method's skills from a folder, which may hold others too.
func (s *scan) addSkillsIn(dir string) {
	if !s.origin.isDir(dir) {
		s.noteLink(dir)
		return
	}
	module, described, all := "", "", false
	if !s.origin.Home && s.origin.Name != Project && (dir == "." || dir == "skills") { // it was named as a source of the method
		module, described = s.setupModule(dir)
		all = module != "" || dir == "skills"
	}
	for _, e := range s.origin.list(dir) {
		at := path.Join(dir, e.Name())
		isFolder := e.IsDir() || e.Type()&fs.ModeSymlink != 0 && s.origin.leadsToFolder(at)
		if !isFolder || slices.ContainsFunc(s.origin.Installations, func(in *Installation) bool { return in.Dir == at }) {
			continue
		}
		names := s.origin.list(at)
		switch {
		case hasName(names, bmodFile) && s.addHub(dir, at, names):
		case !hasName(names, "SKILL.md"):
			if len(names) > 0 && s.belongsToMethod(e.Name(), names) {
				s.origin.addProblem(at, "it has no SKILL.md")
			}
		case all || s.belongsToMethod(e.Name(), names):
			s.addMemberSkill(at, names, module, described)
		}
	}
}

// noteLink notes a folder for skills that is a link out of a project.
func (s *scan) noteLink(dir string) {
	if _, stays := followInside(s.origin.FS, ".", dir); !stays && s.origin.names.mayHold(dir) && !s.origin.Home {
		s.origin.addLinkProblem(dir)
	}
}

// maxLauncher bounds the text of a launcher, in bytes.
const maxLauncher = 1500

// addMemberSkill adds a skill of a module described by a folder; both may be unknown.
func (s *scan) addMemberSkill(dir string, names []fs.DirEntry, module, described string) {
	in := s.ownerOf(path.Dir(dir), path.Base(dir))
	if module != "" && described != "" && in.Described[module] == "" {
		s.describeModule(in, described, module)
	}
	s.addSkill(dir, names, in, module)
}

// belongsToMethod reports whether a skill is the method's.
func (s *scan) belongsToMethod(id string, names []fs.DirEntry) bool {
	if id == "bmad" || strings.HasPrefix(id, "bmad-") || strings.HasPrefix(id, "bmod-") {
		return true
	}
	for _, mark := range []string{SkillManifest, moduleFile, bmodFile} {
		if hasName(names, mark) {
			return true
		}
	}
	return slices.ContainsFunc(append([]*Origin{s.origin}, s.before...), func(o *Origin) bool {
		return slices.ContainsFunc(o.Installations, func(in *Installation) bool {
			_, listed := in.ids[id]
			_, described := in.agents[id]
			return listed || described
		})
	})
}

// addSkill adds a folder with SKILL.md.
func (s *scan) addSkill(dir string, names []fs.DirEntry, in *Installation, module string) {
	file := path.Join(dir, "SKILL.md")
	head := s.origin.readHead(file)
	id := path.Base(dir)
	if len(head) < maxLauncher && launcher.MatchString(head) {
		s.origin.trees = append(s.origin.trees, dir)
		if !s.addLauncher(id, head) && !s.origin.Home {
			s.origin.addProblem(file, "it only sends its reader to a file, which is not there")
		}
		return
	}
	if strings.TrimSpace(head) == "" {
		s.origin.addProblem(file, "it is empty")
		return
	}
	if in == nil {
		in = s.ownerOf(path.Dir(dir), id)
	}
	front, body, ok := format.FrontMatter(head)
	if !ok && strings.HasPrefix(head, "---\n") {
		s.origin.addProblem(file, "its front matter has no end and was left out")
	}
	i := &Item{Kind: Task, Name: id, Skill: true, Path: file, Dir: dir, Installation: in, Description: front.Description}
	i.Aliases = format.AppendNew(nil, front.Name)
	if front.Name == id {
		i.Aliases = nil
	}
	i.Module = cmp.Or(in.ids[id], in.agents[id].Module, s.markedModule(dir, names, in), module)
	_, i.listed = in.ids[id]
	i.Phase = phaseIn(path.Dir(dir) + "/") // the folders above the skill: its own name may be sprint-planning
	s.origin.trees = append(s.origin.trees, dir)
	if known := s.origin.Skills[id]; known != nil {
		return // the same skill for another host
	}
	title := format.Heading(body)
	if strings.EqualFold(title, "overview") {
		title = ""
	}
	s.classify(i, names, title)
	s.origin.Skills[id] = i
	s.addItem(i)
}

// addLauncher gives the item whose file a launcher names the launcher's name too.
func (s *scan) addLauncher(id, text string) bool {
	for _, o := range append([]*Origin{s.origin}, s.before...) {
		for _, m := range launched.FindAllStringSubmatch(text, -1) {
			for _, i := range o.Items {
				if places, _ := i.Installation.Places(m[1]); slices.Contains(places, i.Path) {
					i.Aliases = format.AppendNew(i.Aliases, id)
					return true
				}
			}
		}
	}
	return false
}

// classify sets the kind of a skill: by the customization, which is the installer's own rule, else by the
// manifest, else by the files. The name does not matter.
func (s *scan) classify(i *Item, names []fs.DirEntry, title string) {
	settings := map[string]any{}
	if hasName(names, CustomizeFile) {
		settings = s.origin.readTOML(path.Join(i.Dir, CustomizeFile))
	}
	var manifest struct {
		Type        string `yaml:"type"`
		DisplayName string `yaml:"displayName"`
		Title       string `yaml:"title"`
		Icon        string `yaml:"icon"`
	}
	if hasName(names, SkillManifest) {
		s.origin.readYAML(path.Join(i.Dir, SkillManifest), &manifest)
	}
	agent, isAgent := settings["agent"].(map[string]any)
	_, isWorkflow := settings["workflow"].(map[string]any)
	switch {
	case isAgent || manifest.Type == "agent":
		i.Kind = Agent
		i.DisplayName = cmp.Or(format.PlainString(agent["name"]), manifest.DisplayName)
		i.Title = cmp.Or(format.PlainString(agent["title"]), manifest.Title)
		i.Icon = cmp.Or(format.PlainString(agent["icon"]), manifest.Icon)
		i.applyRoster(i.Installation.agents[i.Name])
	case isWorkflow, hasName(names, "workflow.md"), hasName(names, "workflow.yaml"), hasSteps(names):
		i.Kind, i.Title = Workflow, title
		i.thin = !isWorkflow && !hasSteps(names)
	default:
		i.Title = title
	}
}

// hasSteps reports whether a skill has one file for each step.
func hasSteps(names []fs.DirEntry) bool {
	return slices.ContainsFunc(names, func(e fs.DirEntry) bool {
		if e.IsDir() && e.Name() == "steps" {
			return true
		}
		return strings.HasPrefix(e.Name(), "step-") && path.Ext(e.Name()) == ".md"
	})
}

// markedModule returns the module named in a skill's own files, and keeps the version.
func (s *scan) markedModule(dir string, names []fs.DirEntry, in *Installation) string {
	for _, mark := range []string{moduleFile, bmodFile} {
		if !hasName(names, mark) {
			continue
		}
		values := s.origin.readTOML(path.Join(dir, mark))
		for _, table := range []any{values, values["skill"], values["bmod"]} {
			t, ok := table.(map[string]any)
			if !ok {
				continue
			}
			if name := cmp.Or(format.PlainString(t["module"]), format.PlainString(t["bmod"]), format.PlainString(t["code"])); name != "" {
				name = strings.TrimPrefix(name, "bmod-")
				if version := format.PlainString(t["version"]); in.Modules[name] == "" {
					in.Modules[name] = version
				}
				return name
			}
		}
	}
	if hasName(names, SkillManifest) {
		var manifest struct {
			Module string `yaml:"module"`
		}
		if yaml.Unmarshal([]byte(s.origin.read(path.Join(dir, SkillManifest))), &manifest) == nil {
			return manifest.Module
		}
	}
	return ""
}

// addHub adds the description of a module from a folder beside the module's skills. The folder's SKILL.md
// only makes hosts notice it.
func (s *scan) addHub(root, dir string, names []fs.DirEntry) bool {
	table, ok := s.origin.readTOML(path.Join(dir, bmodFile))["bmod"].(map[string]any)
	if !ok {
		return false
	}
	in := s.ownerOf(root, path.Base(dir))
	s.origin.trees = append(s.origin.trees, dir)
	code := cmp.Or(format.PlainString(table["code"]), strings.TrimPrefix(path.Base(dir), "bmod-"))
	in.Modules[code] = format.PlainString(table["version"])
	if skills, ok := table["skills"].([]any); ok {
		for _, s := range skills {
			in.ids[format.PlainString(s)] = code
		}
	}
	if hasName(names, "roster.toml") {
		name := path.Join(dir, "roster.toml")
		roster := s.origin.readTOML(name)
		in.addDescribedAgents(roster, name, false)
		in.addMembers(roster, name, code)
	}
	return true
}

// renamedRow finds a row of the table of renamed skills.
var renamedRow = pattern.New("(?m)^\\|\\s*`([a-z0-9-]+)`\\s*\\|\\s*`([a-z0-9-]+)`(?:\\s*\\(([^)|]+)\\))?")

// readRenames reads the former names of skills.
func (s *scan) readRenames(in *Installation, name string) {
	for _, m := range renamedRow.FindAllStringSubmatch(s.origin.read(name), -1) {
		in.old[m[1]] = renamed{m[2], m[3]}
	}
}
