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

// aside are the folders of an installation that hold no items.
var aside = []string{"_config", "_cfg", "_memory", "custom", "render", "scripts", "docs"}

// survey is what an installation of version 6 was seen to have, before its manifests.
type survey struct {
	in *installation
	// files are those that can be items, by kind, in the order of the walk.
	files map[Kind][]string
	// rows are those of the manifests, by kind and path in the source.
	rows map[Kind]map[string]row
}

func newSurvey(in *installation) *survey {
	return &survey{in: in, files: map[Kind][]string{}, rows: map[Kind]map[string]row{Agent: {}, Workflow: {}, Task: {}}}
}

// staleRow is a row of a manifest for which there is no file, at least not where it says.
type staleRow struct {
	kind     Kind
	manifest string
	row      row
}

// modern takes a folder for an installation of version 6. Its files say what there is; its
// manifests say more of them.
func (f *found) modern(dir, manifests string) {
	in := f.install(dir, LayoutV6)
	f.trees = append(f.trees, dir)
	at := path.Join(dir, manifests)
	f.installed(in, path.Join(at, "manifest.yaml"))
	f.central(in)
	for _, r := range f.manifest(path.Join(at, "skill-manifest.csv")) {
		if id := cmp.Or(r["canonicalId"], r["name"]); id != "" {
			in.ids[id] = r["module"]
		}
	}
	s := newSurvey(in)
	entries := 0
	for _, e := range f.list(dir) {
		if e.IsDir() && !slices.Contains(aside, e.Name()) {
			f.describes(in, path.Join(dir, e.Name()), e.Name())
			f.walk(path.Join(dir, e.Name()), 1, &entries, func(at string, names []fs.DirEntry) bool { return f.surveyed(s, e.Name(), at, names) })
		}
	}
	f.take(s, at)
}

// take makes items of what an installation was seen to have, and of what the manifests in a
// folder say of it.
func (f *found) take(s *survey, at string) {
	s.read(f, Agent, path.Join(at, "agent-manifest.csv"))
	s.read(f, Workflow, path.Join(at, "workflow-manifest.csv"))
	s.read(f, Task, path.Join(at, "task-manifest.csv"))
	s.read(f, Task, path.Join(at, "tool-manifest.csv"))
	for _, name := range s.files[Agent] {
		f.modernAgent(s, name)
	}
	for _, name := range s.files[Workflow] {
		f.modernWorkflow(s, name)
	}
	for _, name := range s.files[Task] {
		f.modernTask(s, name)
	}
}

// installed reads what the manifest says of the installation. Its modules are names in the
// alphas, and tables since.
func (f *found) installed(in *installation, name string) {
	var manifest struct {
		Installation struct {
			Version string `yaml:"version"`
		} `yaml:"installation"`
		Modules []yaml.Node `yaml:"modules"`
	}
	f.yaml(name, &manifest)
	in.version = manifest.Installation.Version
	for _, node := range manifest.Modules {
		var m struct {
			Name    string `yaml:"name"`
			Version string `yaml:"version"`
		}
		if node.Kind == yaml.ScalarNode {
			m.Name = node.Value
		} else if err := node.Decode(&m); err != nil {
			f.problem(name, "a module in it cannot be read: %v", err)
		}
		if m.Name != "" {
			in.modules[m.Name] = m.Version
		}
	}
}

// sourceAgent ends the names of agents as the method's repository has them, before they are
// compiled.
const sourceAgent = ".agent.yaml"

// surveyed notes what a folder of a module has.
func (f *found) surveyed(s *survey, module, dir string, names []fs.DirEntry) bool {
	if has(names, "SKILL.md") {
		f.skill(dir, names, s.in, module)
		return false
	}
	base := path.Base(dir)
	if base == "workflow-template" || base == "v6-shims" { // what new ones are made from, and notes
		if base == "v6-shims" {
			f.renamed(s.in, path.Join(dir, "README.md"))
		}
		return false
	}
	_, rest := s.in.within(dir)
	if rest == "" {
		return true
	}
	below := strings.Split(rest, "/")
	for _, e := range names {
		if !e.IsDir() {
			s.file(path.Join(dir, e.Name()), below, has(names, "workflow.yaml"))
		}
	}
	return true
}

