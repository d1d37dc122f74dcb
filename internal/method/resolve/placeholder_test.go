package resolve_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// probe is a skill of the fixture of 6.12 whose text is a test's.
const probe = ".claude/skills/bmad-probe"

// resolveProbe resolves a text as that of a workflow in a project of 6.12. Its front matter is that
// of a workflow.md: the front matter of SKILL.md is its host's, and names nothing else.
func resolveProbe(t *testing.T, front, text string, ctx resolve.Target) (string, []string) {
	t.Helper()
	all := with(layout(t, "v6-skills"), map[string]string{
		probe + "/SKILL.md":    "---\nname: bmad-probe\ndescription: x\n---\nFollow workflow.md.",
		probe + "/workflow.md": "---\nname: bmad-probe\n" + front + "---\n" + text,
		probe + "/customize.toml": `
[workflow]
text = "plain"
number = 7
nested = "{planning_artifacts}/prds"
deep.er = "below"
several = ["one", "two {user_name}"]
empty = []
tables = [{ id = "a" }]
api_key = "not-a-real-key-of-the-skill"
`})
	c := catalog.Open(source(all))
	r, err := resolve.Item(c, find(t, c, catalog.Workflow, "bmad-probe"), ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Parts) != 2 {
		t.Fatalf("%d parts", len(r.Parts))
	}
	_, body, ok := strings.Cut(r.Parts[1].Text, "\n---\n")
	if !ok {
		t.Fatalf("the front matter is gone: %q", r.Parts[1].Text)
	}
	return body, r.Open
}

