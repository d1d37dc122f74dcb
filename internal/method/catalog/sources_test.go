package catalog_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// checkout returns a checkout of a repository.
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
		p := resolveItem(t, c, catalog.Agent, "pm").Persona
		if p.Role != "Keeper of the PRD" || p.Style != "Asks why" || len(p.Principles) == 0 || !slices.Equal(p.Critical, []string{"Read " + shop + "/docs/prd.md"}) || len(p.Menu) != 1 {
			t.Errorf("%s: %s", base, asJSON(t, p))
		}
		_, err := catalog.Open(checkout(map[string]string{base + "core/module.yaml": "", base + "bmm/agents/pm.agent.yaml": "agent:\n  metadata: [\n"})).Find(catalog.Agent, "pm")
		if err != nil {
			t.Errorf("%s: an agent that is no YAML is not listed: %v", base, err)
		}
	}
}

// TestModuleRepositories: the repositories of modules, in the forms that the method's installer
// takes them: described beside the items, by a skill that sets the module up, by each skill for
// itself, or only by the module's offers to assistants.
func TestModuleRepositories(t *testing.T) {
	skill := func(name string) string { return "---\nname: " + name + "\ndescription: Does " + name + "\n---\n# X\n" }
	market := func(rest string) string { return `{"name": "x", "plugins": [` + rest + `]}` }
	tests := []struct {
		name, want, problems string
		files                map[string]string
	}{
		{"the folder itself", "fl/bmad-a 2.0.0", "", map[string]string{"module.yaml": "code: fl\nmodule_version: 2.0.0\n", "skills/bmad-a/SKILL.md": skill("bmad-a"), "docs/skills/b/SKILL.md": skill("b")}},
		{"its skills at any depth", "fl/a, fl/b", "", map[string]string{"module.yaml": "code: fl\n", "agents/x/a/SKILL.md": skill("a"), "workflows/1-first/b/SKILL.md": skill("b"), "src/main.go": "package main\n"}},
		{"several in src", "one/a, two/b", "", map[string]string{"src/x/module.yaml": "code: one\n", "src/x/skills/a/SKILL.md": skill("a"), "src/y/module.yaml": "code: two\n", "src/y/skills/b/SKILL.md": skill("b"), "src/z/skills/c/SKILL.md": skill("c")}},
		{"several in modules", "one/a", "", map[string]string{"modules/x/module.yaml": "code: one\n", "modules/x/skills/a/SKILL.md": skill("a")}},
		{"a module of something else", "", "", map[string]string{"module.yaml": "product: jvm/app\n", "tasks/a.md": "# A\n", "src/module.yaml": "- a list\n", "src/tasks/b.md": "# B\n"}},
		{"beside its skills", "fl/a, fl/b", "", map[string]string{"skills/module.yaml": "code: fl\n", "skills/a/SKILL.md": skill("a"), "skills/b/SKILL.md": skill("b")}},
		{"a skill that sets it up", "fl/a 1.2.3, fl/fl-setup 1.2.3", "", map[string]string{"skills/fl-setup/SKILL.md": skill("fl-setup"), "skills/fl-setup/assets/module.yaml": "code: fl\nmodule_version: 1.2.3\n", "skills/a/SKILL.md": skill("a")}},
		{"two that do", "/a, /fl-setup, /gl-setup", "", map[string]string{"skills/fl-setup/SKILL.md": skill("fl-setup"), "skills/fl-setup/assets/module.yaml": "code: fl\n", "skills/gl-setup/SKILL.md": skill("gl-setup"), "skills/gl-setup/assets/module.yaml": "code: gl\n", "skills/a/SKILL.md": skill("a")}},
		{"offered, and nothing else", "kit/a 3.1.0", `.claude-plugin/marketplace.json: the plugin "kit" lists "./lib/none", which contains no skill
.claude-plugin/marketplace.json: the plugin "kit" lists "../../etc", which contains no skill
.claude-plugin/marketplace.json: the plugin "kit" lists ".", which contains no skill`, map[string]string{".claude-plugin/marketplace.json": market(`{"name": "kit", "version": "3.1.0", "source": "./", "skills": ["./lib/a", "./lib/none", "../../etc", "."]}`), "lib/a/SKILL.md": skill("a"), "lib/b/SKILL.md": skill("b"), "SKILL.md": skill("root")}},
		{"offered from a plugin's folder", "kit/a", "", map[string]string{".claude-plugin/marketplace.json": market(`{"name": "kit", "source": "./plugins/kit", "skills": ["./skills/a"]}, {"name": "far", "source": {"source": "github"}}`), "plugins/kit/skills/a/SKILL.md": skill("a")}},
		{"each for itself", "ca/a, cb/b", "", map[string]string{".claude-plugin/marketplace.json": market(`{"name": "kit", "skills": ["lib/a", "lib/b"]}`), "lib/a/SKILL.md": skill("a"), "lib/a/assets/module.yaml": "code: ca\n", "lib/b/SKILL.md": skill("b"), "lib/b/assets/module.yaml": "code: cb\n"}},
		{"offered and described", "fl/a 3.1.0", "", map[string]string{"src/module.yaml": "code: fl\n", "src/skills/a/SKILL.md": skill("a"), ".claude-plugin/marketplace.json": market(`{"name": "kit", "version": "3.1.0", "skills": ["./src/skills/a"]}`)}},
		{"no JSON", "/a", ".claude-plugin/marketplace.json: its content is unexpected: unexpected end of JSON input", map[string]string{".claude-plugin/marketplace.json": `{"plugins": [`, "skills/a/SKILL.md": skill("a")}},
	}
	for _, tt := range tests {
		c := catalog.Open(checkout(tt.files))
		versions := map[string]string{}
		for _, m := range c.Modules() {
			versions[m.Name] = m.Version
		}
		var got []string
		for _, i := range c.Items() {
			got = append(got, strings.TrimSpace(i.Module+"/"+i.Name+" "+versions[i.Module]))
		}
		if slices.Sort(got); strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, strings.Join(got, ", "), tt.want)
		}
		if got := problems(c); got != tt.problems {
			t.Errorf("%s: problems %s, want %s", tt.name, got, tt.problems)
		}
	}
}

