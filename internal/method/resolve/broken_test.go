package resolve_test

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// TestBrokenLayers: settings that are there and cannot be read are an error that names the
// file and the line, for all that they are of and for nothing else: to go on without them
// would be to act by other settings than the person's.
func TestBrokenLayers(t *testing.T) {
	const toml, yaml = "[core]\nuser_name = \"Pat\n", "user_name: Pat\n\tx: [\n"
	tests := []struct {
		name, layout  string
		files         map[string]string
		kind          catalog.Kind
		item          string
		message, hint string
		others        []string // agents that are not concerned
	}{
		{"the installer's configuration", "v6-skills", map[string]string{"_bmad/config.toml": toml}, catalog.Workflow, "bmad-prd", "_bmad/config.toml are not valid TOML: line 2, column", "correct that line", nil},
		{"the installer's, for one person", "v6-skills", map[string]string{"_bmad/config.user.toml": toml}, catalog.Workflow, "bmad-prd", "_bmad/config.user.toml are not valid TOML: line 2", "correct that line", nil},
		{"the team's", "v6-skills", map[string]string{"_bmad/custom/config.toml": toml}, catalog.Agent, "bmad-tea", "_bmad/custom/config.toml are not valid TOML: line 2", "correct that line", nil},
		{"one person's", "v6-skills", map[string]string{"_bmad/custom/config.user.toml": toml}, catalog.Task, "bmad-help", "_bmad/custom/config.user.toml are not valid TOML: line 2", "correct that line", nil},
		{"layers that do not fit together", "v6-skills", map[string]string{"_bmad/config.toml": "[[m]]\nid = 'A'\n", "_bmad/custom/config.toml": "[[m]]\nid = 7\n"}, catalog.Task, "bmad-help", `the layers of _bmad/config.toml do not fit together: m: the key "id"`, "_bmad/custom", nil},
		{"a module's", "v6-files", map[string]string{"_bmad/bmm/config.yaml": yaml}, catalog.Agent, "analyst", "_bmad/bmm/config.yaml is not valid YAML: yaml: line 2", "correct it", []string{"bmad-master"}},
		{"the core's", "v6-files", map[string]string{"_bmad/core/config.yaml": yaml}, catalog.Agent, "analyst", "_bmad/core/config.yaml is not valid YAML: yaml: line 2", "correct it", nil},
		{"that of version 4", "v4", map[string]string{".bmad-core/core-config.yaml": yaml}, catalog.Agent, "pm", ".bmad-core/core-config.yaml is not valid YAML: yaml: line 2", "correct it", nil},
		{"that of version 4, by which packs go too", "v4", map[string]string{".bmad-core/core-config.yaml": yaml}, catalog.Agent, "plot-architect", ".bmad-core/core-config.yaml is not valid YAML: yaml: line 2", "correct it", nil},
		{"a module's that is too large", "v6-files", map[string]string{"_bmad/bmm/config.yaml": "a: " + strings.Repeat("x", catalog.MaxFile)}, catalog.Agent, "analyst", "\"_bmad/bmm/config.yaml\" has 2097155 bytes or more; at most", "editor", []string{"bmad-master"}},
		{"a module's that is no text", "v6-files", map[string]string{"_bmad/bmm/config.yaml": "a: \x00"}, catalog.Agent, "analyst", "\"_bmad/bmm/config.yaml\" is not a text file", "only text is served", []string{"bmad-master"}},
		{"an agent's customization", "v6-files", map[string]string{"_bmad/_config/agents/bmm-analyst.customize.yaml": "persona:\n  role: x\n  - y\n"}, catalog.Agent, "analyst", "_bmad/_config/agents/bmm-analyst.customize.yaml cannot be used: yaml: line ", "correct that line", []string{"architect", "bmad-master"}},
		{"a customization of another form", "v6-files", map[string]string{"_bmad/_config/agents/bmm-analyst.customize.yaml": "memories: [a]\nmenu: tides\n"}, catalog.Agent, "analyst", "bmm-analyst.customize.yaml cannot be used: line 2: `tides` is a text, which does not belong there", "correct that line", []string{"architect"}},
		{"a skill's own settings", "v6-skills", map[string]string{".claude/skills/bmad-agent-dev/customize.toml": "[agent]\nname = \n"}, catalog.Task, "bmad-agent-dev", ".claude/skills/bmad-agent-dev/customize.toml are not valid TOML: line 2", "install the module again", []string{"bmad-tea", "bmad-agent-analyst"}},
		{"the team's for a skill", "v6-skills", map[string]string{"_bmad/custom/bmad-agent-analyst.toml": "[agent]\n\nrole = 'x\n"}, catalog.Agent, "bmad-agent-analyst", "_bmad/custom/bmad-agent-analyst.toml are not valid TOML: line 3", "correct that line", []string{"bmad-tea", "bmad-agent-dev"}},
		{"one person's for a skill", "v6-skills", map[string]string{"_bmad/custom/bmad-prd.user.toml": "x"}, catalog.Workflow, "bmad-prd", "_bmad/custom/bmad-prd.user.toml are not valid TOML: line 1", "correct that line", []string{"bmad-tea"}},
		{"a skill's layers that do not fit together", "v6-skills", map[string]string{"_bmad/custom/bmad-agent-analyst.user.toml": "[[agent.menu]]\ncode = ''\n"}, catalog.Agent, "bmad-agent-analyst", "the customization of bmad-agent-analyst does not fit together: agent: menu", "bmad://_bmad/custom/bmad-agent-analyst.user.toml", []string{"bmad-tea"}},
		{"the manifest of an agent of 6.3", "v6-skills-63", map[string]string{".claude/skills/bmad-agent-analyst/bmad-skill-manifest.yaml": "type: agent\nrole: [\n"}, catalog.Agent, "bmad-agent-analyst", "bmad-agent-analyst/bmad-skill-manifest.yaml is not valid YAML: yaml: line 2", "correct it", []string{"bmad-agent-tech-writer"}},
		{"the block of an agent of version 4", "v4", map[string]string{".bmad-core/agents/analyst.md": "```yaml\nagent:\n  name: Mary\npersona:\n  role: [\ncommands:\n  - help: x\n```\n"}, catalog.Agent, "analyst", ".bmad-core/agents/analyst.md is not valid YAML", "correct it", []string{"pm"}},
	}
	for _, tt := range tests {
		c := catalog.Open(source(with(layout(t, tt.layout), tt.files)))
		i := find(t, c, tt.kind, tt.item)
		code := fault.InvalidArgument
		if strings.Contains(tt.message, "at most") || strings.Contains(tt.message, "not a text") {
			code = fault.NotAllowed
		}
		_, err := resolve.Item(c, i, at)
		wantFault(t, tt.name, err, code, tt.message, tt.hint)
		for _, other := range tt.others {
			if _, err := resolve.Item(c, find(t, c, catalog.Agent, other), at); err != nil {
				t.Errorf("%s: %s is concerned too: %v", tt.name, other, err)
			}
		}
	}
}

