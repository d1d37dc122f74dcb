package catalog_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// TestProblems: files that were left out are named, each once, in an order that stays.
func TestProblems(t *testing.T) {
	tests := map[string]string{
		"v4": "", "source-v4": "", "v6-alpha-dot": "", "v6-anyname": "", "v6-files": "", "v6-mixed": "", "next": "", "source-v6": "",
		"v6-alpha": `
bmad/_cfg/agent-manifest.csv: the agent "game-designer" is listed, and its file "bmad/bmm/agents/game-designer.md" is not there
bmad/_cfg/workflow-manifest.csv: the workflow "gdd" is listed, and its file "bmad/bmm/workflows/2-plan-workflows/gdd/workflow.yaml" is not there
bmad/_cfg/task-manifest.csv: the task "validate-workflow" is listed, and its file "bmad/core/tasks/validate-workflow.xml" is not there
bmad/_cfg/tool-manifest.csv: the task "join-doc" is listed, and its file "bmad/core/tools/join-doc.xml" is not there`,
		"v6-skills-63": `
_bmad/_config/agent-manifest.csv: the agent "bmad-agent-qa" is listed, and its file "_bmad/bmm/4-implementation/bmad-agent-qa" is not there
_bmad/_config/skill-manifest.csv: the skill "bmad-edit-prd" of module "bmm" is listed and is in no folder of skills`,
		"v6-skills": `
_bmad/_config/skill-manifest.csv: the skill "bmad-walkthrough" of module "bmm" is listed and is in no folder of skills`,
		"source-module": `
src/module.yaml: the agent "bakery-agent-gone" is described and has no skill`,
		"broken": `
_bmad/_config/manifest.yaml: it is not valid YAML: yaml: line 2: found a tab character that violates indentation
_bmad/custom/config.toml: it is not valid TOML: line 1, column 6: toml: expected ']' to close table name
_bmad/_config/agent-manifest.csv: the row "architect" names "_bmad\\bmm\\agents\\architect.md", which is not a path in the installation
_bmad/_config/agent-manifest.csv: the row "climber" names "../../etc/passwd", which is not a path in the installation
_bmad/_config/agent-manifest.csv: the row "climber-within" names "_bmad/bmm/../../../../../../etc/passwd", which is not a path in the installation
_bmad/_config/agent-manifest.csv: the row "absolute" names "/etc/passwd", which is not a path in the installation
_bmad/_config/agent-manifest.csv: the row "windows" names "C:\\Windows\\win.ini", which is not a path in the installation
_bmad/_config/workflow-manifest.csv: the row "climber" names "_bmad/../../etc/passwd", which is not a path in the installation
_bmad/_config/workflow-manifest.csv: the row "absolute" names "/etc/passwd", which is not a path in the installation
_bmad/_config/workflow-manifest.csv: the row "../../etc/passwd" names "../../etc/passwd", which is not a path in the installation
_bmad/_config/task-manifest.csv: a quotation mark in it is not closed; the rows after it were read as one text
_bmad/_config/task-manifest.csv: the row "climber" names "../../../etc/passwd", which is not a path in the installation
.claude/skills/bmad-empty/SKILL.md: it is empty
.claude/skills/bmad-help/SKILL.md: its front matter has no end and was left out
.claude/skills/bmad-retrospective/customize.toml: it is not valid TOML: line 1, column 6: toml: expected '=' after key
_bmad/_config/bmad-help.csv: a quotation mark in it is not closed; the rows after it were read as one text
_bmad/_config/task-manifest.csv: the task "join-docs" is listed, and its file "" is not there
_bmad/_config/skill-manifest.csv: the skill "../../../etc" of module "core" is listed and is in no folder of skills
_bmad/_config/skill-manifest.csv: the skill "/etc" of module "core" is listed and is in no folder of skills
_bmad/_config/skill-manifest.csv: the skill "bmad-empty" of module "core" is listed and is in no folder of skills`,
	}
	for _, name := range layouts {
		want := map[string]bool{}
		for line := range strings.Lines(strings.TrimPrefix(tests[name], "\n") + "\n") {
			if line = strings.TrimSuffix(line, "\n"); line != "" {
				want[line] = true
			}
		}
		first := problems(project(t, name))
		for line := range strings.Lines(first + "\n") {
			if line = strings.TrimSuffix(line, "\n"); line != "" && !want[line] {
				t.Errorf("%s: not expected, or told twice: %s", name, line)
			}
			delete(want, line)
		}
		for line := range want {
			t.Errorf("%s: not told: %s", name, line)
		}
		for range 5 { // maps have no order, and people compare the lists
			if again := problems(project(t, name)); again != first {
				t.Fatalf("%s: another order\n%s\n\n%s", name, first, again)
			}
		}
	}
}