func TestPlaceholders(t *testing.T) {
	tests := []struct{ name, text, want, open string }{
		{"the project", "{project-root} {project_root}/docs", shop + " " + shop + "/docs", ""},
		{"the folder of the installation", "{bmad_folder} {bmad-folder}", "_bmad _bmad", ""},
		{"the installation, the module, the module's configuration", "{bmad_root} {bmad-root} {module_root} {module_config} {config_source}", shop + "/_bmad " + shop + "/_bmad {module_root} {module_config} {config_source}", "{module_root} {module_config} {config_source}"},
		{"the skill's own folder", "{skill-root} {skill_root} {installed_path}/x.md", shop + "/" + probe + " " + shop + "/" + probe + " " + shop + "/" + probe + "/x.md", ""},
		{"its name", "{skill-name} {skill_name}", "bmad-probe bmad-probe", ""},
		{"the date", "{date} {current_date}", "2026-03-04 2026-03-04", ""},
		{"values of the layers", "{user_name}, {communication_language}, {document_output_language}", "Kim, Catalan, Spanish", ""},
		{"values that have placeholders", "{planning_artifacts} {project_knowledge}", shop + "/_bmad-output/planning-artifacts " + shop + "/knowledge", ""},
		{"a value that is a path from the project", "{output_folder}", "_bmad-output", ""},
		{"a value by its source", "({config_source}:user_name)", "(Kim)", ""},
		{"a value by its source, at the end of a sentence", "{config_source}:user_name. {config_source}:core.user_name.", "Kim. Kim.", ""},
		{"a value by its whole name", "{core.user_name} {modules.bmm.project_knowledge}", "Kim " + shop + "/knowledge", ""},
		{"a value of the only module that has it", "{test_artifacts}", shop + "/_bmad-output/test-artifacts", ""},
		{"where a line speaks of a placeholder", "- `{user_name}` resolves to the person, and {user_name} is one\n- Bare `{project-root}`-prefixed paths\n- Greet `{user_name}`", "- `{user_name}` resolves to the person, and Kim is one\n- Bare `{project-root}`-prefixed paths\n- Greet `Kim`", ""},
		{"settings of the skill", "{workflow.text} {workflow.number} {workflow.deep.er}", "plain 7 below", ""},
		{"settings that have placeholders", "{workflow.nested}", shop + "/_bmad-output/planning-artifacts/prds", ""},
		{"a list within a sentence", "{workflow.several}|{workflow.empty}", "one; two Kim|[]", ""},
		{"what no sentence can hold", "{workflow.tables}|{workflow.deep}", "the settings above, under workflow.tables|the settings above, under workflow.deep", ""},
		{"settings it has not", "{workflow.nothing} {agent.role}", "{workflow.nothing} {agent.role}", "{workflow.nothing} {agent.role}"},
		{"a template's own", "{{user_name}} {{date}} {{ project_name }} {{{user_name}}} {{#if date}}", "{{user_name}} {{date}} {{ project_name }} {{{user_name}}} {{#if date}}", ""},
		{"a program's own", "${user_name} ${HOME}/x", "${user_name} ${HOME}/x", ""},
		{"no placeholders at all", `{} { user_name } {"user_name": 1} {1} {a b} {-x} {user_name`, `{} { user_name } {"user_name": 1} {1} {a b} {-x} {user_name`, ""},
		{"unknown ones, each told once", "{nobody} {no-thing} {nobody} {user_name}", "{nobody} {no-thing} {nobody} Kim", "{nobody} {no-thing}"},
		{"an unknown one by its source", "{config_source}:nobody", "{config_source}:nobody", "{config_source}:nobody"},
		{"close to each other", "{user_name}{user_name}{nobody}{user_name}", "KimKim{nobody}Kim", "{nobody}"},
		{"in code", "`{user_name}`\n```\n{date}\n```", "`Kim`\n```\n2026-03-04\n```", ""},
		{"secrets of the configuration", "{api_key} {github_token} {db_password} ({config_source}:api_key) {modules.bmm.api_key} {modules.tea.db_password}",
			"{api_key} {github_token} {db_password} ({config_source}:api_key) {modules.bmm.api_key} {modules.tea.db_password}",
			"{api_key} {github_token} {db_password} {config_source}:api_key {modules.bmm.api_key} {modules.tea.db_password}"},
		{"secrets of the skill", "{workflow.api_key}", "{workflow.api_key}", "{workflow.api_key}"},
		{"what front matter says of the file is no value", "{name} {description}", "{name} {description}", "{name} {description}"},
		{"what else front matter says is one", "{outputFile}", shop + "/_bmad-output/planning-artifacts/x.md", ""},
	}
	for _, tt := range tests {
		got, open := resolveProbe(t, "description: x\noutputFile: '{planning_artifacts}/x.md'\n", tt.text, at)
		if got != tt.want || strings.Join(open, " ") != tt.open {
			t.Errorf("%s: %s\n got %s, open %q\nwant %s, open %q", tt.name, tt.text, got, open, tt.want, tt.open)
		}
		if strings.Contains(got, "not-a-real") {
			t.Errorf("%s: a secret was filled in: %s", tt.name, got)
		}
	}
}

