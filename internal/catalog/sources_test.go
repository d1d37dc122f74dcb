package catalog_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"bmad-mcp/internal/catalog"
)

// checkout is a checkout of a repository.
func checkout(files map[string]string) catalog.Source {
	return catalog.Source{Name: "git-x", Dir: "/var/x", FS: with(fstest.MapFS{}, files)}
}

// TestSourceAgents: the method's own repository of 6.0 to 6.2 has agents that are not compiled,
// and modules beside each other.
func TestSourceAgents(t *testing.T) {
	agent := `agent:
  metadata:
    id: "_bmad/bmm/agents/pm.md"
    name: John
    title: Product Manager
    icon: 📋
    capabilities: "scope, priorities"
  persona:
    role: Keeper of the PRD
    identity: Cuts first
    communication_style: Asks why
    principles: |
      - Less, sooner.
  critical_actions:
    - "Read {project-root}/docs/prd.md"
  menu:
    - trigger: PR or fuzzy match on prd
      exec: "{project-root}/_bmad/bmm/workflows/2-plan-workflows/prd/workflow.md"
      description: "[PR] Write the PRD"
`
	for _, base := range []string{"src/", "src/modules/"} {
		c := catalog.Open(checkout(map[string]string{
			base + "core/module.yaml":                                     "code: core\n",
			base + "core/tasks/index.md":                                  "# Index\n",
			base + "bmm/module.yaml":                                      "code: bmm\n",
			base + "bmm/agents/pm.agent.yaml":                             agent,
			base + "bmm/agents/notes.yaml":                                "not: an agent\n",
			base + "bmm/workflows/2-plan-workflows/prd/workflow.md":       "---\nname: prd\ndescription: Writes a PRD\n---\nAsk.\n",
			base + "bmm/workflows/2-plan-workflows/prd/steps/step-01.md":  "# 1\n",
			base + "bmm/workflows/4-implementation/review/workflow.yaml":  "name: review\ndescription: Looks again\n",
			"tools/cli/agents/none.agent.yaml":                            agent,
			"README.md":                                                   "# The method\n",
			"docs/reference/workflows/none/workflow.md":                   "---\nname: none\n---\n",
			base + "bmm/sub-modules/x/readme.md":                          "# X\n",
			base + "bmm/workflows/workflow-template/workflow.md":          "---\nname: template\n---\n",
			base + "bmm/workflows/2-plan-workflows/prd/data/standards.md": "# S\n",
		}))
		if got, want := names(c, catalog.Agent)+"; "+names(c, catalog.Workflow)+"; "+names(c, catalog.Task), "bmm/pm; bmm/prd, bmm/review; core/index"; got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
			continue
		}
		i := find(t, c, catalog.Agent, "pm")
		if i.DisplayName != "John" || i.Title != "Product Manager" || i.Icon != "📋" || i.Description != "scope, priorities" {
			t.Errorf("%s: %+v", base, i)
		}
		p := resolve(t, c, catalog.Agent, "pm").Persona
		if p.Role != "Keeper of the PRD" || p.Style != "Asks why" || len(p.Principles) == 0 || !slices.Equal(p.Critical, []string{"Read " + shop + "/docs/prd.md"}) || len(p.Menu) != 1 {
			t.Errorf("%s: %s", base, asJSON(t, p))
		}
		_, err := catalog.Open(checkout(map[string]string{base + "core/module.yaml": "", base + "bmm/agents/pm.agent.yaml": "agent:\n  metadata: [\n"})).Find(catalog.Agent, "pm")
		if err != nil {
			t.Errorf("%s: an agent that is no YAML is not listed: %v", base, err)
		}
	}
}