// TestLeftOut: copies for assistants, launchers, templates, files that are internal, foreign or the
// project's own is no item, under any of its names.
func TestLeftOut(t *testing.T) {
	tests := []struct {
		layout string
		paths  []string // whose files are of no item
		names  []string // that no item has
	}{
		{"v4", []string{".claude/", "docs/", ".bmad-core/templates/", ".bmad-core/checklists/", ".bmad-core/agent-teams/"}, []string{"old", "README", "readme", "pm-checklist", "prd-tmpl", "bmad-kb"}},
		{"v6-alpha", []string{".claude/", "bmad/docs/"}, []string{"{WORKFLOW_CODE}", "workflow-template", "game-dev", "gdd", "README"}},
		{"v6-files", []string{".claude/", "_bmad-output/", "_bmad/_memory/", "_bmad/bmm/teams/"}, []string{"workflow", "mine", "sm", "documentation-standards", "step-01-init"}},
		{"v6-mixed", []string{".claude/skills/bmad-analyst", ".claude/skills/bmad-brainstorming"}, []string{"skeptic", "bmad-skill-manifest"}},
		{"v6-skills-63", []string{"_bmad-output/", "_bmad/"}, []string{"bmad-agent-qa", "bmad-edit-prd"}},
		{"v6-skills", []string{".claude/skills/pdf-tools", ".agents/", "_bmad-output/", "_bmad/"}, []string{"pdf-tools", "bmad-walkthrough"}},
		{"next", []string{"README.md", "skills/bmod-method"}, []string{"bmod-method", "help"}},
		{"source-v6", []string{"README.md", "tools/", "src/scripts/"}, []string{"README", "installer"}},
		{"broken", []string{".claude/skills/bmad-empty"}, []string{"climber", "climber-within", "absolute", "windows", "passwd", "etc", "join-docs", "bmad-empty"}},
	}
	for _, tt := range tests {
		for _, i := range project(t, tt.layout).Items() {
			for _, p := range tt.paths {
				if strings.HasPrefix(i.Path, p) {
					t.Errorf("%s: %s of %s", tt.layout, i.Full(), i.Path)
				}
			}
			for _, name := range append([]string{i.Name, i.Short()}, i.Aliases...) {
				if slices.Contains(tt.names, name) {
					t.Errorf("%s: %s is known as %s", tt.layout, i.Full(), name)
				}
			}
		}
	}
}

// TestOverlaid: a project that went through several versions has all of them at once, and
// loses none: an item of one of its archives is found in all of them together.
func TestOverlaid(t *testing.T) {
	together := []string{"v4", "source-v4", "v6-alpha", "v6-alpha-dot", "v6-anyname", "v6-skills"}
	all := project(t, together...)
	for _, name := range together {
		for _, want := range project(t, name).Items() {
			got, err := all.Find(want.Kind, want.Full())
			if err != nil {
				t.Errorf("%s: %s %s: %v", name, want.Kind, want.Full(), err)
				continue
			}
			if got.Short() != want.Short() || got.Module != want.Module {
				t.Errorf("%s: %s is %s", name, want.Full(), got.Full())
			}
		}
	}
	installations := map[string]string{}
	for _, m := range all.Modules() {
		installations[m.Installation] = m.Layout
	}
	for dir, want := range map[string]string{".bmad-core": "v4", ".bmad-creative-writing": "v4", "bmad": "v6", ".bmad": "v6", "_grimoire": "v6", "_bmad": "v6"} {
		if installations[dir] != want {
			t.Errorf("installation %s of layout %q, want %q: %v", dir, installations[dir], want, installations)
		}
	}
	// The same name in two modules is two items, the same of one module is one.
	for want, full := range map[string][]string{
		"agent analyst":          {"bmad-core/analyst", "bmm/analyst"},
		"agent dev":              {"bmad-core/dev", "bmm/dev"},
		"agent master":           {"core/bmad-master"},
		"task create-doc":        {"bmad-core/create-doc", "bmad-creative-writing/create-doc"},
		"task create-next-story": {"bmad-core/create-next-story"},
		"workflow brainstorming": {"core/brainstorming"},
		"workflow prd":           {"bmm/prd"},
	} {
		kind, name, _ := strings.Cut(want, " ")
		var got []string
		for _, i := range all.Items(catalog.Kind(kind)) {
			if i.Short() == name {
				got = append(got, i.Full())
			}
		}
		if !slices.Equal(got, full) {
			t.Errorf("%s: %q, want %q", want, got, full)
		}
	}
}

