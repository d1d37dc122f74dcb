package resolve_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// TestCustomizationInYAML: the persona in a customization of the alphas to 6.2 replaces the item's,
// the rest is added, but not the parts that the installer has written into the file already.
func TestCustomizationInYAML(t *testing.T) {
	const name = "_bmad/_config/agents/bmm-analyst.customize.yaml"
	menu := []resolve.MenuItem{
		{Code: "MH", Description: "Show the menu"},
		{Code: "MR", Description: "Look into a market", Does: shop + "/_bmad/bmm/workflows/1-analysis/research/workflow.md", Item: "bmm/research"},
		{Code: "CP", Description: "Write a PRD", Does: shop + "/_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow-create-prd.md", Item: "bmm/create-prd"},
		{Code: "DA", Description: "Stop"},
	}
	plain := resolve.Persona{
		Name: "Mary", Title: "Business Analyst", Icon: "📊", Role: "Finder of facts & asker of questions", Identity: "Has read the customers' letters", Style: `Says "why" often`,
		Principles: []string{"Name the source of every fact.", "Say what you don't know."}, Menu: menu,
	}
	tests := []struct {
		name, text string
		change     func(p *resolve.Persona)
		merged     bool
	}{
		{"nothing", "", func(*resolve.Persona) {}, false},
		{"only comments", "# Agent Customization\n", func(*resolve.Persona) {}, false},
		{"empty fields", "agent:\n  metadata:\n    name: \"\"\npersona:\n  role: \"\"\n  principles: []\ncritical_actions: []\nmemories: []\nmenu: []\nprompts: []\n", func(*resolve.Persona) {}, false},
		{"the name", "agent: {metadata: {name: Maria}}", func(p *resolve.Persona) { p.Name = "Maria" }, true},
		{"a title and an icon", "agent: {metadata: {title: Chief, icon: X}}", func(p *resolve.Persona) { p.Title, p.Icon = "Chief", "X" }, true},
		{"a part of the persona, which is replaced as a whole", "persona: {identity: ' New '}", func(p *resolve.Persona) {
			p.Role, p.Identity, p.Style, p.Principles = "", "New", "", nil
		}, true},
		{"all of the persona", "persona: {role: R, identity: I, communication_style: C, principles: [P, Q]}", func(p *resolve.Persona) {
			p.Role, p.Identity, p.Style, p.Principles = "R", "I", "C", []string{"P", "Q"}
		}, true},
		{"principles in one text", "persona: {role: R, principles: 'Only one'}", func(p *resolve.Persona) {
			p.Role, p.Identity, p.Style, p.Principles = "R", "", "", []string{"Only one"}
		}, true},
		{"colons in lists", "persona: {role: R, principles: [Clarity: say it, 'P']}\nmemories:\n  - Project: uses React\n", func(p *resolve.Persona) {
			p.Role, p.Identity, p.Style, p.Principles, p.Facts = "R", "", "", []string{"Clarity: say it", "P"}, []string{"Project: uses React"}
		}, true},
		{"actions and memories, each once", "critical_actions: [A, B, A]\nmemories: ['{user_name} reads', 'M', 'M']", func(p *resolve.Persona) {
			p.Critical, p.Facts = []string{"A", "B"}, []string{"Noor reads", "M"}
		}, true},
		{"many memories, each once", "memories: [" + strings.Repeat("M, ", 20) + "N]", func(p *resolve.Persona) { p.Facts = []string{"M", "N"} }, true},
		{"items of the menu", "menu:\n  - {trigger: tides, exec: '{project-root}/custom/tides.md', description: Tides}\n  - {trigger: ask, action: '#note', description: Ask}", func(p *resolve.Persona) {
			p.Menu = append(slices.Clone(menu), resolve.MenuItem{Code: "tides", Description: "Tides", Does: shop + "/custom/tides.md"}, resolve.MenuItem{Code: "ask", Description: "Ask", Does: "#note"})
		}, true},
		{"an item that the file has", "menu:\n  - {trigger: CP, description: Another text, exec: x.md}", func(*resolve.Persona) {}, true},
		{"an item that the file has under another code", "menu:\n  - {trigger: prd, description: Write a PRD, exec: '{project-root}/_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow-create-prd.md'}", func(*resolve.Persona) {}, true},
		{"prompts", "prompts:\n  - {id: note, content: ' For {user_name} '}", func(p *resolve.Persona) {
			p.Prompts = []resolve.CustomPrompt{{ID: "note", Content: "For Noor"}}
		}, true},
	}
	for _, tt := range tests {
		files := with(layout(t, "v6-files"), map[string]string{name: tt.text})
		r := resolveItem(t, catalog.Open(source(files)), catalog.Agent, "analyst")
		want := plain
		tt.change(&want)
		if !reflect.DeepEqual(*r.Persona, want) {
			t.Errorf("%s:\n got %swant %s", tt.name, asJSON(t, r.Persona), asJSON(t, want))
		}
		if custom := strings.Join(r.Custom, " "); custom != "" != tt.merged || tt.merged && custom != "bmad://"+name {
			t.Errorf("%s: merged %q", tt.name, custom)
		}
	}
	files := layout(t, "v6-files")
	delete(files, name)
	if r := resolveItem(t, catalog.Open(source(files)), catalog.Agent, "analyst"); !reflect.DeepEqual(*r.Persona, plain) {
		t.Errorf("without a customization: %s", asJSON(t, r.Persona))
	}
}