// TestOptionalLayers: settings that are not there are none.
func TestOptionalLayers(t *testing.T) {
	files := layout(t, "v6-skills")
	for name := range files {
		if strings.HasPrefix(name, "_bmad/custom/") || strings.HasSuffix(name, "config.yaml") || name == "_bmad/config.user.toml" {
			delete(files, name)
		}
	}
	c := catalog.Open(source(files))
	r := resolveItem(t, c, catalog.Agent, "bmad-agent-analyst")
	if r.Persona.Style != "Says why often." || len(r.Custom) != 0 || strings.Join(r.Open, " ") != "{user_name} {communication_language}" {
		t.Errorf("style %q, custom %q, open %q", r.Persona.Style, r.Custom, r.Open)
	}
	delete(files, "_bmad/config.toml")
	if r := resolveItem(t, catalog.Open(source(files)), catalog.Workflow, "bmad-prd"); len(r.Config) != 0 || !strings.Contains(words(r), "{planning_artifacts}") {
		t.Errorf("without any: config %v, %s", r.Config, words(r))
	}
}

// TestBrokenInstallation: with the settings of the fixture mended, its other faults keep
// nothing from being read, and lead nowhere.
func TestBrokenInstallation(t *testing.T) {
	c := project(t, "broken")
	for _, i := range c.Items() {
		_, err := resolve.Item(c, i, at)
		wantFault(t, i.Full(), err, fault.InvalidArgument, "_bmad/custom/config.toml are not valid TOML: line 1", "correct that line")
	}
	files := with(layout(t, "broken"), map[string]string{"_bmad/custom/config.toml": "[core]\nuser_name = 'Pat'\n"})
	c = catalog.Open(source(files))
	for _, i := range c.Items() {
		_, err := resolve.Item(c, i, at)
		switch {
		case i.Name == "bmad-retrospective":
			wantFault(t, i.Full(), err, fault.InvalidArgument, "_bmad/bmm/config.yaml is not valid YAML", "correct it")
		case i.Module == "bmm":
			wantFault(t, i.Full(), err, fault.InvalidArgument, "_bmad/bmm/config.yaml", "correct it")
		case err != nil:
			t.Errorf("%s: %v", i.Full(), err)
		}
	}
	files = with(files, map[string]string{"_bmad/bmm/config.yaml": "user_name: Pat\n", "_bmad/_config/agents/bmm-analyst.customize.yaml": "", ".claude/skills/bmad-retrospective/customize.toml": ""})
	c = catalog.Open(source(files))
	for _, i := range c.Items() {
		r, err := resolve.Item(c, i, at)
		if err != nil {
			t.Errorf("%s: %v", i.Full(), err)
			continue
		}
		if strings.Contains(more(r), "passwd") {
			t.Errorf("%s refers to %s", i.Full(), more(r))
		}
		readable(t, c, i.Full(), r)
	}
	if r := resolveItem(t, c, catalog.Agent, "analyst"); r.Persona.Name != "Mary" || len(r.Persona.Menu) != 0 {
		t.Errorf("an agent that is no XML: %s", asJSON(t, r.Persona))
	}
	if r := resolveItem(t, c, catalog.Agent, "architect"); len(r.Persona.Menu) != 2 || more(r) != "bmad://_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow.md CP" {
		t.Errorf("one whose menu leads out: %s, %s", asJSON(t, r.Persona), more(r))
	}
}