// TestOneSkill: a skill that lies in several folders of one source is one: the installer makes
// a copy for each assistant.
func TestOneSkill(t *testing.T) {
	c := project(t, "v6-skills", "next")
	if i := find(t, c, catalog.Workflow, "bmad-prd"); i.Full() != "bmm/bmad-prd" || i.URI != "bmad://.claude/skills/bmad-prd/SKILL.md" {
		t.Errorf("bmad-prd is %s at %s", i.Full(), i.URI)
	}
	if got := strings.Count(names(c, catalog.Workflow), "bmad-prd"); got != 1 {
		t.Errorf("bmad-prd is there %d times", got)
	}
	find(t, c, catalog.Workflow, "bmad-spec") // only the second archive has it
}

// TestUpdated: 6.12 laid over 6.0.1, in one folder, as an update leaves it: files, skills and
// the manifests of both.
func TestUpdated(t *testing.T) {
	c := project(t, "v6-files", "v6-skills")
	if got, want := names(c, catalog.Agent), "bmm/analyst, bmm/architect, bmm/bmad-agent-dev, bmm/my-own, bmm/tech-writer, core/bmad-master, tea/bmad-tea"; got != want {
		t.Errorf("agents\n got %s\nwant %s", got, want)
	}
	if i := find(t, c, catalog.Agent, "bmad-agent-analyst"); i.Name != "analyst" {
		t.Errorf("the analyst's later name leads to %s", i.Full())
	}
	for _, name := range []string{"bmm/research", "cis/research", "create-prd", "bmad-build", "bmad-prd", "wds-5-agentic-development"} {
		find(t, c, catalog.Workflow, name)
	}
}

// TestHelp: the facts of the method's help and its notes on old names about items.
func TestHelp(t *testing.T) {
	c := catalog.Open(source(with(layout(t, "v6-skills"), map[string]string{
		".claude/skills/bmad-sprint-planning/SKILL.md": "---\nname: bmad-sprint-planning\ndescription: Plans a sprint\n---\n\n# Sprints\n",
		"_bmad/core/v6-shims/README.md":                "# Shims\n\n| Old skill | Forwards to |\n|---|---|\n| `bmad-quick-dev` | `bmad-build` |\n| `bmad-help` | `bmad-build` |\n| `bmad-gone` | `bmad-nowhere` |\n",
		"_bmad/_config/bmad-help.csv": "module,skill,display-name,menu-code,description,action,args,phase,preceded-by,followed-by,required,output-location,outputs\n" +
			"BMad Method,bmad-sprint-planning,Sprint Status,SS,,status,,4-implementation,,,false,,\n" +
			"BMad Method,bmad-sprint-planning,Sprint Planning,SP,,,,4-implementation,,,true,,\n" +
			"BMad Method,bmad-sprint-planning,Sprint Again,SA,,,,anytime,,,true,,\n" +
			"BMad Method,bmad-nowhere,Nowhere,NW,,,,anytime,,,true,,\n",
	})))
	// The title is of the row that is about all of it; its name says nothing of its phase.
	if i := find(t, c, catalog.Workflow, "bmad-sprint-planning"); i.Title != "Sprint Planning" || i.Phase != "implementation" || !slices.Equal(i.Codes, []string{"SS", "SP", "SA"}) {
		t.Errorf("sprint planning: %q, %q, %q", i.Title, i.Phase, i.Codes)
	}
	if i := find(t, c, catalog.Workflow, "bmad-quick-dev"); i.Name != "bmad-build" || !slices.Equal(i.Aliases, []string{"bmad-quick-dev"}) {
		t.Errorf("an old name leads to %s, %q", i.Name, i.Aliases) // and bmad-help is still itself
	}
	if i := find(t, c, catalog.Task, "bmad-help"); i.Name != "bmad-help" {
		t.Errorf("bmad-help has become %s", i.Name)
	}
}