// TestCustomizationInTOML: three layers of a skill, four of the configuration; the project's
// hold for the items of other sources too.
func TestCustomizationInTOML(t *testing.T) {
	tests := []struct {
		name   string
		layers map[string]string // the texts laid over, by their endings
		want   string            // facts, menu and style of the analyst
		custom int
	}{
		{"its own only", nil, "Says why often. | Facts have a source. | BP MR CB", 0},
		{"the team's", map[string]string{".toml": "[agent]\ncommunication_style = 'T'\npersistent_facts = ['team']\n"}, "T | Facts have a source., team | BP MR CB", 1},
		{"the person's", map[string]string{".user.toml": "[agent]\ncommunication_style = 'P'\n"}, "P | Facts have a source. | BP MR CB", 1},
		{"both, the person's last", map[string]string{
			".toml":      "[agent]\ncommunication_style = 'T'\n[[agent.menu]]\ncode = 'NEW'\ndescription = 'team'\n[[agent.menu]]\ncode = 'BP'\ndescription = 'ours'\n",
			".user.toml": "[agent]\ncommunication_style = 'P'\npersistent_facts = ['mine', 'Facts have a source.']\n[[agent.menu]]\ncode = 'NEW'\ndescription = 'person'\n",
		}, "P | Facts have a source., mine, Facts have a source. | BP (ours) MR CB NEW (person)", 2},
		{"of another skill", map[string]string{"x.toml": "[agent]\ncommunication_style = 'T'\n"}, "Says why often. | Facts have a source. | BP MR CB", 0},
	}
	own := layout(t, "v6-skills")
	delete(own, "_bmad/custom/bmad-agent-analyst.toml")
	delete(own, "_bmad/custom/bmad-agent-analyst.user.toml")
	for _, tt := range tests {
		texts := map[string]string{}
		for ending, text := range tt.layers {
			texts["_bmad/custom/bmad-agent-analyst"+ending] = text
		}
		bare := with(fstest.MapFS{}, texts)
		for name, f := range own { // the same installation without its skills
			if !strings.HasPrefix(name, ".") {
				bare[name] = f
			}
		}
		skills := fstest.MapFS{}
		for name, f := range own {
			if strings.HasPrefix(name, ".") {
				skills[name] = f
			}
		}
		for where, sources := range map[string][]catalog.Source{
			"in the project": {source(with(own, texts))},
			"in the home":    {source(bare), {Name: "user", Dir: "/home/kim", FS: skills, Home: true}},
			"in a checkout":  {source(bare), {Name: "git-x", Dir: "/var/x", FS: skills}},
		} {
			r := resolveItem(t, catalog.Open(sources...), catalog.Agent, "bmad-agent-analyst")
			var menu []string
			for _, m := range r.Persona.Menu {
				if m.Description == "ours" || m.Description == "person" || m.Description == "team" {
					m.Code += " (" + m.Description + ")"
				}
				menu = append(menu, m.Code)
			}
			got := r.Persona.Style + " | " + strings.Join(r.Persona.Facts, ", ") + " | " + strings.Join(menu, " ")
			if got != tt.want || len(r.Custom) != tt.custom {
				t.Errorf("%s, %s: %s, by %q, want %s by %d", tt.name, where, got, r.Custom, tt.want, tt.custom)
			}
		}
	}
}

