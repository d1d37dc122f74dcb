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

// aside are the folders of an installation without items.
var aside = []string{"_config", "_cfg", "_memory", "custom", "render", "scripts", "docs"}

// v6Survey collects the facts shown by the files of an installation of version 6, before the manifests add
// to them.
type v6Survey struct {
	scan *scan
	in   *Installation
	// files are the possible items, by kind, in the order of the walk.
	files map[Kind][]string
	// rows are the rows of the manifests, by kind and path in the source.
	rows map[Kind]map[string]format.Row
}

func newSurvey(s *scan, in *Installation) *v6Survey {
	return &v6Survey{scan: s, in: in, files: map[Kind][]string{}, rows: map[Kind]map[string]format.Row{Agent: {}, Workflow: {}, Task: {}}}
}

// addV6 adds a folder as an installation of version 6. The files are the items; the manifests describe
// them.
func (s *scan) addV6(dir, manifests string) {
	in := s.newInstallation(dir, LayoutV6)
	s.origin.trees = append(s.origin.trees, dir)
	at := path.Join(dir, manifests)
	s.readManifest(in, path.Join(at, "manifest.yaml"))
	s.readCentral(in)
	for _, r := range s.origin.readTable(path.Join(at, "skill-manifest.csv")) {
		if id := cmp.Or(r["canonicalId"], r["name"]); id != "" {
			in.ids[id] = r["module"]
		}
	}
	v := newSurvey(s, in)
	entries := 0
	for _, e := range s.origin.list(dir) {
		if e.IsDir() && !slices.Contains(aside, e.Name()) && !s.isInstalled(e.Name(), path.Join(dir, e.Name())) {
			s.describeModule(in, path.Join(dir, e.Name()), e.Name())
			s.origin.walkFolders(path.Join(dir, e.Name()), 1, &entries, func(at string, names []fs.DirEntry) bool { return v.visitFolder(e.Name(), at, names) })
		}
	}
	v.addSurvey(at)
}

// addSurvey adds the items found by the survey, described by the manifests in a folder.
func (s *v6Survey) addSurvey(at string) {
	s.assignRows(Agent, path.Join(at, "agent-manifest.csv"))
	s.assignRows(Workflow, path.Join(at, "workflow-manifest.csv"))
	s.assignRows(Task, path.Join(at, "task-manifest.csv"))
	s.assignRows(Task, path.Join(at, "tool-manifest.csv"))
	for _, name := range s.files[Agent] {
		s.addAgent(name)
	}
	for _, name := range s.files[Workflow] {
		s.addWorkflow(name)
	}
	for _, name := range s.files[Task] {
		s.addTask(name)
	}
}

// readManifest reads the version and modules of the installation. The modules are names in the alphas, and
// tables since.
func (s *scan) readManifest(in *Installation, name string) {
	var manifest struct {
		Installation struct {
			Version string `yaml:"version"`
		} `yaml:"installation"`
		Modules []yaml.Node `yaml:"modules"`
	}
	s.origin.readYAML(name, &manifest)
	in.Version = manifest.Installation.Version
	for _, node := range manifest.Modules {
		var m struct {
			Name    string `yaml:"name"`
			Version string `yaml:"version"`
		}
		if node.Kind == yaml.ScalarNode {
			m.Name = node.Value
		} else if err := node.Decode(&m); err != nil {
			s.origin.addProblem(name, "a module in it cannot be read: %v", err)
		}
		if m.Name != "" {
			in.Modules[m.Name] = m.Version
		}
	}
}

// visitFolder records the possible items in a folder of a module.
func (s *v6Survey) visitFolder(module, dir string, names []fs.DirEntry) bool {
	if hasName(names, "SKILL.md") {
		s.scan.addSkill(dir, names, s.in, module)
		return false
	}
	base := path.Base(dir)
	if base == "workflow-template" || base == "v6-shims" { // templates and notes
		if base == "v6-shims" {
			s.scan.readRenames(s.in, path.Join(dir, "README.md"))
		}
		return false
	}
	_, rest := s.in.moduleAndPath(dir)
	if rest == "" {
		return true
	}
	below := strings.Split(rest, "/")
	for _, e := range names {
		if !e.IsDir() && s.scan.origin.leadsToFile(path.Join(dir, e.Name()), e) {
			s.noteFile(path.Join(dir, e.Name()), below, hasName(names, "workflow.yaml"))
		}
	}
	return true
}

