package catalog

import (
	"cmp"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// addV4 adds a folder as an installation of version 4, or as an expansion pack of it. There are no
// manifests: the files in the folders are the items.
func (s *scan) addV4(dir string) {
	in := s.newInstallation(dir, LayoutV4)
	var manifest struct {
		Version string `yaml:"version"`
	}
	s.origin.readYAML(path.Join(dir, "install-manifest.yaml"), &manifest)
	in.Version = manifest.Version
	module := strings.TrimLeft(path.Base(dir), "._")
	if module == "" {
		module = "bmad-core"
	}
	var pack struct {
		Name    string `yaml:"name"`
		Version string `yaml:"version"`
	}
	s.origin.readYAML(path.Join(dir, "config.yaml"), &pack)
	module = cmp.Or(pack.Name, module)
	in.Version = cmp.Or(in.Version, pack.Version)
	in.Modules[module] = in.Version
	s.origin.trees = append(s.origin.trees, dir)
	if common := path.Join(path.Dir(dir), "common"); s.origin.Name != Project && s.origin.isDir(path.Join(common, "tasks")) {
		s.origin.trees = append(s.origin.trees, common) // shared by the sources of all packs
	}

	for _, name := range s.origin.filesEnding(path.Join(dir, "agents"), ".md") {
		s.addV4Agent(in, module, name)
	}
	for _, name := range s.origin.filesEnding(path.Join(dir, "workflows"), ".yaml", ".yml") {
		s.addV4Workflow(in, module, name)
	}
	for _, name := range s.origin.filesEnding(path.Join(dir, "tasks"), ".md") {
		head := s.origin.readHead(name)
		i := &Item{Kind: Task, Name: format.Stem(name), Module: module, Path: name, Dir: path.Dir(name), Installation: in}
		if front, _, ok := format.FrontMatter(head); ok {
			i.Description = front.Description
		}
		i.Title = format.Heading(head)
		s.addItem(i)
	}
}

func (s *scan) addV4Agent(in *Installation, module, name string) {
	data := s.origin.read(name)
	i := &Item{Kind: Agent, Name: format.Stem(name), Module: module, Path: name, Dir: path.Dir(name), Installation: in}
	var id format.ClassicIdentity
	if block := format.ClassicBlock(data); block != "" {
		if err := yaml.Unmarshal([]byte(format.Section(block, "agent")), &id); err != nil {
			s.origin.addProblem(name, "the block that describes the agent is not valid YAML: %v", err)
		}
	} else if front, body, ok := format.FrontMatter(data); ok {
		i.Description, i.Title = front.Description, format.Heading(body)
		i.Aliases = format.AppendNew(i.Aliases, front.Name)
	} else {
		i.Title = format.Heading(data)
	}
	a := id.Agent
	i.DisplayName, i.Icon = a.Name, a.Icon
	i.Title, i.Description = cmp.Or(a.Title, i.Title), cmp.Or(a.WhenToUse, i.Description)
	if a.ID != i.Name {
		i.Aliases = format.AppendNew(i.Aliases, a.ID)
	}
	s.addItem(i)
}

func (s *scan) addV4Workflow(in *Installation, module, name string) {
	i := &Item{Kind: Workflow, Name: format.Stem(name), Module: module, Path: name, Dir: path.Dir(name), Installation: in}
	var file struct {
		Workflow struct {
			ID          string `yaml:"id"`
			Name        string `yaml:"name"`
			Description string `yaml:"description"`
		} `yaml:"workflow"`
	}
	// A list does not need the steps below.
	block := format.Section(s.origin.read(name), "workflow")
	if at := strings.Index(block, "\n  sequence:"); at >= 0 {
		block = block[:at]
	}
	if err := yaml.Unmarshal([]byte(block), &file); err != nil {
		s.origin.addProblem(name, "it is not valid YAML: %v", err)
	}
	w := file.Workflow
	i.Title, i.Description = w.Name, format.OneLine(w.Description)
	if w.ID != i.Name {
		i.Aliases = format.AppendNew(i.Aliases, w.ID)
	}
	s.addItem(i)
}