// TestRendered: a skill that has to be rendered is, as its own renderer does it.
func TestRendered(t *testing.T) {
	c := project(t, "v6-skills")
	r := resolveItem(t, c, catalog.Workflow, "bmad-build")
	if len(r.Parts) != 1 || r.Parts[0].URI != "bmad://.claude/skills/bmad-build/workflow.md?view=resolved" {
		t.Fatalf("texts: %+v", r.Parts)
	}
	want := "# Build\n\nSpeak with Kim in Catalan.\nPlans are in " + shop + "/_bmad-output/planning-artifacts.\n\nFacts (`_None._` means none):\n\n- One intent, one change.\n- The boats are wood.\n\n" +
		"Begin with `bmad://.claude/skills/bmad-build/step-02-plan.md?view=resolved`.\n"
	if got := words(r); got != want {
		t.Errorf("its text is\n%s\nwant\n%s", got, want)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "Run no render_skill.py") {
		t.Errorf("notes %q", r.Notes)
	}
	// The step that it names is rendered when it is read by that address: edge-case-hunter is
	// switched off by an empty instruction, the team's layer is last.
	want = "# Step 2\n\nWrite the plan to `" + shop + "/_bmad-output/implementation-artifacts/spec.md`, at most 400 words.\n\nReviews:\n\n" +
		"#### Blind Hunter (`blind-hunter`)\n\nRead {diff_file} without the intent.\n\n#### Tide Check (`tide-check`)\n\nRead {diff_file} and look for times that ignore the tide.\n\n" +
		"At the end: Ring the bell.\n"
	if got := read(t, c, "bmad://.claude/skills/bmad-build/step-02-plan.md?view=resolved"); got != want {
		t.Errorf("its step is\n%s\nwant\n%s", got, want)
	}
	if got := read(t, c, "bmad://.claude/skills/bmad-build/step-02-plan.md"); !strings.Contains(got, "{workflow.review_layers}") {
		t.Errorf("the step as it is: %s", got)
	}

	const dir = ".claude/skills/bmad-build/"
	steps := func(files map[string]string) *catalog.Catalog {
		return catalog.Open(source(with(layout(t, "v6-skills"), files)))
	}
	tests := []struct {
		name, text string
		settings   map[string]string
		want       string
	}{
		{"an empty list", "{workflow.activation_steps_append}", nil, "_None._"},
		{"a list of several lines", "{workflow.activation_steps_append}", map[string]string{"_bmad/custom/bmad-build.user.toml": "[workflow]\nactivation_steps_append = [\"one\\ntwo\", \"three\"]\n"}, "- one\n  two\n- three"},
		{"a setting that is a secret", "{workflow.api_key}", map[string]string{dir + "customize.toml": "[workflow]\napi_key = 'not-a-real-key'\n"}, "{workflow.api_key}"},
		{"a secret in a setting", "{workflow.on_complete}", map[string]string{"_bmad/custom/bmad-build.toml": "[workflow]\non_complete = 'psql postgres://u:sesame@h/x'\n"}, "psql postgres://********@h/x"},
		{"a text that may be emptied", "<{workflow.open_spec}>", map[string]string{dir + "customize.toml": "[workflow]\nopen_spec = 'x'\n", "_bmad/custom/bmad-build.toml": "[workflow]\nopen_spec = ''\n"}, "<>"},
		{"an empty text", "<{workflow.open_spec}>", nil, "<>"},
		{"no layer is left", "{workflow.oneshot_review_layers}", map[string]string{"_bmad/custom/bmad-build.toml": "[[workflow.oneshot_review_layers]]\nid = 'blind-hunter'\ninstruction = ' '\n"}, "No review layer is active. Stop, and tell the person: no active review layers."},
		{"a layer with a condition and no name", "{workflow.oneshot_review_layers}", map[string]string{"_bmad/custom/bmad-build.toml": "[[workflow.oneshot_review_layers]]\nid = 'blind-hunter'\nwhen = 'it rains'\ninstruction = 'Look.'\n"}, "#### blind-hunter (`blind-hunter`)\n\nRun only when: it rains\n\nLook."},
		{"a file that a setting names, which rendering does not change", "{workflow.on_complete}", map[string]string{"_bmad/custom/bmad-build.toml": "[workflow]\non_complete = 'Read {skill-root}/review-prompts/edge-case-hunter.md.'\n"}, "Read " + shop + "/" + dir + "review-prompts/edge-case-hunter.md."},
		{"one that it does", "{workflow.on_complete}", map[string]string{"_bmad/custom/bmad-build.toml": "[workflow]\non_complete = 'Read {skill-root}/step-02-plan.md.'\n"}, "Read bmad://" + dir + "step-02-plan.md?view=resolved."},
		{"values of the configuration", "{{config.core.user_name}} {{.project_knowledge}} {{config.modules.tea.test_artifacts}}", nil, "Kim " + shop + "/knowledge " + shop + "/_bmad-output/test-artifacts"},
		{"what is not there", "{{.nobody}} {{config.core.nobody}} {workflow.nobody} [[bmad-snapshot:none.md]]", nil, "{{.nobody}} {{config.core.nobody}} {workflow.nobody} [[bmad-snapshot:none.md]]"},
		{"a value that two places have", "{{.planning_artifacts}} {{.user_name}}", map[string]string{"_bmad/custom/config.toml": "[modules.tea]\nplanning_artifacts = 'x'\n"}, "{{.planning_artifacts}} Kim"},
		{"secrets", "{{.api_key}} {{config.modules.bmm.github_token}} {{config.modules.tea.db_password}}", nil, "{{.api_key}} {{config.modules.bmm.github_token}} {{config.modules.tea.db_password}}"},
		{"files out of the skill", "[[bmad-snapshot:../../../_bmad/config.md]] [[bmad-snapshot:../bmad-help/SKILL.md]]", nil, "[[bmad-snapshot:../../../_bmad/config.md]] [[bmad-snapshot:../bmad-help/SKILL.md]]"},
		{"a template's own", "{{slug}} {diff_file}", nil, "{{slug}} {diff_file}"},
	}
	for _, tt := range tests {
		files := map[string]string{dir + "probe.md": tt.text}
		for name, text := range tt.settings {
			files[name] = text
		}
		if got := read(t, steps(files), "bmad://"+dir+"probe.md?view=resolved"); got != tt.want {
			t.Errorf("%s: %s\n got %s\nwant %s", tt.name, tt.text, got, tt.want)
		}
	}
}

