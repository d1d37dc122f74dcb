package catalog

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// classic takes a folder for an installation of version 4, or for an expansion pack of it.
// There are no manifests: what lies in its folders is what there is.
func (f *found) classic(dir string) {
	in := f.install(dir, LayoutV4)
	var manifest struct {
		Version string `yaml:"version"`
	}
	f.yaml(path.Join(dir, "install-manifest.yaml"), &manifest)
	in.version = manifest.Version
	module := strings.TrimLeft(path.Base(dir), "._")
	if module == "" {
		module = "bmad-core"
	}
	var pack struct {
		Name    string `yaml:"name"`
		Version string `yaml:"version"`
	}
	f.yaml(path.Join(dir, "config.yaml"), &pack)
	module = cmp.Or(pack.Name, module)
	in.version = cmp.Or(in.version, pack.Version)
	in.modules[module] = in.version
	f.trees = append(f.trees, dir)
	if common := path.Join(path.Dir(dir), "common"); f.Name != Project && f.isDir(path.Join(common, "tasks")) {
		f.trees = append(f.trees, common) // what the sources of all packs share
	}

	for _, name := range f.files(path.Join(dir, "agents"), ".md") {
		f.classicAgent(in, module, name)
	}
	for _, name := range f.files(path.Join(dir, "workflows"), ".yaml", ".yml") {
		f.classicWorkflow(in, module, name)
	}
	for _, name := range f.files(path.Join(dir, "tasks"), ".md") {
		head := f.head(name)
		i := &Item{Kind: Task, Name: stem(name), Module: module, Path: name, Dir: path.Dir(name), install: in}
		if front, _, ok := frontMatter(head); ok {
			i.Description = front.Description
		}
		i.Title = heading(head)
		f.add(i)
	}
}

// files lists the files of a folder with one of some endings, but for notes and copies that
// people keep beside them.
func (f *found) files(dir string, endings ...string) []string {
	var out []string
	for _, e := range f.list(dir) {
		name := e.Name()
		if e.IsDir() || strings.EqualFold(stem(name), "readme") || strings.HasPrefix(name, ".") || !slices.Contains(endings, path.Ext(name)) {
			continue
		}
		out = append(out, path.Join(dir, name))
	}
	return out
}

// stem returns a file's name without its ending.
func stem(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// heading returns the first heading of a text in Markdown.
func heading(text string) string {
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			return strings.TrimSpace(title)
		}
	}
	return ""
}

// classicIdentity is what the block of an agent's file says first.
type classicIdentity struct {
	Agent struct {
		Name          string `yaml:"name"`
		ID            string `yaml:"id"`
		Title         string `yaml:"title"`
		Icon          string `yaml:"icon"`
		WhenToUse     string `yaml:"whenToUse"`
		Customization string `yaml:"customization"`
	} `yaml:"agent"`
}

func (f *found) classicAgent(in *installation, module, name string) {
	data := f.read(name)
	i := &Item{Kind: Agent, Name: stem(name), Module: module, Path: name, Dir: path.Dir(name), install: in}
	var id classicIdentity
	if block := classicBlock(data); block != "" {
		if err := yaml.Unmarshal([]byte(section(block, "agent")), &id); err != nil {
			f.problem(name, "the block that describes the agent is not valid YAML: %v", err)
		}
	} else if front, body, ok := frontMatter(data); ok {
		i.Description, i.Title = front.Description, heading(body)
		i.Aliases = appendNew(i.Aliases, front.Name)
	} else {
		i.Title = heading(data)
	}
	a := id.Agent
	i.DisplayName, i.Icon = a.Name, a.Icon
	i.Title, i.Description = cmp.Or(a.Title, i.Title), cmp.Or(a.WhenToUse, i.Description)
	if a.ID != i.Name {
		i.Aliases = appendNew(i.Aliases, a.ID)
	}
	f.add(i)
}

// classicBlock returns the YAML that describes an agent of version 4: the fenced block of its
// file, else front matter of the same form, as some people write it.
func classicBlock(text string) string {
	if block := yamlBlock(text); block != "" {
		return block
	}
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if head, _, ok := strings.Cut(rest, "\n---"); ok && section(head, "agent") != "" {
			return head
		}
	}
	return ""
}

func (f *found) classicWorkflow(in *installation, module, name string) {
	i := &Item{Kind: Workflow, Name: stem(name), Module: module, Path: name, Dir: path.Dir(name), install: in}
	var file struct {
		Workflow struct {
			ID          string `yaml:"id"`
			Name        string `yaml:"name"`
			Description string `yaml:"description"`
		} `yaml:"workflow"`
	}
	// The steps that follow are not needed to list it.
	block := section(f.read(name), "workflow")
	if at := strings.Index(block, "\n  sequence:"); at >= 0 {
		block = block[:at]
	}
	if err := yaml.Unmarshal([]byte(block), &file); err != nil {
		f.problem(name, "it is not valid YAML: %v", err)
	}
	w := file.Workflow
	i.Title, i.Description = w.Name, oneLine(w.Description)
	if w.ID != i.Name {
		i.Aliases = appendNew(i.Aliases, w.ID)
	}
	f.add(i)
}

// dependencies lists the files that an agent of version 4 depends on.
func (r *resolver) dependencies(out *Resolved, text string, l *references) {
	if config := path.Join(r.i.install.dir, "core-config.yaml"); r.i.in.has(config) {
		l.add(r.i.in, config, "the project's configuration: read this first")
	}
	a, err := readClassic(text)
	if err != nil && a.Dependencies == nil {
		return
	}
	for _, kind := range []string{"tasks", "templates", "checklists", "data", "workflows", "utils"} {
		for _, name := range a.Dependencies[kind] {
			if !r.dependency(kind, name, l) {
				out.Notes = append(out.Notes, "The "+kind+" file "+clipped(name)+", which it depends on, is not there.")
			}
		}
	}
}

// dependency adds a file that an agent depends on, if there is one.
func (r *resolver) dependency(kind, name string, l *references) bool {
	for _, dir := range r.classics() {
		for _, ending := range []string{"", ".md", ".yaml"} {
			if file := path.Join(dir, kind, name+ending); fs.ValidPath(file) && r.i.in.has(file) {
				l.add(r.i.in, file, kind)
				return true
			}
		}
	}
	return false
}

// classics returns the folders in which an agent's dependencies can lie: its own, what the
// sources of all packs share, and the other installations of version 4: packs use the files of
// the core.
func (r *resolver) classics() []string {
	own := r.i.install.dir
	out := []string{own, path.Join(path.Dir(own), "common"), path.Join(path.Dir(path.Dir(own)), "common")}
	for _, core := range []bool{true, false} {
		for _, in := range r.i.in.installs {
			if in.layout == LayoutV4 && in.dir != own && isNamed(path.Base(in.dir), "bmad-core") == core {
				out = append(out, in.dir)
			}
		}
	}
	return out
}

// section returns the part of a YAML text that belongs to one key at its left edge.
func section(text, key string) string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(text) {
		edge := line[0] != ' ' && line[0] != '\t' && line[0] != '\n' && line[0] != '#' && line[0] != '-'
		if edge {
			in = strings.HasPrefix(line, key+":")
		}
		if in {
			b.WriteString(line)
		}
	}
	return b.String()
}

// oneLine puts a text into one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
