package catalog

import (
	"cmp"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// Files with the description of a module, in the module's repository.
const (
	moduleYAML = "module.yaml"
	moduleHelp = "module-help.csv"
)

// codeOf returns the code of the module described in a folder, or "". Other programs have files of the same
// name: a file without a code does not belong to the method.
func (f *fileReader) codeOf(dir string) string {
	if !f.isFile(path.Join(dir, moduleYAML)) {
		return ""
	}
	var m struct {
		Code yaml.Node `yaml:"code"`
	}
	if yaml.Unmarshal([]byte(f.read(path.Join(dir, moduleYAML))), &m) != nil || m.Code.Kind != yaml.ScalarNode {
		return ""
	}
	return format.OneLine(m.Code.Value)
}

// describeModule adds a module's version and agents from the folder with the description. Default settings
// are read when they are needed.
func (s *scan) describeModule(in *Installation, dir, module string) {
	name := path.Join(dir, moduleYAML)
	if !s.origin.isFile(name) {
		return
	}
	in.Described[module] = name
	if help := path.Join(dir, moduleHelp); s.origin.isFile(help) {
		in.Helps = append(in.Helps, help)
	}
	var m struct {
		Version string      `yaml:"module_version"`
		Agents  []yaml.Node `yaml:"agents"`
	}
	s.origin.readYAML(name, &m)
	in.Modules[module] = cmp.Or(in.Modules[module], format.OneLine(m.Version))
	for _, node := range m.Agents {
		var agent map[string]any
		if err := node.Decode(&agent); err != nil {
			s.origin.addProblem(name, "an agent in it cannot be read: %v", err)
			continue
		}
		id := format.PlainString(agent["code"])
		if id == "" {
			continue
		}
		agent["module"] = module
		in.describeAgent(id, agent, name, false)
	}
}

// setupModule returns the module of a folder of skills, from the module's setup skill, and the folder with
// the description. With several such skills, the folder is shared and has no module.
func (s *scan) setupModule(dir string) (module, described string) {
	if code := s.origin.codeOf(dir); code != "" {
		return code, dir
	}
	for _, e := range s.origin.list(dir) {
		assets := path.Join(dir, e.Name(), "assets")
		if !e.IsDir() || !strings.HasSuffix(e.Name(), "-setup") {
			continue
		}
		if code := s.origin.codeOf(assets); code != "" {
			if module != "" {
				return "", ""
			}
			module, described = code, assets
		}
	}
	return module, described
}