// TestModulePaths: a file that a module's texts name as if it were installed is found in its repository.
func TestModulePaths(t *testing.T) {
	c := catalog.Open(catalog.Source{Name: "git-x", Dir: "/var/x", FS: layout(t, "source-module")})
	ref, err := catalog.ParseRef("bmad://~git-x/_bmad/bakery/data/flour.md")
	if err != nil {
		t.Fatal(err)
	}
	if content, err := c.Read(ref); err != nil || !strings.Contains(string(content.Data), "550 for bread") {
		t.Errorf("%q, %v", content.Data, err)
	}
	for _, name := range []string{"_bmad/bakery/../../README.md", "_bmad/bakery/data/none.md", "_bmad/other/data/flour.md"} {
		if _, err := c.Read(catalog.Ref{Source: "git-x", Path: name}); err == nil {
			t.Errorf("%s is found", name)
		}
	}
	// Scripts of the method's repository, and paths that begin with the folder's placeholder.
	method := catalog.Open(checkout(map[string]string{
		"src/scripts/memlog.py": "print()\n", "src/core-skills/module.yaml": "code: core\n", "src/core-skills/module-help.csv": "module,skill,display-name,menu-code\n",
		"src/core-skills/bmad-help/SKILL.md": "---\nname: bmad-help\n---\nRun `{project-root}/_bmad/scripts/memlog.py init`, then {project-root}/_bmad/scripts/none.py. Read {project-root}/_bmad/_config/bmad-help.csv.\n",
	}))
	help := resolveItem(t, method, catalog.Task, "bmad-help")
	if want := "Run `/var/x/src/scripts/memlog.py init`, then " + shop + "/_bmad/scripts/none.py."; !strings.Contains(words(help), want) || !strings.Contains(strings.Join(help.Notes, " "), "is in bmad://~git-x/src/core-skills/module-help.csv.") {
		t.Errorf("%s\n%q", words(help), help.Notes)
	}
	old := resolveItem(t, catalog.Open(checkout(map[string]string{
		"src/module.yaml": "code: fl\n", "src/workflows/x/workflow.md": "---\nname: x\n---\n{project-root}/{bmad_folder}/fl/data/a.md, {project-root}/{bmad_folder}/fl/config.yaml, {bmad_folder}\n", "src/data/a.md": "A\n",
	})), catalog.Workflow, "x")
	if want := "/var/x/src/data/a.md, " + shop + "/_bmad/fl/config.yaml, _bmad"; !strings.Contains(words(old), want) {
		t.Errorf("%s", words(old))
	}
	r := resolveItem(t, c, catalog.Agent, "baker")
	if !slices.ContainsFunc(r.More, func(ref resolve.Reference) bool {
		return ref.URI == "bmad://~git-x/src/workflows/plan/workflow.md?view=resolved"
	}) {
		t.Errorf("the menu names no workflow: %s", asJSON(t, r.More))
	}
	for of, want := range map[string]string{words(r): "exec: \"/var/x/src/workflows/plan/workflow.md\"", words(resolveItem(t, c, catalog.Workflow, "plan")): "`/var/x/src/data/flour.md`"} {
		if !strings.Contains(of, want) {
			t.Errorf("%s\nhas no %s", of, want)
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
	r := resolveItem(t, c, catalog.Agent, "writer")
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

// TestForeignCore: of a source that brings the core only the proposals of that count for others;
// its own configuration and customization do not, nor do their mistakes.
func TestForeignCore(t *testing.T) {
	project := source(with(fstest.MapFS{}, map[string]string{
		"_bmad/_config/manifest.yaml": "installation: {version: 6.2.0}\n", "_bmad/bmm/config.yaml": "output_folder: out\n",
		"_bmad/bmm/workflows/plan/workflow.md": "---\nname: plan\n---\n[{user_name} {planning_artifacts} {own_value} {output_folder}]\n",
	}))
	project.Main = true
	bare := source(with(fstest.MapFS{}, map[string]string{
		".claude/skills/bmad-x/SKILL.md": "---\nname: bmad-x\n---\n[{workflow.fact}]\n", ".claude/skills/bmad-x/customize.toml": "[workflow]\nfact = 'own'\n",
	}))
	bare.Main = true
	core := map[string]string{"src/core/module.yaml": "code: core\nuser_name:\n  default: BMad\nown_value:\n  default: proposed\n", "src/core/tasks/x.md": "# X\n"}
	for name, more := range map[string]map[string]string{
		"nothing more":                {},
		"settings":                    {"src/core/config.yaml": "user_name: Mallory\nplanning_artifacts: /evil\n"},
		"settings that are no YAML":   {"src/core/config.yaml": "a: b: c\n"},
		"settings that are no TOML":   {"src/config.toml": "broken = ["},
		"customization of its skills": {"src/custom/bmad-x.toml": "[workflow]\nfact = 'Mallory'\n"},
	} {
		foreign := checkout(core)
		foreign.FS = with(foreign.FS.(fstest.MapFS), more)
		if got := words(resolveItem(t, catalog.Open(project, foreign), catalog.Workflow, "plan")); !strings.Contains(got, "[{user_name} {planning_artifacts} proposed out]") {
			t.Errorf("%s: %s", name, got)
		}
		if got := words(resolveItem(t, catalog.Open(bare, foreign), catalog.Workflow, "bmad-x")); !strings.Contains(got, "[own]") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestModes: a code can mean a part of an item's work, in each form of the method's help.
func TestModes(t *testing.T) {
	story := "---\nname: bmad-story\ndescription: Writes a story\n---\n# Story\n"
	tests := []struct{ name, header, rows, mode string }{
		{"6.6", "module,skill,display-name,menu-code,description,action,args,phase\n", "BMM,bmad-story,Create Story,CS,Writes it,create,,4-implementation\nBMM,bmad-story,Validate Story,VS,Checks it,validate,,4-implementation\n", "validate action"},
		{"6.3", "module,phase,name,code,sequence,workflow-file,command,required\n", "BMM,bmad-story,Create Story,CS,Writes it,create,,4-implementation\nBMM,bmad-story,Validate Story,VS,Checks it,validate,,4-implementation\n", "validate action"},
		{"6.2", "module,phase,name,code,sequence,workflow-file,command,required,options\n", "bmm,4-implementation,Create Story,CS,1,skill:bmad-story,bmad-create-story,false,Create Mode\nbmm,4-implementation,Validate Story,VS,2,skill:bmad-story,bmad-create-story,false,Validate Mode\n", "validate mode"},
	}
	for _, tt := range tests {
		c := catalog.Open(source(with(fstest.MapFS{}, map[string]string{"_bmad/_config/manifest.yaml": "modules: []\n", "_bmad/_config/bmad-help.csv": tt.header + tt.rows, ".claude/skills/bmad-story/SKILL.md": story})))
		for name, want := range map[string]string{"VS": tt.mode, "validate story": tt.mode, "CS": "", "Create Story": "", "bmad-story": ""} {
			i, err := c.Find(catalog.Workflow, name)
			if err != nil || i.Title != "Create Story" || i.Intent(name) != want {
				t.Errorf("%s: %s is %q, meaning %q, %v, want %q", tt.name, name, i.Title, i.Intent(name), err, want)
			}
		}
	}
}

// TestIntents: an earlier name can have meant a part of a skill.
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

// TestMainSource: the source in the place of the project counts as one, whatever its name.
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
		if text := words(resolveItem(t, catalog.Open(root, user), catalog.Agent, "bmad-agent-dev")); !strings.Contains(text, tt.want) {
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

// TestFirstSource: if several sources have an item of one name, the project's is meant.
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

// TestProposed: the value of a setting that nobody has set, by its module's proposal and by the
// settings that it is made of.
func TestProposed(t *testing.T) {
	const core = "code: core\noutput_folder:\n  default: _bmad-output\n  result: '{project-root}/{value}'\n"
	tests := []struct{ name, core, module, config, text, want, open string }{
		{"a path in a path", core, "plans:\n  default: '{output_folder}/plans'\n  result: '{project-root}/{value}'\n", "", "{plans}", shop + "/_bmad-output/plans", ""},
		{"a path in a path in a path", core, "plans:\n  default: '{output_folder}/plans'\n  result: '{project-root}/{value}'\nall:\n  default: '{plans}/all'\n  result: '{project-root}/{value}'\n", "", "{all} {plans}", shop + "/_bmad-output/plans/all " + shop + "/_bmad-output/plans", ""},
		{"in a folder that the person has set", core, "plans:\n  default: '{output_folder}/plans'\n  result: '{project-root}/{value}'\n", "output_folder: /elsewhere\n", "{plans}", "/elsewhere/plans", ""},
		{"under the project", core, "plans:\n  default: '{output_folder}/plans'\n  result: '{project-root}/{value}'\n", "output_folder: '{project-root}/out'\n", "{plans}", shop + "/out/plans", ""},
		{"by a name", core, "plans:\n  default: '{output_folder}/plans'\n  result: '{project-root}/{value}'\n", "output_folder: out\n", "{plans}", shop + "/out/plans", ""},
		{"of a core that is not there", "", "plans:\n  default: '{output_folder}/plans'\n  result: '{project-root}/{value}'\n", "", "{plans}", shop + "/{output_folder}/plans", "{output_folder}"},
		{"of itself", core, "plans:\n  default: '{plans}/x'\n  result: '{project-root}/{value}'\n", "", "{plans}", shop + "/{plans}/x", "{plans}"},
		{"of each other", core, "a:\n  default: '{b}'\nb:\n  default: '{a}'\n", "", "{a}", "{a}", "{a}"},
	}
	for _, tt := range tests {
		files := map[string]string{
			"src/module.yaml":                "code: fl\n" + tt.module,
			"src/skills/bmad-x/SKILL.md":     "---\nname: bmad-x\ndescription: X\n---\n[" + tt.text + "]\n",
			"src/skills/bmad-x/workflow.md":  "X\n",
			"src/skills/bmad-x/references/r": "X\n",
		}
		from := []catalog.Source{{Name: catalog.Project, Dir: shop, FS: fstest.MapFS{}, Main: true}, checkout(files)}
		if tt.core != "" {
			from = append(from, catalog.Source{Name: "git-core", Dir: "/var/core", FS: with(fstest.MapFS{}, map[string]string{"src/core-skills/module.yaml": tt.core, "src/core-skills/bmad-y/SKILL.md": "---\nname: bmad-y\n---\n"})})
		}
		if tt.config != "" {
			from[0].FS = with(fstest.MapFS{}, map[string]string{"_bmad/_config/manifest.yaml": "modules: []\n", "_bmad/core/config.yaml": tt.config})
		}
		r := resolveItem(t, catalog.Open(from...), catalog.Workflow, "bmad-x")
		if got := words(r); !strings.Contains(got, "["+tt.want+"]") || strings.Join(r.Open, " ") != tt.open {
			t.Errorf("%s: %s, open %q; want %s, open %q", tt.name, got, r.Open, tt.want, tt.open)
		}
	}
}