// TestPacks: the sources of version 4 have packs, and a folder that all of them share.
func TestPacks(t *testing.T) {
	agent := "```yaml\nagent:\n  name: Ann\n  id: writer\npersona:\n  role: Writer\ndependencies:\n  tasks: [create-doc.md, gone.md]\n  data: [kb.md]\n```\n"
	c := catalog.Open(checkout(map[string]string{
		"bmad-core/core-config.yaml": "a: b\n", "bmad-core/agents/sm.md": "# SM\n", "bmad-core/data/kb.md": "# KB\n",
		"common/tasks/create-doc.md": "# Create\n", "common/utils/x.md": "# X\n",
		"expansion-packs/writing/config.yaml": "name: bmad-writing\nversion: 2.0.0\n", "expansion-packs/writing/agents/writer.md": agent, "expansion-packs/README.md": "# Packs\n",
	}))
	if got := names(c, catalog.Agent); got != "bmad-core/sm, bmad-writing/writer" {
		t.Fatalf("agents %s", got)
	}
	r := resolve(t, c, catalog.Agent, "writer")
	if got := more(r); got != "bmad://~git-x/common/tasks/create-doc.md tasks\nbmad://~git-x/bmad-core/data/kb.md data" {
		t.Errorf("refers to %s", got)
	}
	if got := strings.Join(r.Notes, " "); !strings.Contains(got, "gone.md") || strings.Contains(got, "create-doc.md") {
		t.Errorf("notes %s", got)
	}
	readable(t, c, "writer", r)
	for _, m := range c.Modules() {
		if m.Name == "bmad-writing" && (m.Version != "2.0.0" || m.Installation != "expansion-packs/writing") {
			t.Errorf("the pack is %+v", m)
		}
	}
}

// TestIntents: an earlier name can have meant a part of what the skill does now.
func TestIntents(t *testing.T) {
	c := catalog.Open(source(with(layout(t, "v6-skills"), map[string]string{
		"_bmad/bmm/v6-shims/README.md": "| Shim | Forwards to |\n| --- | --- |\n| `bmad-create-prd` | `bmad-prd` (create intent)  |\n| `bmad-edit-prd` | `bmad-prd` (update intent) |\n| `bmad-old-prd` | `bmad-prd` |\n| `bmad-create-story` | Retained in full |\n",
	})))
	for name, want := range map[string]string{"bmad-create-prd": "create intent", "create-prd": "create intent", "Create PRD": "create intent", "*bmad-edit-prd": "update intent", "bmad-old-prd": "", "bmad-prd": "", "prd": "", "PRD": ""} {
		i, err := c.Find(catalog.Workflow, name)
		if err != nil || i.Name != "bmad-prd" || i.Intent(name) != want {
			t.Errorf("%s is %s, meaning %q, %v, want %q", name, i.Name, i.Intent(name), err, want)
		}
	}
}

// TestNamedByCustomization: the name that a project gives an agent is the one that it is listed
// and found by.
func TestNamedByCustomization(t *testing.T) {
	for text, want := range map[string]string{
		"agent:\n  metadata:\n    name: \"Maria\"\n": "Maria", "agent:\n  metadata:\n    name: Maria # ours\n": "Maria", "agent:\n  metadata:\n    name: \"\"\n": "Mary", "": "Mary", "agent: [\n": "Mary",
	} {
		c := catalog.Open(source(with(layout(t, "v6-files"), map[string]string{"_bmad/_config/agents/bmm-analyst.customize.yaml": text})))
		if i := find(t, c, catalog.Agent, "bmm/analyst"); i.DisplayName != want {
			t.Errorf("%q: %s, want %s", text, i.DisplayName, want)
		}
		if i, err := c.Find(catalog.Agent, want); err != nil || i.Name != "analyst" {
			t.Errorf("%q: %s is %s, %v", text, want, i.Name, err)
		}
	}
}

// TestMainSource: what is in the place of the project counts as one, whatever its name.
func TestMainSource(t *testing.T) {
	skills := fstest.MapFS{}
	for name, f := range layout(t, "v6-skills") {
		if strings.HasPrefix(name, ".") {
			skills[name] = f
		}
	}
	settings := with(fstest.MapFS{}, map[string]string{
		"_bmad/config.toml": "[core]\nuser_name = \"Root\"\n", "_bmad/custom/bmad-agent-dev.toml": "[agent]\nrole = \"Ours\"\n",
	})
	root := catalog.Source{Name: "root", Dir: "/opt/method", FS: settings, Main: true}
	user := catalog.Source{Name: "user", Dir: "/home/kim", FS: skills, Home: true}
	for _, tt := range []struct {
		main bool
		want string
	}{{true, "Adopt Ours and show the menu above to Root."}, {false, "Adopt Writer of code. and show the menu above to {user_name}."}} {
		root.Main = tt.main
		if text := words(resolve(t, catalog.Open(root, user), catalog.Agent, "bmad-agent-dev")); !strings.Contains(text, tt.want) {
			t.Errorf("main %v: %s, want %s", tt.main, text, tt.want)
		}
	}
}