// TestPlaceholdersOfNothing: without a project or a date, their placeholders stay.
func TestPlaceholdersOfNothing(t *testing.T) {
	got, open := resolveProbe(t, "", "{project-root}/x {date} {planning_artifacts} {user_name}", resolve.Target{})
	if want := "{project-root}/x {date} {project-root}/_bmad-output/planning-artifacts Kim"; got != want || strings.Join(open, " ") != "{project-root} {date}" {
		t.Errorf("%q, open %q, want %q", got, open, want)
	}
	bare := catalog.Open(catalog.Source{Name: catalog.Project, FS: with(layout(t, "v6-skills"), map[string]string{probe + "/SKILL.md": "---\nname: bmad-probe\n---\n{skill-root} {installed_path} {skill-name} {date}"})})
	r, err := resolve.Item(bare, find(t, bare, catalog.Task, "bmad-probe"), resolve.Target{Now: time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	if got := words(r); !strings.HasSuffix(got, "{skill-root} {installed_path} bmad-probe 2026-12-31") || strings.Join(r.Open, " ") != "{skill-root} {installed_path}" {
		t.Errorf("of a source without a folder: %q, open %q", got, r.Open)
	}
}

// TestPlaceholdersOfModules: a text finds its module and the module's settings, and is told all of them but the
// secrets. A setting that others have counts if they agree.
func TestPlaceholdersOfModules(t *testing.T) {
	const text = "---\nname: probe\ndescription: x\n---\n{bmad_root} {module_root} {module_config} {config_source} {pace} {port}|"
	for what, tt := range map[string]struct {
		files        map[string]string
		kind         catalog.Kind
		want, config string
	}{
		"of a file": {map[string]string{
			"_bmad/_config/manifest.yaml": "modules: [own]\n", "_bmad/own/workflows/probe/workflow.md": text, "_bmad/own/config.yaml": "user_name: Kim\r\npace: slow\r\nport: 7\r\napi_key: sk\r\nlist: [a]\r\n",
		}, catalog.Workflow, "/_bmad " + shop + "/_bmad/own " + shop + "/_bmad/own/config.yaml " + shop + "/_bmad/own/config.yaml slow 7|", "user_name=Kim pace=slow port=7"},
		"of a skill": {map[string]string{
			"_bmad/_config/skill-manifest.csv": "canonicalId,name,description,module,path\nprobe,probe,x,own,_bmad/own/probe/SKILL.md\n", "_bmad/own/README.md": "x", ".claude/skills/probe/SKILL.md": text,
			"_bmad/config.toml": "[core]\nuser_name = 'Kim'\n[modules.own]\nsecret_token = 'x'\nzeal = 3\n[modules.a]\npace = 'slow'\nport = 1\n[modules.b]\npace = 'slow'\nport = 2\n",
		}, catalog.Task, "/_bmad " + shop + "/_bmad/own {module_config} {config_source} slow {port}|", "user_name=Kim zeal=3"},
		"of version 4": {map[string]string{".bmad-core/core-config.yaml": "pace: slow\nport: 7\n", ".bmad-core/agents/a.md": "# A", ".bmad-core/tasks/probe.md": text},
			catalog.Task, "/.bmad-core " + shop + "/.bmad-core " + shop + "/.bmad-core/core-config.yaml " + shop + "/.bmad-core/core-config.yaml slow 7|", ""},
	} {
		r := resolveItem(t, catalog.Open(source(with(fstest.MapFS{}, tt.files))), tt.kind, "probe")
		var config []string
		for _, s := range r.Config {
			config = append(config, s.Key+"="+s.Value)
		}
		if got := words(r); !strings.HasSuffix(got, "\n"+shop+tt.want) || strings.Join(config, " ") != tt.config {
			t.Errorf("%s:\n got %s, settings %s\nwant %s, settings %s", what, got, config, shop+tt.want, tt.config)
		}
	}
}

// TestLoops: values that lead to each other end, and to no text larger than anyone can read.
func TestLoops(t *testing.T) {
	hundred := func(name string) string { return strings.Repeat("{"+name+"}", 100) }
	tests := []struct{ name, front, text, want string }{
		{"a value of itself", "a: '{a}'\n", "x{a}y", "x{a}y"},
		{"a value that has itself", "a: '<{a}>'\n", "{a}", "<{a}>"},
		{"two of each other", "a: '<{b}>'\nb: '({a})'\n", "{a} {b}", "<({a})> (<{b}>)"},
		{"three in a ring", "a: '{b}'\nb: '{c}'\nc: '{a}'\n", "{b}", "{b}"},
		{"the same twice in a row is no loop", "a: '{b}{b}'\nb: 'x'\n", "{a}{a}", "xxxx"},
		{"the configuration's value of the same name", "user_name: '{config_source}:user_name'\n", "{user_name}", "Kim"},
	}
	for _, tt := range tests {
		if got, _ := resolveProbe(t, tt.front, tt.text, at); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for name, front := range map[string]string{
		"many of many":      "a: '" + hundred("b") + "'\nb: '" + hundred("c") + "'\nc: '" + hundred("d") + "'\nd: '" + hundred("e") + "'\ne: '" + hundred("f") + "'\nf: " + strings.Repeat("x", 500) + "\n",
		"through a setting": "a: '" + strings.Repeat("{workflow.nested}{b}", 50) + "'\nb: '" + hundred("a") + hundred("workflow.nested") + "'\n",
	} {
		if got, _ := resolveProbe(t, front, hundred("a"), at); len(got) > 4*catalog.MaxFile {
			t.Errorf("%s: a text of %d bytes", name, len(got))
		}
	}
}

// TestPlaceholdersOfSources: {project-root} is the caller's project, but before a file of the
// installation it is the folder of that file; the project's own settings go for all sources.
func TestPlaceholdersOfSources(t *testing.T) {
	text := "---\nname: probe\ndescription: x\n---\n" +
		"{project-root} {project-root}/docs/x.md `{project-root}/_bmad/bmm/config.yaml` {project-root}/_bmad/_memory/none.md {installed_path} {bmad_folder} {user_name} {output_folder} {project-root}/../x"
	checkout := with(layout(t, "v6-files"), map[string]string{"_bmad/bmm/workflows/probe/workflow.md": text})
	home := with(fstest.MapFS{}, map[string]string{
		".claude/skills/bmad-probe/SKILL.md": strings.ReplaceAll(text, "_bmad/bmm/config.yaml", ".claude/skills/bmad-probe/SKILL.md"),
	})
	git := catalog.Source{Name: "git-fork", Dir: "/var/copies/fork", FS: checkout}
	user := catalog.Source{Name: "user", Dir: "/home/kim", FS: home, Home: true}
	own := source(layout(t, "v6-skills"))
	empty := source(with(fstest.MapFS{}, map[string]string{"README.md": "# A project\n"}))
	tests := []struct {
		name    string
		sources []catalog.Source
		want    string
	}{
		{"of the project", []catalog.Source{source(checkout)}, "/srv/shop /srv/shop/docs/x.md `/srv/shop/_bmad/bmm/config.yaml` /srv/shop/_bmad/_memory/none.md /srv/shop/_bmad/bmm/workflows/probe _bmad Noor _bmad-output /srv/shop/../x"},
		{"of a checkout, in a project without an installation", []catalog.Source{empty, git}, "/srv/shop /srv/shop/docs/x.md `/var/copies/fork/_bmad/bmm/config.yaml` /srv/shop/_bmad/_memory/none.md /var/copies/fork/_bmad/bmm/workflows/probe _bmad Noor _bmad-output /srv/shop/../x"},
		{"of a checkout, in a project of 6.12", []catalog.Source{own, git}, "/srv/shop /srv/shop/docs/x.md `/srv/shop/_bmad/bmm/config.yaml` /srv/shop/_bmad/_memory/none.md /var/copies/fork/_bmad/bmm/workflows/probe _bmad Kim _bmad-output /srv/shop/../x"},
		{"of the person, in a project of 6.12", []catalog.Source{own, user}, "/srv/shop /srv/shop/docs/x.md `/home/kim/.claude/skills/bmad-probe/SKILL.md` /srv/shop/_bmad/_memory/none.md /home/kim/.claude/skills/bmad-probe _bmad Kim _bmad-output /srv/shop/../x"},
	}
	for _, tt := range tests {
		c := catalog.Open(tt.sources...)
		i, err := c.Find(catalog.Workflow, "probe")
		if err != nil {
			i = find(t, c, catalog.Task, "bmad-probe")
		}
		r, err := resolve.Item(c, i, at)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if _, got, _ := strings.Cut(words(r), "\n---\n"); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestPlaceholdersOfVersion4: its sources say {root}, its installed files the folder itself.
func TestPlaceholdersOfVersion4(t *testing.T) {
	r := resolveItem(t, project(t, "source-v4"), catalog.Task, "create-next-story")
	if got := words(r); !strings.Contains(got, "Load `bmad-core/core-config.yaml`, then `bmad-core/templates/story-tmpl.yaml`.") || len(r.Open) != 0 {
		t.Errorf("%s, open %q", got, r.Open)
	}
	r = resolveItem(t, project(t, "v4"), catalog.Task, "create-next-story")
	if got := words(r); !strings.Contains(got, "`docs/stories/{epic}.{story}.story.md`") || strings.Join(r.Open, " ") != "{epic} {story}" {
		t.Errorf("%s, open %q", got, r.Open)
	}
	if got := words(resolveItem(t, project(t, "v6-files"), catalog.Task, "help")); !strings.Contains(got, "`"+shop+"/_bmad/_config/bmad-help.csv`") {
		t.Errorf("a task of version 6: %s", got)
	}
}
