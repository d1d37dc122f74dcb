package resolve

import (
	"cmp"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// classicAgent is the block of an agent's file in version 4.
type classicAgent struct {
	format.ClassicIdentity `yaml:",inline"`
	Persona                struct {
		Role       string `yaml:"role"`
		Style      string `yaml:"style"`
		Identity   string `yaml:"identity"`
		Focus      string `yaml:"focus"`
		Principles any    `yaml:"core_principles"`
	} `yaml:"persona"`
	Principles any `yaml:"core_principles"`
	// Version 4 writes the hyphen, and packs also the underscore.
	Activation   any                 `yaml:"activation-instructions"`
	Activation2  any                 `yaml:"activation_instructions"`
	Commands     yaml.Node           `yaml:"commands"`
	Dependencies map[string][]string `yaml:"dependencies"`
}

// readClassic reads the block of an agent's file in version 4. The parts are read one by one: an edit that
// breaks one leaves the others usable.
func readClassic(text string) (a classicAgent, err error) {
	block := format.ClassicBlock(text)
	for _, key := range []string{"agent", "persona", "core_principles", "activation-instructions", "activation_instructions", "commands", "dependencies"} {
		if e := yaml.Unmarshal([]byte(format.Section(block, key)), &a); e != nil {
			err = cmp.Or(err, e)
		}
	}
	return a, err
}

func (p *Persona) fromBlock(i *catalog.Item, text string) error {
	if format.ClassicBlock(text) == "" {
		return nil // described in prose
	}
	a, err := readClassic(text)
	if err != nil && a.Persona.Role == "" {
		return fault.New(fault.InvalidArgument, "the block that describes the agent in %s is not valid YAML: %w", i.Path, err).WithHint("correct it, or install the agent again")
	}
	p.Role, p.Identity, p.Style, p.Focus = a.Persona.Role, a.Persona.Identity, a.Persona.Style, a.Persona.Focus
	p.Principles = append(textList(a.Persona.Principles), textList(a.Principles)...)
	p.Activation = append(textList(a.Activation), textList(a.Activation2)...)
	p.Custom = strings.TrimSpace(a.Agent.Customization)
	p.Menu = menuCommands(a.Commands)
	return nil
}

// menuCommands returns the commands of an agent of version 4: a list of texts or of tables with
// one entry, or one table.
func menuCommands(node yaml.Node) []MenuItem {
	var out []MenuItem
	add := func(name, text string) {
		name = "*" + strings.TrimPrefix(strings.TrimSpace(name), "*") // packs write the * themselves
		out = append(out, MenuItem{Code: name, Description: format.OneLine(text)})
	}
	described := func(table yaml.Node) {
		for n := 0; n+1 < len(table.Content); n += 2 {
			text := "As the instructions describe it, under commands"
			if value := table.Content[n+1]; value.Tag == "!!null" {
				text = ""
			} else if value.Kind == yaml.ScalarNode {
				text = value.Value
			}
			add(table.Content[n].Value, text)
		}
	}
	if node.Kind == yaml.MappingNode {
		described(node)
		return out
	}
	for _, item := range node.Content {
		switch {
		case item.Tag == "!!null":
		case item.Kind == yaml.ScalarNode:
			if m := wordsOfCommand.FindStringSubmatch(item.Value); m != nil {
				add(m[1], m[2])
			}
		case item.Kind == yaml.MappingNode:
			described(*item)
		}
	}
	return out
}

// wordsOfCommand splits a command in the form of one text, *name: description. Some have a dash there, and
// an unpaired quotation mark.
var wordsOfCommand = pattern.New(`(?s)^\s*"?(.+?)"?(?:(?::\s*| -\s+)(.*))?$`)

// addDependencies lists the dependencies of an agent of version 4.
func (r *resolver) addDependencies(out *Resolved, text string, l *references) {
	if config := path.Join(r.i.Installation.Dir, "core-config.yaml"); r.i.Origin.Has(config) {
		l.add(r.i.Origin, config, "the project's configuration: read this first")
	}
	a, err := readClassic(text)
	if err != nil && a.Dependencies == nil {
		return
	}
	for _, kind := range []string{"tasks", "templates", "checklists", "data", "workflows", "utils"} {
		for _, name := range a.Dependencies[kind] {
			file := r.addDependency(kind, name, l)
			if item := itemOf(r.i.Origin, file); file != "" && item.Kind != "" {
				out.Offers = format.AppendNew(out.Offers, item.Full())
			}
			if file == "" {
				out.Notes = append(out.Notes, "The "+kind+" file "+visible.Fit(format.OneLine(name), 100)+", which it depends on, is not there.")
			}
		}
	}
}

// addDependency adds a file an agent depends on, if it exists, and returns the path.
func (r *resolver) addDependency(kind, name string, l *references) string {
	for _, dir := range r.classicFolders() {
		for _, ending := range []string{"", ".md", ".yaml"} {
			if file := path.Join(dir, kind, name+ending); fs.ValidPath(file) && r.i.Origin.Has(file) {
				l.add(r.i.Origin, file, kind)
				return file
			}
		}
	}
	return ""
}

// classicFolders returns the possible folders of an agent's dependencies: its own, the folders shared by
// all packs, and the other installations of version 4, since packs use the core's files.
func (r *resolver) classicFolders() []string {
	own := r.i.Installation.Dir
	out := []string{own, path.Join(path.Dir(own), "common"), path.Join(path.Dir(path.Dir(own)), "common")}
	for _, core := range []bool{true, false} {
		for _, in := range r.i.Origin.Installations {
			if in.Layout == catalog.LayoutV4 && in.Dir != own && catalog.IsNamed(path.Base(in.Dir), "bmad-core") == core {
				out = append(out, in.Dir)
			}
		}
	}
	return out
}
