package catalog

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Files that describe a module in the repository it comes from.
const (
	moduleYAML  = "module.yaml"
	moduleHelp  = "module-help.csv"
	marketplace = ".claude-plugin/marketplace.json"
)

// itemFolders are the folders of a module in which its items lie.
var itemFolders = []string{"agents", "workflows", "tasks", "tools", "skills"}

// codeOf returns the code of the module that a folder describes; "" where it describes none.
// Others have files of the same name: without a code it is none of the method's.
func (f *found) codeOf(dir string) string {
	if !f.isFile(path.Join(dir, moduleYAML)) {
		return ""
	}
	var m struct {
		Code yaml.Node `yaml:"code"`
	}
	if yaml.Unmarshal([]byte(f.read(path.Join(dir, moduleYAML))), &m) != nil || m.Code.Kind != yaml.ScalarNode {
		return ""
	}
	return oneLine(m.Code.Value)
}

// describes takes over what a folder says of a module: its version and its agents. What its
// settings are when nobody has set them is read when they are needed.
func (f *found) describes(in *installation, dir, module string) {
	name := path.Join(dir, moduleYAML)
	if !f.isFile(name) {
		return
	}
	in.described[module] = name
	if help := path.Join(dir, moduleHelp); f.isFile(help) {
		in.helps = append(in.helps, help)
	}
	var m struct {
		Version string      `yaml:"module_version"`
		Agents  []yaml.Node `yaml:"agents"`
	}
	f.yaml(name, &m)
	in.modules[module] = cmp.Or(in.modules[module], oneLine(m.Version))
	for _, node := range m.Agents {
		var agent map[string]any
		if err := node.Decode(&agent); err != nil {
			f.problem(name, "an agent in it cannot be read: %v", err)
			continue
		}
		id := plainString(agent["code"])
		if id == "" {
			continue
		}
		agent["module"] = module
		in.describeAgent(id, agent, name, false)
	}
}

// module takes a folder for one module as its repository has it.
func (f *found) module(dir string) bool {
	if slices.ContainsFunc(f.installs, func(in *installation) bool { return in.dir == dir && in.only != "" }) {
		return true
	}
	code := f.codeOf(dir)
	if code == "" || !slices.ContainsFunc(itemFolders, func(name string) bool { return f.isDir(path.Join(dir, name)) }) {
		return false
	}
	in := f.install(dir, LayoutV6)
	in.only = code
	f.trees = append(f.trees, dir)
	f.describes(in, dir, code)
	s := newSurvey(in)
	entries := 0
	for _, name := range itemFolders {
		if at := path.Join(dir, name); f.isDir(at) {
			f.walk(at, 1, &entries, func(at string, names []fs.DirEntry) bool { return f.surveyed(s, code, at, names) })
		}
	}
	f.take(s, path.Join(dir, "_config"))
	return true
}

// setUp returns the module that a folder of skills is, as one of them says that sets it up,
// and the folder that describes it. Where several do, the folder is shared.
func (f *found) setUp(dir string) (module, described string) {
	if code := f.codeOf(dir); code != "" {
		return code, dir
	}
	for _, e := range f.list(dir) {
		assets := path.Join(dir, e.Name(), "assets")
		if !e.IsDir() || !strings.HasSuffix(e.Name(), "-setup") {
			continue
		}
		if code := f.codeOf(assets); code != "" {
			if module != "" {
				return "", ""
			}
			module, described = code, assets
		}
	}
	return module, described
}

