package catalog

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"path"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// marketplace is the file with the plugins of a repository.
const marketplace = ".claude-plugin/marketplace.json"

// addPlugins adds the skills offered as plugins by a repository.
func (s *scan) addPlugins() {
	text := s.origin.read(marketplace)
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
		s.origin.addProblem(marketplace, "its content is unexpected: %v", err)
		return
	}
	type setup struct{ module, described string }
	known := map[string]setup{} // a folder of many skills is searched once
	for _, plugin := range m.Plugins {
		from, _ := plugin.Source.(string)
		for _, skill := range plugin.Skills {
			dir, ok := s.pluginSkill(from, skill)
			if !ok {
				s.origin.addProblem(marketplace, "the plugin %q lists %q, which contains no skill", format.OneLine(plugin.Name), format.OneLine(skill))
				continue
			}
			if s.origin.Skills[path.Base(dir)] == nil {
				above := path.Dir(dir)
				of, looked := known[above]
				if !looked {
					of.module, of.described = s.setupModule(above)
					known[above] = of
				}
				if assets := path.Join(dir, "assets"); of.module == "" {
					of = setup{s.origin.codeOf(assets), assets}
				}
				s.addMemberSkill(dir, s.origin.list(dir), of.module, of.described)
			}
			if i := s.origin.Skills[path.Base(dir)]; i != nil {
				i.Module = cmp.Or(i.Module, format.OneLine(plugin.Name))
				i.Installation.Modules[i.Module] = cmp.Or(i.Installation.Modules[i.Module], format.OneLine(plugin.Version))
			}
		}
	}
}

// pluginSkill returns the folder of a skill named by a plugin: from the repository's folder, as the
// method's installer reads it, or from the plugin's folder.
func (s *scan) pluginSkill(from, skill string) (string, bool) {
	for _, dir := range []string{skill, path.Join(from, skill)} {
		dir = path.Clean(strings.TrimPrefix(dir, "./"))
		if dir != "." && fs.ValidPath(dir) && !s.origin.leadsUp(dir) && s.origin.isFile(path.Join(dir, "SKILL.md")) {
			return dir, true
		}
	}
	return "", false
}