// file notes what a file can be, by the folders of its module that it lies in. described is
// true where its folder has a workflow in YAML.
func (s *survey) file(name string, below []string, described bool) {
	base, ext := path.Base(name), path.Ext(name)
	switch {
	case slices.Contains(below, "workflows"):
		if base == "workflow.yaml" || base == "workflow.yml" || base == "workflow.md" && !described || strings.HasPrefix(base, "workflow-") && ext == ".md" {
			s.files[Workflow] = append(s.files[Workflow], name)
		}
	case below[0] == "agents" && len(below) <= 2 && (ext == ".md" || strings.HasSuffix(base, sourceAgent)):
		s.files[Agent] = append(s.files[Agent], name)
	case (below[0] == "tasks" || below[0] == "tools") && len(below) == 1 && (ext == ".xml" || ext == ".md"):
		s.files[Task] = append(s.files[Task], name)
	}
}

// read gives the rows of a manifest to the files they are of.
func (s *survey) read(f *found, kind Kind, manifest string) {
	there := map[string]bool{}
	for _, name := range s.files[kind] {
		there[name] = true
	}
	for _, r := range f.manifest(manifest) {
		if r["path"] == "" && r["name"] == "" {
			continue
		}
		candidates, ok := s.in.places(r["path"])
		if !ok {
			f.problem(manifest, "the row %q names %q, which is no path in the installation", r["name"], r["path"])
			continue
		}
		at := slices.IndexFunc(candidates, func(name string) bool { return there[name] })
		switch {
		case at >= 0:
			if _, twice := s.rows[kind][candidates[at]]; !twice {
				s.rows[kind][candidates[at]] = r
			}
		case f.odd(s, kind, candidates, r): // a file where none was looked for
		default:
			s.in.stale = append(s.in.stale, staleRow{kind: kind, manifest: manifest, row: r})
		}
	}
}

// odd takes a file that a row names and that lies where none of its kind was looked for.
func (f *found) odd(s *survey, kind Kind, candidates []string, r row) bool {
	for _, name := range candidates {
		if path.Base(name) == "SKILL.md" || !strings.HasPrefix(name, s.in.dir+"/") || !f.isFile(name) {
			continue
		}
		s.rows[kind][name] = r
		s.files[kind] = append(s.files[kind], name)
		return true
	}
	return false
}