// noteFile records a possible item, by its folders in the module. described reports whether the file's
// folder has a workflow in YAML.
func (s *v6Survey) noteFile(name string, below []string, described bool) {
	base, ext := path.Base(name), path.Ext(name)
	switch {
	case slices.Contains(below, "workflows"):
		variant := strings.HasPrefix(base, "workflow-") && ext == ".md"
		bare := base == "workflow.md" && !described
		if variant || bare || base == "workflow.yaml" || base == "workflow.yml" {
			s.files[Workflow] = append(s.files[Workflow], name)
		}
	case below[0] == "agents" && len(below) <= 2 && (ext == ".md" || strings.HasSuffix(base, format.SourceAgentSuffix)):
		s.files[Agent] = append(s.files[Agent], name)
	case (below[0] == "tasks" || below[0] == "tools") && len(below) == 1 && (ext == ".xml" || ext == ".md"):
		s.files[Task] = append(s.files[Task], name)
	}
}

// assignRows assigns the rows of a manifest to their files.
func (s *v6Survey) assignRows(kind Kind, manifest string) {
	there := map[string]bool{}
	for _, name := range s.files[kind] {
		there[name] = true
	}
	for _, r := range s.scan.origin.readTable(manifest) {
		if r["path"] == "" && r["name"] == "" {
			continue
		}
		candidates, ok := s.in.Places(r["path"])
		if !ok {
			s.scan.origin.addProblem(manifest, "the row %q names %q, which is not a path in the installation", r["name"], r["path"])
			continue
		}
		at := slices.IndexFunc(candidates, func(name string) bool { return there[name] })
		switch {
		case at >= 0:
			if _, twice := s.rows[kind][candidates[at]]; !twice {
				s.rows[kind][candidates[at]] = r
			}
		case s.addUnexpected(kind, candidates, r): // a file outside the usual folders
		default:
			s.in.stale = append(s.in.stale, staleRow{kind: kind, manifest: manifest, row: r})
		}
	}
}

// addUnexpected adds a file listed in the manifest, but outside the usual folders.
func (s *v6Survey) addUnexpected(kind Kind, candidates []string, r format.Row) bool {
	for _, name := range candidates {
		if path.Base(name) == "SKILL.md" || !strings.HasPrefix(name, s.in.Dir+"/") || !s.scan.origin.isFile(name) {
			continue
		}
		s.rows[kind][name] = r
		s.files[kind] = append(s.files[kind], name)
		return true
	}
	return false
}

func (s *v6Survey) addAgent(name string) {
	r, listed := s.rows[Agent][name]
	i := &Item{Kind: Agent, Name: format.Stem(name), Module: s.in.ModuleOf(name), Path: name, Dir: path.Dir(name), Installation: s.in}
	if listed {
		i.Name, i.Module, i.listed = cmp.Or(r.Plain("name"), i.Name), cmp.Or(r["module"], i.Module), true
		i.applyRow(r)
		s.applyCustomName(i)
		s.scan.addItem(i)
		return
	}
	if strings.HasSuffix(name, format.SourceAgentSuffix) {
		s.addSourceAgent(i)
		return
	}
	head := s.scan.origin.readHead(name)
	tag := format.TagAttributes(format.AgentTag, head)
	if tag == nil && format.YAMLBlock(head) == "" { // a note beside an agent
		return
	}
	front, _, _ := format.FrontMatter(head)
	i.Name = cmp.Or(typedForm(front.Name), i.Name)
	i.DisplayName, i.Title, i.Icon = tag["name"], tag["title"], tag["icon"]
	i.Description = cmp.Or(tag["capabilities"], front.Description)
	i.Aliases = format.AppendNew(nil, tag["id"], format.Stem(name))
	s.applyCustomName(i)
	s.scan.addItem(i)
}

// givenName finds the name given to an agent by a customization.
var givenName = pattern.New(`(?m)^[ \t]+name:[ \t]*["']?([^"'\n#]+)`)

// applyCustomName gives an agent the name from the project's customization.
func (s *v6Survey) applyCustomName(i *Item) {
	for _, folder := range []string{"_config", "_cfg"} {
		file := path.Join(i.Installation.Dir, folder, "agents", i.Module+"-"+format.Stem(i.Path)+".customize.yaml")
		if m := givenName.FindStringSubmatch(s.scan.origin.readHead(file)); m != nil {
			if name := strings.TrimSpace(m[1]); name != "" {
				i.DisplayName = name
			}
			return
		}
	}
}