// TestFindByAddress: an item is found by the address of its file, and by its path.
func TestFindByAddress(t *testing.T) {
	c := catalog.Open(source(layout(t, "v6-files")), checkout(map[string]string{"skills/bmad-x/SKILL.md": "---\nname: bmad-x\n---\n"}))
	tests := []struct {
		kind       catalog.Kind
		name, want string
	}{
		{catalog.Agent, "bmad://_bmad/bmm/agents/analyst.md", "bmm/analyst"}, {catalog.Agent, shop + "/_bmad/bmm/agents/analyst.md", "bmm/analyst"}, {catalog.Agent, "bmad://bmm/agents/analyst.md", "bmm/analyst"},
		{catalog.Workflow, shop + "/_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow-create-prd.md", "bmm/create-prd"},
		{catalog.Workflow, "bmad://_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow-edit-prd.md?view=resolved", "bmm/edit-prd"},
		{catalog.Task, "bmad://~git-x/skills/bmad-x/SKILL.md", "bmad-x"}, {catalog.Task, "/var/x/skills/bmad-x/SKILL.md", "bmad-x"},
	}
	for _, tt := range tests {
		if i, err := c.Find(tt.kind, tt.name); err != nil || i.Full() != tt.want {
			t.Errorf("%s is %q, %v, want %s", tt.name, i.Full(), err, tt.want)
		}
	}
	for _, name := range []string{"bmad://_bmad/bmm/agents/none.md", "/etc/passwd", shop + "/../etc/passwd", "file:///_bmad/bmm/agents/analyst.md", "bmad://_bmad/core/tasks/help.md"} {
		if i, err := c.Find(catalog.Agent, name); err == nil {
			t.Errorf("%s is %s", name, i.Full())
		}
	}
	refs := map[string]catalog.Ref{
		shop + "/_bmad/x y.md": {Source: "", Path: "_bmad/x y.md"}, "/var/x/a.md": {Source: "git-x", Path: "a.md"}, shop + "/a.md?view=resolved": {Path: "a.md", Resolved: true},
	}
	for name, want := range refs {
		if got, ok := c.RefTo(name); !ok || got != want {
			t.Errorf("%s is %+v, %v, want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "/", shop, shop + "/", shop + "/../x", shop + "//x", shop + "-more/x", "_bmad/x", "/etc/passwd"} {
		if got, ok := c.RefTo(name); ok {
			t.Errorf("%s is %+v", name, got)
		}
	}
}

// TestFirstSource: among what several sources call alike, the project's is the one that is meant.
func TestFirstSource(t *testing.T) {
	skill := func(module, name string) map[string]string {
		return map[string]string{"skills/" + name + "/SKILL.md": "---\nname: " + name + "\n---\n# X\n", "skills/" + name + "/module-manifest.toml": "module = \"" + module + "\"\n"}
	}
	own, other := source(with(fstest.MapFS{}, skill("ours", "bmad-thing"))), checkout(skill("theirs", "bmad-thing"))
	for _, name := range []string{"bmad-thing", "thing"} {
		for _, tt := range []struct {
			sources []catalog.Source
			want    string
		}{{[]catalog.Source{own, other}, "ours/bmad-thing"}, {[]catalog.Source{other, own}, "theirs/bmad-thing"}} {
			if i, err := catalog.Open(tt.sources...).Find(catalog.Task, name); err != nil || i.Full() != tt.want {
				t.Errorf("%s is %q, %v, want %s", name, i.Full(), err, tt.want)
			}
		}
	}
	if i := find(t, catalog.Open(own, other), catalog.Task, "theirs/thing"); i.Source != "git-x" {
		t.Errorf("with its module it is of %s", i.Source)
	}
}

// TestManyProblems: of a folder in which all is wrong, not everything is told.
func TestManyProblems(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("name,description,module,path\n")
	for n := range 2000 {
		fmt.Fprintf(&rows, "flow-%d,x,bmm,_bmad/bmm/workflows/none-%d/workflow.md\n", n, n)
	}
	c := catalog.Open(source(with(layout(t, "v6-files"), map[string]string{"_bmad/_config/workflow-manifest.csv": rows.String()})))
	got := c.Problems()
	if len(got) != 501 || !strings.Contains(got[500].Text, "more than 500 problems") {
		t.Errorf("%d problems, the last %q", len(got), got[len(got)-1].Text)
	}
	if !reflect.DeepEqual(names(c, catalog.Agent), names(project(t, "v6-files"), catalog.Agent)) {
		t.Errorf("agents %s", names(c, catalog.Agent))
	}
}