// TestSources: an item of an earlier source is shown once; one that only a later source has is there.
func TestSources(t *testing.T) {
	user := catalog.Source{Name: "user", Dir: "/home/kim", Home: true, FS: with(fstest.MapFS{}, map[string]string{
		".claude/skills/bmad-prd/SKILL.md":          "---\nname: bmad-prd\ndescription: The person's\n---\n",
		".claude/skills/bmad-mine/SKILL.md":         "---\nname: bmad-mine\ndescription: Only the person's\n---\n",
		".config/agents/skills/bmad-deep/SKILL.md":  "---\nname: bmad-deep\ndescription: Deeper\n---\n",
		"_bmad/_config/manifest.yaml":               "installation:\n  version: 9\n",
		"_bmad/core/tasks/never.md":                 "# Never\n",
		".bmad/_config/manifest.yaml":               "installation:\n  version: 6.0.1\n",
		".bmad/own/tasks/ever.md":                   "# Ever\n",
		"code/other/.claude/skills/bmad-x/SKILL.md": "---\nname: bmad-x\ndescription: Of another project\n---\n",
	})}
	git := catalog.Source{Name: "git-fork", Dir: "/var/copies/fork", FS: layout(t, "source-v6")}
	c := catalog.Open(source(layout(t, "v6-skills")), user, git)

	// The person's bmad-prd says no module: it is the one that is there already.
	for name, want := range map[string]string{"bmad-prd": "project bmm", "bmad-dev-story": "git-fork bmm"} {
		if i := find(t, c, catalog.Workflow, name); i.Source+" "+i.Module != want {
			t.Errorf("%s is of %s %s, want %s", name, i.Source, i.Module, want)
		}
	}
	for name, want := range map[string]string{
		"bmad-mine": "bmad://~user/.claude/skills/bmad-mine/SKILL.md",
		"bmad-deep": "bmad://~user/.config/agents/skills/bmad-deep/SKILL.md",
		"ever":      "bmad://~user/.bmad/own/tasks/ever.md",
	} {
		if i := find(t, c, catalog.Task, name); i.URI != want {
			t.Errorf("%s is at %s, want %s", name, i.URI, want)
		}
	}
	for _, name := range []string{"never", "bmad-x"} { // of a project that the home folder holds
		if i, err := c.Find(catalog.Task, name); err == nil {
			t.Errorf("%s was found at %s", name, i.URI)
		}
	}
	if !c.Holds("user") || !c.Holds("git-fork") || c.Holds("elsewhere") {
		t.Error("the sources that hold an installation are not told from those that do not")
	}
	if got := names(catalog.Open(git, source(layout(t, "v6-skills"))), catalog.Workflow); !strings.Contains(got, "bmm/bmad-dev-story") || strings.Count(got, "bmm/bmad-prd") != 1 {
		t.Errorf("in the other order: %s", got)
	}
}

// TestSkillsOfThePerson: a project's manifests and configuration can be about skills that are
// the person's: they are no agents without a skill, and nothing is missing.
func TestSkillsOfThePerson(t *testing.T) {
	own, home := fstest.MapFS{}, fstest.MapFS{}
	for name, f := range layout(t, "v6-skills") {
		if strings.HasPrefix(name, ".") {
			home[name] = f
		} else {
			own[name] = f
		}
	}
	own = with(own, map[string]string{"_bmad/custom/config.toml": "[agents.bmad-agent-dev]\ntitle = \"Our Developer\"\n\n[agents.my-own]\nname = \"Vera\"\n"})
	user := catalog.Source{Name: "user", Dir: "/home/kim", FS: home, Home: true}
	c := catalog.Open(source(own), user)
	if got, want := names(c, catalog.Agent), "my-own, bmm/bmad-agent-analyst, bmm/bmad-agent-dev, tea/bmad-tea"; got != want {
		t.Errorf("agents %s, want %s", got, want)
	}
	if i := find(t, c, catalog.Agent, "bmad-agent-dev"); i.Title != "Our Developer" || i.Source != "user" || i.URI != "bmad://~user/.claude/skills/bmad-agent-dev/SKILL.md" {
		t.Errorf("the developer: %+v", i)
	}
	if got := problems(c); got != `_bmad/_config/skill-manifest.csv: the skill "bmad-walkthrough" of module "bmm" is listed and is in no folder of skills` {
		t.Errorf("problems: %s", got)
	}
	alone := catalog.Open(source(own))
	if got := names(alone, catalog.Agent); got != "my-own, bmm/bmad-agent-dev" {
		t.Errorf("without the person's: %s", got)
	}
	if got := problems(alone); strings.Count(got, "is in no folder of skills") != 11 || !strings.Contains(got, `the agent "bmad-agent-analyst" is described and has no skill`) {
		t.Errorf("without the person's, problems: %s", got)
	}
}