// places returns where the path of a manifest's row can lie in the source: manifests write
// it from the project's folder, whatever the installation's was named then, or from its own.
func (in *installation) places(name string) ([]string, bool) {
	base := path.Base(in.dir)
	name = strings.ReplaceAll(strings.TrimPrefix(name, "{project-root}/"), "{bmad_folder}", base)
	if name == "" || !fs.ValidPath(name) || strings.Contains(name, `\`) {
		return nil, name == ""
	}
	var out []string
	first, rest, _ := strings.Cut(name, "/")
	if rest != "" && (first == base || isNamed(first, "bmad")) {
		if in.only != "" {
			rest = strings.TrimPrefix(rest+"/", in.only+"/")
		}
		out = append(out, path.Join(in.dir, rest))
	}
	return append(out, path.Join(in.dir, name)), true
}

// moduleOf returns the module that a file of the installation lies in.
func (in *installation) moduleOf(name string) string {
	module, _ := in.within(name)
	return module
}

// within returns the module that a path of the installation lies in, and the path in that.
func (in *installation) within(name string) (module, rest string) {
	if in.dir != "." {
		name = strings.TrimPrefix(strings.TrimPrefix(name, in.dir), "/")
	}
	if in.only != "" {
		return in.only, name
	}
	module, rest, _ = strings.Cut(name, "/")
	return module, rest
}

func (f *found) modernAgent(s *survey, name string) {
	r, listed := s.rows[Agent][name]
	i := &Item{Kind: Agent, Name: stem(name), Module: s.in.moduleOf(name), Path: name, Dir: path.Dir(name), install: s.in}
	if listed {
		i.Name, i.Module = cmp.Or(r.plain("name"), i.Name), cmp.Or(r["module"], i.Module)
		i.told(r)
		f.named(i)
		f.add(i)
		return
	}
	if strings.HasSuffix(name, sourceAgent) {
		f.sourceAgent(i)
		return
	}
	head := f.head(name)
	tag := tagged(agentTag, head)
	if tag == nil && yamlBlock(head) == "" { // a note beside an agent
		return
	}
	front, _, _ := frontMatter(head)
	i.Name = cmp.Or(slug(front.Name), i.Name)
	i.DisplayName, i.Title, i.Icon = tag["name"], tag["title"], tag["icon"]
	i.Description = cmp.Or(tag["capabilities"], front.Description)
	i.Aliases = appendNew(nil, tag["id"], stem(name))
	f.named(i)
	f.add(i)
}

// givenName finds the name that a customization gives an agent.
var givenName = regexp.MustCompile(`(?m)^[ \t]+name:[ \t]*["']?([^"'\n#]+)`)

// named gives an agent the name that the project's customization has for it.
func (f *found) named(i *Item) {
	for _, folder := range []string{"_config", "_cfg"} {
		file := path.Join(i.install.dir, folder, "agents", i.Module+"-"+stem(i.Path)+".customize.yaml")
		if m := givenName.FindStringSubmatch(f.head(file)); m != nil {
			if name := strings.TrimSpace(m[1]); name != "" {
				i.DisplayName = name
			}
			return
		}
	}
}

// sourceAgent takes an agent that is not compiled.
func (f *found) sourceAgent(i *Item) {
	var file sourceFile
	f.yaml(i.Path, &file)
	m := file.Agent.Metadata
	i.Name = strings.TrimSuffix(path.Base(i.Path), sourceAgent)
	i.DisplayName, i.Title, i.Icon, i.Description = m.Name, m.Title, m.Icon, oneLine(cmp.Or(m.Capabilities, file.Agent.Persona.Role))
	f.add(i)
}

// sourceFile is an agent that is not compiled.
type sourceFile struct {
	Agent struct {
		Metadata struct {
			Name         string `yaml:"name"`
			Title        string `yaml:"title"`
			Icon         string `yaml:"icon"`
			Capabilities string `yaml:"capabilities"`
		} `yaml:"metadata"`
		customization `yaml:",inline"`
	} `yaml:"agent"`
}

// told takes over what a row of the agents' manifest says.
func (i *Item) told(r row) {
	i.DisplayName, i.Title, i.Icon = r.plain("displayName"), r.plain("title"), r.plain("icon")
	i.Description = cmp.Or(r.plain("capabilities", "description"), r.plain("role"))
	i.Aliases = appendNew(i.Aliases, r["canonicalId"])
	if file := stem(i.Path); i.Path != "" && file != i.Name && file != "SKILL" {
		i.Aliases = appendNew(i.Aliases, file)
	}
}

// slug returns a name of front matter as names are typed: it may be a title.
func slug(name string) string {
	return strings.ReplaceAll(strings.ToLower(oneLine(name)), " ", "-")
}

func (f *found) modernWorkflow(s *survey, name string) {
	r, listed := s.rows[Workflow][name]
	dir := path.Dir(name)
	i := &Item{Kind: Workflow, Module: s.in.moduleOf(name), Path: name, Dir: dir, install: s.in, Phase: phase(path.Dir(dir) + "/")}
	if listed {
		i.Name, i.Module, i.Description = oneLine(r["name"]), cmp.Or(r["module"], i.Module), r.plain("description")
		i.Aliases = appendNew(i.Aliases, r["canonicalId"])
	} else {
		head := f.head(name)
		if path.Ext(name) == ".md" {
			front, _, ok := frontMatter(head)
			if !ok && path.Base(name) != "workflow.md" { // a step, or a note
				return
			}
			i.Name, i.Description = front.Name, front.Description
		} else {
			values := scalars(head)
			i.Name, i.Description = oneLine(values["name"]), oneLine(values["description"])
		}
	}
	fallback := path.Base(dir)
	if rest, ok := strings.CutPrefix(stem(name), "workflow-"); ok {
		fallback = rest
	}
	if i.Name = cmp.Or(i.Name, fallback); i.Name != fallback {
		i.Aliases = appendNew(i.Aliases, fallback)
	}
	f.add(i)
}

// scalars reads the plain values at the left edge of a YAML text, which may end anywhere.
func scalars(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok || key == "" || strings.ContainsAny(key, " \t#-\"'") {
			continue
		}
		var v any
		if err := yaml.Unmarshal([]byte(value), &v); err == nil {
			if s, ok := v.(string); ok {
				out[key] = s
			}
		}
	}
	return out
}

func (f *found) modernTask(s *survey, name string) {
	r, listed := s.rows[Task][name]
	i := &Item{Kind: Task, Name: stem(name), Module: s.in.moduleOf(name), Path: name, Dir: path.Dir(name), install: s.in}
	if listed {
		i.Name, i.Module = cmp.Or(oneLine(r["name"]), i.Name), cmp.Or(r["module"], i.Module)
		i.Title, i.Description = r.plain("displayName"), r.plain("description")
		i.Aliases = appendNew(i.Aliases, r["canonicalId"])
	} else {
		head := f.head(name)
		front, _, _ := frontMatter(head)
		tag := tagged(taskTag, head)
		if tag["internal"] == "true" { // a part of others, such as what runs workflows
			return
		}
		i.Title = cmp.Or(tag["name"], heading(head))
		i.Description = cmp.Or(tag["description"], front.Description)
		i.Aliases = appendNew(i.Aliases, front.Name)
	}
	if file := stem(name); file != i.Name {
		i.Aliases = appendNew(i.Aliases, file)
	}
	f.add(i)
}