// TestOneOfAName: a value that only one module has is found for others, one of several is not;
// a module's own goes before the core's.
func TestOneOfAName(t *testing.T) {
	for config, want := range map[string]string{
		"[modules.a]\nport='1'\n":                                                          "1",
		"[modules.a]\nport='1'\n[modules.b]\nport='2'\n":                                   "{port}",
		"[core]\nport='core'\n[modules.core]\nport='own'\n[modules.bmm]\nport='another'\n": "own",
	} {
		c := catalog.Open(source(with(layout(t, "v6-skills"), map[string]string{".claude/skills/bmad-help/probe.md": "{port}", "_bmad/custom/config.toml": config})))
		if got := read(t, c, "bmad://.claude/skills/bmad-help/probe.md?view=resolved"); got != want {
			t.Errorf("%s: %q, want %q", config, got, want)
		}
	}
}

// TestRenderedRefuses: a setting that the renderer would stop at is an error that names it, and
// a problem of the installation; nothing of it is left out in silence.
func TestRenderedRefuses(t *testing.T) {
	tests := []struct{ name, settings, want string }{
		{"a layer without an instruction", "[[workflow.review_layers]]\nid = 'blind-hunter'\nwhen = 'it rains'\n", `workflow.review_layers of bmad-build cannot be used: the layer "blind-hunter" has no instruction`},
		{"a layer without an id", "[workflow]\nreview_layers = [{name = 'X', instruction = 'Y'}]\n", "has no id"},
		{"a condition that is no text", "[[workflow.review_layers]]\nid = 'x'\nwhen = true\ninstruction = 'Y'\n", `the when of the layer "x" is not a text`},
		{"layers that are texts", "[workflow]\nreview_layers = 'all'\n", "it is not a list"},
		{"an entry of a list that is none", "[workflow]\npersistent_facts = [1]\n", "entry "},
		{"a text in the place of a list", "[workflow]\npersistent_facts = 'one fact'\n", "it is not a list"},
		{"a text that has to be there", "[workflow.scope]\nmax_words = ''\n", "it is empty"},
	}
	for _, tt := range tests {
		const file = "_bmad/custom/bmad-build.toml"
		c := catalog.Open(source(with(layout(t, "v6-skills"), map[string]string{
			file: tt.settings, "_bmad/custom/bmad-build.user.toml": "", ".claude/skills/bmad-build/probe.md": "{workflow.review_layers} {workflow.persistent_facts} {workflow.scope.max_words}",
		})))
		_, err := follow(c, "bmad://.claude/skills/bmad-build/probe.md?view=resolved")
		wantFault(t, tt.name, err, fault.InvalidArgument, tt.want, "correct the customization of bmad-build")
		told := ""
		for _, p := range resolve.Check(c) {
			if p.Path == file {
				told += p.Text
			}
		}
		if !strings.Contains(told, "cannot be used: ") {
			t.Errorf("%s: the problems say %q", tt.name, told)
		}
	}
}