// TestInstallationItself: a folder can be an installation, not only hold one.
func TestInstallationItself(t *testing.T) {
	itself := func(name, dir string) fs.FS {
		sub, err := fs.Sub(layout(t, name), dir)
		if err != nil {
			t.Fatal(err)
		}
		return sub
	}
	tests := []struct {
		layout, dir string
		want        bool
	}{
		{"v6-files", "_bmad", true}, {"v6-anyname", "_grimoire", true}, {"v4", ".bmad-core", true}, {"v4", ".bmad-creative-writing", true},
		{"v6-files", "_bmad/bmm", false}, {"v6-files", ".", false}, {"v4", "docs", false},
	}
	for _, tt := range tests {
		dir := strings.TrimSuffix(shop+"/"+tt.dir, "/.")
		if got := catalog.IsInstallation(itself(tt.layout, tt.dir), dir); got != tt.want {
			t.Errorf("%s of %s: %v", tt.dir, tt.layout, got)
		}
	}
	c := catalog.Open(catalog.Source{Name: "root", Dir: shop + "/_bmad", FS: itself("v6-files", "_bmad")})
	if got, want := names(c, catalog.Agent), "bmm/analyst, bmm/architect, bmm/tech-writer, core/bmad-master"; got != want {
		t.Errorf("agents of the folder itself: %s", got)
	}
	if got := find(t, c, catalog.Workflow, "create-prd"); len(got.Codes) != 1 || got.Phase != "planning" {
		t.Errorf("its help was not read: %+v", got)
	}
	only := catalog.Open(catalog.Source{Name: "root", Dir: shop, FS: layout(t, "v6-files", "v4"), Only: "_bmad"})
	if got := names(only, catalog.Workflow); strings.Contains(got, "bmad-core") || !strings.Contains(got, "bmm/create-prd") {
		t.Errorf("with one folder named: %s", got)
	}

	for _, tt := range []struct {
		layout string
		want   bool
	}{{"v4", true}, {"v6-alpha", true}, {"v6-alpha-dot", true}, {"v6-files", true}, {"v6-skills", true}, {"next", false}, {"v6-anyname", false}} {
		if got := catalog.MayHold(layout(t, tt.layout)); got != tt.want {
			t.Errorf("%s looks like one that holds an installation: %v", tt.layout, got)
		}
	}
}

// TestNothing: a folder without an installation is said to be one.
func TestNothing(t *testing.T) {
	c := catalog.Open(source(with(fstest.MapFS{}, map[string]string{"README.md": "# A project\n", "src/main.go": "package main\n", ".claude/skills/pdf/SKILL.md": "---\nname: pdf\n---\n"})))
	if !c.Empty() || c.Holds(catalog.Project) || len(c.Items()) != 0 || len(c.Modules()) != 0 || len(c.Problems()) != 0 {
		t.Errorf("found %v, %v, %v", c.Items(), c.Modules(), c.Problems())
	}
	_, err := c.Find(catalog.Agent, "analyst")
	wantFault(t, "find", err, "not_found", "no installation", "npx bmad-method install")
	_, err = follow(c, "README.md")
	wantFault(t, "read", err, "not_found", "no installation", "npx bmad-method install")
	_, err = resolve.Config(c)
	wantFault(t, "config", err, "not_found", "no installation", "npx bmad-method install")
}