// marketed takes the skills that a repository offers to assistants as plugins.
func (f *found) marketed() {
	text := f.read(marketplace)
	if text == "" {
		return
	}
	var m struct {
		Plugins []struct {
			Name    string   `json:"name"`
			Version string   `json:"version"`
			Source  any      `json:"source"`
			Skills  []string `json:"skills"`
		} `json:"plugins"`
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		f.problem(marketplace, "it is not as expected: %v", err)
		return
	}
	type setup struct{ module, described string }
	known := map[string]setup{} // a folder of many skills is looked through once
	for _, plugin := range m.Plugins {
		from, _ := plugin.Source.(string)
		for _, skill := range plugin.Skills {
			dir, ok := f.offered(from, skill)
			if !ok {
				f.problem(marketplace, "the plugin %q offers %q, where there is no skill", oneLine(plugin.Name), oneLine(skill))
				continue
			}
			if f.skills[path.Base(dir)] == nil {
				above := path.Dir(dir)
				of, looked := known[above]
				if !looked {
					of.module, of.described = f.setUp(above)
					known[above] = of
				}
				if assets := path.Join(dir, "assets"); of.module == "" {
					of = setup{f.codeOf(assets), assets}
				}
				f.memberSkill(dir, f.list(dir), of.module, of.described)
			}
			if i := f.skills[path.Base(dir)]; i != nil {
				i.Module = cmp.Or(i.Module, oneLine(plugin.Name))
				i.install.modules[i.Module] = cmp.Or(i.install.modules[i.Module], oneLine(plugin.Version))
			}
		}
	}
}

// offered returns the folder of a skill that a plugin names: from the repository's folder, as
// the method's installer reads it, or from the plugin's own.
func (f *found) offered(from, skill string) (string, bool) {
	for _, dir := range []string{skill, path.Join(from, skill)} {
		dir = path.Clean(strings.TrimPrefix(dir, "./"))
		if dir != "." && fs.ValidPath(dir) && !f.leadsUp(dir) && f.isFile(path.Join(dir, "SKILL.md")) {
			return dir, true
		}
	}
	return "", false
}

// personal are the settings that a person answers for themselves: the name and the language
// that a module proposes are nobody's.
var personal = []string{"user_name", "communication_language", "document_output_language"}

// proposals returns what the settings of a module are when nobody has set them, as its
// repository has them: the answers its installer proposes, in the form it writes them.
func (in *installation) proposals(module string) map[string]string {
	name := in.described[module]
	if name == "" {
		return nil
	}
	text, err := in.in.settingsText(name)
	values := map[string]yaml.Node{}
	if err != nil || yaml.Unmarshal([]byte(text), &values) != nil {
		return nil // said when it was listed
	}
	out := map[string]string{}
	for key, node := range values {
		var setting struct {
			Default any    `yaml:"default"`
			Result  string `yaml:"result"`
		}
		if node.Kind != yaml.MappingNode || node.Decode(&setting) != nil {
			continue
		}
		value, ok := plainText(setting.Default)
		if !ok && strings.Contains(setting.Result, "{value}") || slices.Contains(personal, key) {
			continue
		}
		if result := cmp.Or(setting.Result, "{value}"); result != "{value}" || ok {
			out[key] = strings.ReplaceAll(result, "{value}", value)
		}
	}
	return out
}

// unset says what stands in for the configuration of a module that nobody has configured here.
func (r *resolver) unset() string {
	note := ""
	if name := r.i.install.described[r.i.Module]; name != "" && !slices.ContainsFunc(r.from, func(s settings) bool { return s.has(r.i.Module) }) {
		note = "Nobody has configured the module " + r.i.Module + " here: where the text loads its configuration, go by what the module proposes, " + r.i.in.uri(name) + "."
	}
	if len(r.proposed) > 0 {
		slices.Sort(r.proposed)
		note += " What nobody has set is filled in as the module proposes it: " + strings.Join(r.proposed, ", ") + "."
	}
	return strings.TrimSpace(note)
}

// uninstalledHelp says where the rows are that an installer would gather in one file.
func (r *resolver) uninstalledHelp(text string) string {
	if !strings.Contains(text, "bmad-help.csv") {
		return ""
	}
	if _, _, ok := r.c.lookUp(Ref{Path: "_bmad/_config/bmad-help.csv"}); ok {
		return ""
	}
	var parts []string
	for _, in := range r.i.in.installs {
		for _, name := range in.helps {
			parts = append(parts, r.i.in.uri(name))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "There is no bmad-help.csv, which an installer makes: what it would have stands in " + strings.Join(parts, ", ") + "."
}