// TestRenderedTooLarge: settings that are repeated without end make no text that nobody can read.
func TestRenderedTooLarge(t *testing.T) {
	const dir = ".claude/skills/bmad-build/"
	c := catalog.Open(source(with(layout(t, "v6-skills"), map[string]string{
		dir + "workflow.md": strings.Repeat("{workflow.on_complete}", 5000), "_bmad/custom/bmad-build.toml": "[workflow]\non_complete = '" + strings.Repeat("x", 5000) + "'\n",
	})))
	_, err := resolve.Item(c, find(t, c, catalog.Workflow, "bmad-build"), at)
	wantFault(t, "with the item", err, fault.InvalidArgument, "the settings of bmad-build make its text too large", "shorten them")
	_, err = follow(c, "bmad://"+dir+"workflow.md?view=resolved")
	wantFault(t, "by itself", err, fault.InvalidArgument, "the settings of bmad-build make its text too large", "shorten them")
}

// TestSettingsView: the merged settings of a skill can be read by themselves, the date in them
// being that of whenever they are used.
func TestSettingsView(t *testing.T) {
	c := project(t, "v6-skills")
	r := resolveItem(t, c, catalog.Workflow, "bmad-prd")
	if r.SettingsURI != "bmad://.claude/skills/bmad-prd/customize.toml?view=resolved" {
		t.Fatalf("they are at %s", r.SettingsURI)
	}
	ref, err := catalog.ParseRef(r.SettingsURI)
	if err != nil {
		t.Fatal(err)
	}
	file, _, err := resolve.Text(c, ref, at)
	if err != nil || file.MIMEType != "application/yaml" || !strings.Contains(string(file.Data), "prd_output_path: "+shop+"/_bmad-output/planning-artifacts/prds\n") || !strings.Contains(string(file.Data), "run_folder_pattern: prd-lagoon-{date}\n") {
		t.Errorf("%v, %s\n%s", err, file.MIMEType, file.Data)
	}
	if raw := read(t, c, "bmad://.claude/skills/bmad-prd/customize.toml"); !strings.Contains(raw, `prd_output_path = "{planning_artifacts}/prds"`) {
		t.Errorf("as they are: %s", raw)
	}
	// In a file that is read by itself the settings do not stand above: tables are written out.
	files := with(layout(t, "v6-skills"), map[string]string{
		".claude/skills/bmad-agent-dev/more.md": "Offer {agent.menu}; be {agent.role}; keep {agent.persistent_facts}. {agent.nothing}",
		"_bmad/custom/bmad-agent-dev.toml":      "[[agent.menu]]\ncode = 'X'\ndescription = 'Y'\napi_key = 'not-a-real-one'\n",
	})
	want := `Offer [{"code":"BD","description":"Build","skill":"bmad-build"},{"api_key":"********","code":"X","description":"Y"}]; be Writer of code.; keep []. {agent.nothing}`
	if got := read(t, catalog.Open(source(files)), "bmad://.claude/skills/bmad-agent-dev/more.md?view=resolved"); got != want {
		t.Errorf("a file of the skill:\n got %s\nwant %s", got, want)
	}
}