// addSourceAgent adds an agent in source form, not compiled.
func (s *v6Survey) addSourceAgent(i *Item) {
	var file format.SourceAgent
	s.scan.origin.readYAML(i.Path, &file)
	m := file.Agent.Metadata
	i.Name = strings.TrimSuffix(path.Base(i.Path), format.SourceAgentSuffix)
	i.DisplayName, i.Title, i.Icon, i.Description = m.Name, m.Title, m.Icon, format.OneLine(cmp.Or(m.Capabilities, file.Agent.Persona.Role))
	s.scan.addItem(i)
}

// typedForm returns a name from front matter, which may be a title, in the form in which it is typed.
func typedForm(name string) string {
	return strings.ReplaceAll(strings.ToLower(format.OneLine(name)), " ", "-")
}

func (s *v6Survey) addWorkflow(name string) {
	r, listed := s.rows[Workflow][name]
	dir := path.Dir(name)
	i := &Item{Kind: Workflow, Module: s.in.ModuleOf(name), Path: name, Dir: dir, Installation: s.in, Phase: phaseIn(path.Dir(dir) + "/"), listed: listed}
	if listed {
		i.Name, i.Module, i.Description = format.OneLine(r["name"]), cmp.Or(r["module"], i.Module), r.Plain("description")
		i.Aliases = format.AppendNew(i.Aliases, r["canonicalId"])
	} else {
		head := s.scan.origin.readHead(name)
		if path.Ext(name) == ".md" {
			front, _, ok := format.FrontMatter(head)
			if !ok && path.Base(name) != "workflow.md" { // a step, or a note
				return
			}
			i.Name, i.Description = front.Name, front.Description
		} else {
			values := format.Scalars(head)
			i.Name, i.Description = format.OneLine(values["name"]), format.OneLine(values["description"])
		}
	}
	fallback := path.Base(dir)
	if rest, ok := strings.CutPrefix(format.Stem(name), "workflow-"); ok {
		fallback = rest
	}
	if i.Name = cmp.Or(i.Name, fallback); i.Name != fallback {
		i.Aliases = format.AppendNew(i.Aliases, fallback)
	}
	s.scan.addItem(i)
}

func (s *v6Survey) addTask(name string) {
	r, listed := s.rows[Task][name]
	i := &Item{Kind: Task, Name: format.Stem(name), Module: s.in.ModuleOf(name), Path: name, Dir: path.Dir(name), Installation: s.in, listed: listed}
	if listed {
		i.Name, i.Module = cmp.Or(format.OneLine(r["name"]), i.Name), cmp.Or(r["module"], i.Module)
		i.Title, i.Description = r.Plain("displayName"), r.Plain("description")
		i.Aliases = format.AppendNew(i.Aliases, r["canonicalId"])
	} else {
		head := s.scan.origin.readHead(name)
		front, _, _ := format.FrontMatter(head)
		tag := format.TagAttributes(format.TaskTag, head)
		if tag["internal"] == "true" { // a part of others, for example the workflow runner
			return
		}
		i.Title = cmp.Or(tag["name"], format.Heading(head))
		i.Description = cmp.Or(tag["description"], front.Description)
		i.Aliases = format.AppendNew(i.Aliases, front.Name)
	}
	if file := format.Stem(name); file != i.Name {
		i.Aliases = format.AppendNew(i.Aliases, file)
	}
	s.scan.addItem(i)
}

// addModule adds a folder as one module in the form of the module's repository.
func (s *scan) addModule(dir string) bool {
	if slices.ContainsFunc(s.origin.Installations, func(in *Installation) bool { return in.Dir == dir && in.only != "" }) {
		return true
	}
	code := s.origin.codeOf(dir)
	if code == "" || !slices.ContainsFunc(itemFolders, func(name string) bool { return s.origin.isDir(path.Join(dir, name)) }) {
		return false
	}
	if s.isInstalled(code, dir) {
		return true
	}
	in := s.newInstallation(dir, LayoutV6)
	in.only = code
	s.origin.trees = append(s.origin.trees, dir)
	s.describeModule(in, dir, code)
	v := newSurvey(s, in)
	entries := 0
	for _, name := range itemFolders {
		if at := path.Join(dir, name); s.origin.isDir(at) {
			s.origin.walkFolders(at, 1, &entries, func(at string, names []fs.DirEntry) bool { return v.visitFolder(code, at, names) })
		}
	}
	v.addSurvey(path.Join(dir, "_config"))
	return true
}

// itemFolders are the folders for items in a module.
var itemFolders = []string{"agents", "workflows", "tasks", "tools", "skills"}