// TestValuesOfTheEntry: the values of names in the file that begins a workflow hold for its other
// files too, whatever they are read as.
func TestValuesOfTheEntry(t *testing.T) {
	const dir = "bmad/bmm/workflows/2-plan-workflows/prd/"
	files := with(layout(t, "v6-alpha"), map[string]string{
		dir + "workflow.yaml":   "name: prd\nconfig_source: '{project-root}/bmad/bmm/config.yaml'\ninstalled_path: '{project-root}/bmad/bmm/workflows/2-plan-workflows/prd'\nout: '{config_source}:output_folder/prd-{date}.md'\nplace: '{output_folder}/x'\ninstructions: '{installed_path}/instructions.md'\nvalidation: '{installed_path}/checklist.md'\n",
		dir + "instructions.md": "---\nstep: one\n---\n{place} {step} {installed_path}",
		dir + "checklist.md":    "---\nplace: mine\n---\n{place} {step} {document_output_language}",
	})
	c := catalog.Open(source(files))
	r := resolveItem(t, c, catalog.Workflow, "prd")
	if got, want := r.Parts[1].Text, "---\nstep: one\n---\n"+shop+"/docs/x one "+shop+"/bmad/bmm/workflows/2-plan-workflows/prd"; got != want {
		t.Errorf("with the item: %s, want %s", got, want)
	}
	for name, want := range map[string]string{
		"instructions.md": r.Parts[1].Text,
		"checklist.md":    "---\nplace: mine\n---\nmine {step} German", // its own value goes first, another file's is none
	} {
		if got := read(t, c, "bmad://"+dir+name+"?view=resolved"); got != want {
			t.Errorf("%s by itself: %s, want %s", name, got, want)
		}
	}
}

// TestMenuData: an item of a menu can name a file that goes with its action.
func TestMenuData(t *testing.T) {
	c := project(t, "v6-mixed")
	r := resolveItem(t, c, catalog.Agent, "analyst")
	if got := r.Persona.Menu[0]; got.Does != "skill:bmad-brainstorming" || got.Data != shop+"/_bmad/bmm/data/project-context-template.md" {
		t.Errorf("the menu has %+v", got)
	}
	if got := more(r); got != "bmad://_bmad/bmm/data/project-context-template.md BP" {
		t.Errorf("refers to %s", got)
	}
	if got := resolveItem(t, project(t, "v6-alpha"), catalog.Agent, "analyst").Persona.Menu[1]; got.Data != "" {
		t.Errorf("without: %+v", got)
	}
}

// TestNoConfiguration: if there is none, the reader is told so.
func TestNoConfiguration(t *testing.T) {
	for name, want := range map[string]bool{"next": true, "source-v6": true, "v6-skills": false, "v4": false} {
		c := project(t, name)
		notes := strings.Join(resolveItem(t, c, catalog.Agent, c.Items(catalog.Agent)[0].Name).Notes, " ")
		if strings.Contains(notes, "No configuration of the method was found") != want {
			t.Errorf("%s: notes %s", name, notes)
		}
	}
}

// TestTexts: any file can be read resolved, as the item sees it that it lies with.
func TestTexts(t *testing.T) {
	tests := []struct{ layout, address, want, open string }{
		{"v6-files", "bmad://_bmad/bmm/workflows/2-plan-workflows/create-prd/steps-c/step-01-init.md?view=resolved", "If `" + shop + "/_bmad-output/planning-artifacts/prd.md` is there", ""},
		{"v6-files", "bmad://_bmad/bmm/workflows/4-implementation/dev-story/workflow.yaml?view=resolved", `sprint_status: "` + shop + "/_bmad-output/implementation-artifacts/sprint-status.yaml\"", ""},
		{"v6-files", "bmad://core/tasks/help.md?view=resolved", "Read `" + shop + "/_bmad/_config/bmad-help.csv`", ""},
		{"v6-files", "bmad://_bmad/bmm/workflows/1-analysis/research/market-steps/step-01-init.md?view=resolved", "Ask Noor which market.", ""},
		{"v6-skills", "bmad://.claude/skills/bmad-prd/assets/prd-template.md?view=resolved", "# PRD of lagoon", ""},
		{"v6-skills", "bmad://.claude/skills/bmad-agent-analyst/SKILL.md?view=resolved", "greet `Kim` in `Catalan` with 🔭", ""},
		{"v4", "bmad://.bmad-core/tasks/create-next-story.md?view=resolved", "Look for `docs/stories/{epic}.{story}.story.md`", "{epic} {story}"},
	}
	for _, tt := range tests {
		ref, err := catalog.ParseRef(tt.address)
		if err != nil || !ref.Resolved {
			t.Fatalf("%s: %+v, %v", tt.address, ref, err)
		}
		file, open, err := resolve.Text(project(t, tt.layout), ref, at)
		if err != nil || !strings.Contains(string(file.Data), tt.want) || strings.Join(open, " ") != tt.open {
			t.Errorf("%s: %v, open %q\n%s\nwant %s", tt.address, err, open, file.Data, tt.want)
		}
	}
}
