package resolve_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

// TestResolvedGolden compares all that is told of some items, of each layout, with files.
func TestResolvedGolden(t *testing.T) {
	for _, tt := range []struct {
		layout string
		kind   catalog.Kind
		name   string
	}{
		{"v4", catalog.Agent, "pm"}, {"v4", catalog.Workflow, "greenfield-service"}, {"v4", catalog.Task, "create-next-story"},
		{"source-v4", catalog.Agent, "sm"},
		{"v6-alpha", catalog.Agent, "analyst"}, {"v6-alpha", catalog.Workflow, "prd"}, {"v6-alpha", catalog.Task, "adv-elicit"},
		{"v6-alpha-dot", catalog.Workflow, "dev-story"},
		{"v6-files", catalog.Agent, "analyst"}, {"v6-files", catalog.Workflow, "create-prd"}, {"v6-files", catalog.Task, "help"},
		{"v6-mixed", catalog.Agent, "dev"}, {"v6-mixed", catalog.Workflow, "bmad-create-prd"}, {"v6-mixed", catalog.Task, "bmad-distillator"},
		{"v6-skills-63", catalog.Agent, "bmad-agent-tech-writer"}, {"v6-skills-63", catalog.Workflow, "bmad-create-prd"},
		{"v6-skills", catalog.Agent, "bmad-agent-analyst"}, {"v6-skills", catalog.Agent, "my-own"}, {"v6-skills", catalog.Workflow, "bmad-prd"}, {"v6-skills", catalog.Workflow, "bmad-build"},
		{"next", catalog.Agent, "bmad-agent-analyst"}, {"next", catalog.Task, "bmad"},
		{"source-v6", catalog.Workflow, "bmad-dev-story"},
		{"source-module", catalog.Agent, "baker"}, {"source-module", catalog.Agent, "bakery-agent-miller"}, {"source-module", catalog.Workflow, "plan"},
	} {
		t.Run(tt.layout+"/"+tt.name, func(t *testing.T) {
			golden.Check(t, filepath.Join("testdata", "golden", tt.layout, tt.name+".txt"), describe(t, resolveItem(t, project(t, tt.layout), tt.kind, tt.name)))
		})
	}
}

// TestEveryItem: each item of each layout is resolved: its entry file is first, its references
// exist and can be read, and no placeholder with a known value is left.
func TestEveryItem(t *testing.T) {
	for _, name := range layouts {
		if name == "broken" { // TestBrokenLayers has it
			continue
		}
		c := project(t, name)
		for _, i := range c.Items() {
			r, err := resolve.Item(c, i, at)
			if err != nil {
				t.Errorf("%s: %s: %v", name, i.Full(), err)
				continue
			}
			if i.Path == "" {
				if len(r.Parts) != 0 || len(r.Notes) == 0 {
					t.Errorf("%s: %s has no file, %d texts and notes %q", name, i.Full(), len(r.Parts), r.Notes)
				}
				continue
			}
			if len(r.Parts) == 0 || r.Parts[0].URI != i.URI && !strings.HasSuffix(r.Parts[0].URI, "/workflow.md?view=resolved") {
				t.Errorf("%s: %s begins with %v", name, i.Full(), r.Parts)
			}
			if (i.Kind == catalog.Agent) != (r.Persona != nil) {
				t.Errorf("%s: %s %s has the persona %v", name, i.Kind, i.Full(), r.Persona)
			}
			text := describe(t, r)
			for _, left := range []string{"{project-root}", "{installed_path}", "{skill-root}", "{bmad_folder}", "{{.", "[[bmad-snapshot", "{workflow.review_layers}"} {
				if strings.Contains(text, left) {
					t.Errorf("%s: %s still has %s", name, i.Full(), left)
				}
			}
			readable(t, c, name+": "+i.Full(), r)
		}
	}
}

// TestPersonas: the personas of agents, with and without the project's customization.
func TestPersonas(t *testing.T) {
	type persona = resolve.Persona
	tests := []struct {
		layout, name string
		want         persona
		custom       []string
	}{
		{"v4", "release-steward", persona{Name: "Robin", Title: "Release Steward", Icon: "🚢", Role: "Release Steward", Style: "Calm", Identity: "Someone who has seen a release go wrong",
			Focus: "The list of steps before the tag", Principles: []string{"No tag without notes"},
			Menu: []resolve.MenuItem{{Code: "*help", Description: "Show the commands"}, {Code: "*notes", Description: "Write the notes of the release"}}}, nil},
		{"v4", "plot-architect", persona{Name: "Plot Architect", Title: "Builder of Plots", Icon: "🏗️", Role: "Builder of plots", Style: "Patient", Identity: "Reader of many drafts",
			Focus: "Cause and effect between scenes", Principles: []string{"A scene that changes nothing goes"},
			Menu: []resolve.MenuItem{{Code: "*help", Description: "Show these commands with numbers"}, {Code: "*outline", Description: "Run task create-doc.md"}}}, nil},
		// A customization that says nothing is none.
		{"v6-alpha", "pm", persona{Name: "John", Title: "Product Manager", Icon: "📋", Role: "Keeper of the PRD", Identity: "Has cut more than he has added", Style: "Asks for the reason",
			Principles: []string{"Less, sooner."},
			Menu:       []resolve.MenuItem{{Code: "*prd", Description: "Write the PRD", Does: shop + "/bmad/bmm/workflows/2-plan-workflows/prd/workflow.yaml", Item: "bmm/prd"}}}, nil},
		{"v6-alpha", "tea", persona{Name: "Murat", Title: "Master Test Architect", Icon: "🧪", Role: "Tester of the risky parts", Identity: "Has seen every flaky test", Style: "In percent",
			Principles: []string{"Risk first.", "A test that cannot fail is no test."},
			Menu:       []resolve.MenuItem{{Code: "*help", Description: "Show numbered menu"}}}, nil},
		{"v6-alpha-dot", "dev", persona{Name: "Amelia", Title: "Developer Agent", Icon: "💻", Role: "Writer of code", Identity: "Reads the story to its end", Style: "Terse",
			Principles: []string{"A story isn't done before its tests are."}, Facts: []string{"Config is at " + shop + "/.bmad/bmm/config.yaml"},
			Menu: []resolve.MenuItem{
				{Code: "*develop-story", Description: "Build the next story", Does: shop + "/.bmad/bmm/workflows/4-implementation/dev-story/workflow.yaml", Item: "bmm/dev-story"},
				{Code: "*status", Description: "What now?", Does: shop + "/.bmad/bmm/workflows/workflow-status/workflow.yaml", Item: "bmm/workflow-status"},
			}}, []string{"bmad://.bmad/_cfg/agents/bmm-dev.customize.yaml"}},
		{"v6-files", "architect", persona{Name: "Winston", Title: "Architect", Icon: "🏗️", Role: "Decider of what is hard to change later", Identity: "Has moved two systems", Style: "Draws first",
			Principles: []string{"Boring things last."}, Menu: []resolve.MenuItem{{Code: "CH", Description: "Talk"}}}, nil},
		{"v6-skills-63", "bmad-agent-analyst", persona{Name: "Mary", Title: "Business Analyst", Icon: "📊", Role: "Finder of facts", Identity: "Has read the customers' letters", Style: "Says why often",
			Principles: []string{"Name the source of every fact."}}, nil},
		{"v6-skills", "bmad-tea", persona{Name: "Murat", Title: "Master Test Architect", Icon: "🧪", Role: "Tester of the risky parts.", Identity: "Has seen every flaky test.", Style: "In percent.",
			Principles: []string{"A test that cannot fail is no test."},
			Menu:       []resolve.MenuItem{{Code: "TD", Description: "Where it would hurt", Does: "List three places, the worst first."}}}, nil},
		{"v6-skills", "my-own", persona{Name: "Vera", Title: "Keeper of Releases", Icon: "⚓", Identity: "Knows which version sails when."}, nil},
		{"source-v6", "bmad-agent-dev", persona{Name: "Amelia", Title: "Senior Software Engineer", Icon: "💻", Role: "Writer of code.", Principles: []string{"Tests before the tick."},
			Menu: []resolve.MenuItem{{Code: "DS", Description: "Build a story", Does: "bmad-dev-story", Item: "bmm/bmad-dev-story"}}}, nil},
	}
	for _, tt := range tests {
		r := resolveItem(t, project(t, tt.layout), catalog.Agent, tt.name)
		if !reflect.DeepEqual(*r.Persona, tt.want) || !slices.Equal(r.Custom, tt.custom) {
			t.Errorf("%s: %s\n got %s%q\nwant %s%q", tt.layout, tt.name, asJSON(t, r.Persona), r.Custom, asJSON(t, tt.want), tt.custom)
		}
	}
}

// TestPrinciples: the forms in which agents list their principles.
func TestPrinciples(t *testing.T) {
	block := func(rest string) string {
		return "# x\n\n```yaml\nagent:\n  name: X\n  id: x\npersona:\n  role: R\n" + rest + "\n```\n"
	}
	compiled := func(principles string) string {
		return "```xml\n<agent id=\"x\" name=\"X\"><persona><role>R</role><principles>" + principles + "</principles></persona></agent>\n```\n"
	}
	tests := []struct{ layout, file, text, want string }{
		{"v4", ".bmad-core/agents/x.md", block("  core_principles: [One, Two]"), "One|Two"},
		{"v4", ".bmad-core/agents/x.md", block("  core_principles:\n    - CRITICAL: never skip\n    - Two - or three"), "CRITICAL: never skip|Two - or three"},
		{"v4", ".bmad-core/agents/x.md", block("core_principles:\n  - CRITICAL: all of it\n  - Two"), "CRITICAL: all of it|Two"},
		{"v4", ".bmad-core/agents/x.md", block("  core_principles: Only one"), "Only one"},
		{"v6-files", "_bmad/bmm/agents/x.md", compiled("- One sentence, not more - it is enough. - Two. - &quot;Three&quot;"), `One sentence, not more - it is enough.|Two.|"Three"`},
		{"v6-files", "_bmad/bmm/agents/x.md", compiled("One"), "One"},
		{"v6-files", "_bmad/bmm/agents/x.md", compiled("lower - case - B"), "lower - case|B"},
		{"v6-files", "_bmad/bmm/agents/x.md", compiled(" - "), ""},
	}
	for _, tt := range tests {
		c := catalog.Open(source(with(layout(t, tt.layout), map[string]string{tt.file: tt.text})))
		if got := strings.Join(resolveItem(t, c, catalog.Agent, "x").Persona.Principles, "|"); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// TestMenuOfNothing: an item of a menu that nobody has is reported; words and prompts name nothing.
func TestMenuOfNothing(t *testing.T) {
	toml := "[agent]\nname = 'X'\n"
	for code, does := range map[string]string{
		"A1": "skill = 'bmad-none'", "A2": "skill = 'bmad-prd'", "A3": "prompt = 'Say bmad-none'", "A4": "prompt = '{project-root}/_bmad/bmm/none/workflow.md'", "A5": "prompt = '#own'", "A6": "skill = 'skill:bmad-gone'",
	} {
		toml += "[[agent.menu]]\ncode = '" + code + "'\ndescription = 'd'\n" + does + "\n"
	}
	c := catalog.Open(source(with(layout(t, "v6-skills"), map[string]string{".claude/skills/bmad-x/SKILL.md": "---\nname: bmad-x\n---\n", ".claude/skills/bmad-x/customize.toml": toml})))
	notes := strings.Join(resolveItem(t, c, catalog.Agent, "bmad-x").Notes, " ")
	_, missing, _ := strings.Cut(notes, "not installed: ")
	codes := strings.Split(strings.TrimSuffix(missing, ". Say so when the person picks one."), ", ")
	if slices.Sort(codes); !slices.Equal(codes, []string{"A1", "A4", "A6"}) {
		t.Errorf("%q: %s", codes, notes)
	}
	if notes := strings.Join(resolveItem(t, c, catalog.Agent, "analyst").Notes, " "); strings.Contains(notes, "not installed") {
		t.Errorf("the analyst: %s", notes)
	}
}

// TestClassicCommands: the forms in which agents of version 4 and their packs list commands.
func TestClassicCommands(t *testing.T) {
	tests := []struct{ commands, want string }{
		{"[help, '*exit']", "*help=; *exit="},
		{"\n  - help: Show them\n  - '*exit: Leave, at last: now'\n  - draft:Write - once\n  - '\"yolo\" - Ask less'", "*help=Show them; *exit=Leave, at last: now; *draft=Write - once; *yolo=Ask less"},
		{"\n  - '*create-doc {template}\" - Create doc (no template = show them)'", "*create-doc {template}=Create doc (no template = show them)"},
		{"\n  help: Show them\n  agent: Turn into one\n  chat-mode:", "*help=Show them; *agent=Turn into one; *chat-mode="},
		{"\n  - develop:\n      - order: Read, then write\n      - blocking: Ask\n  - both: One\n    more: Two", "*develop=As the instructions describe it, under commands; *both=One; *more=Two"},
		{"none", ""}, {"[]", ""}, {"[[a], '', ~]", ""},
	}
	for _, tt := range tests {
		files := with(layout(t, "v4"), map[string]string{".bmad-core/agents/x.md": "# x\n\n```yaml\nagent:\n  name: X\n  id: x\npersona:\n  role: R\ncommands: " + tt.commands + "\n```\n"})
		var got []string
		for _, m := range resolveItem(t, catalog.Open(source(files)), catalog.Agent, "x").Persona.Menu {
			got = append(got, m.Code+"="+m.Description)
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.commands, strings.Join(got, "; "), tt.want)
		}
	}
}

// TestDependencies: an agent of version 4 names files of its own folder, and a pack's those of
// the core; missing files are left out.
func TestDependencies(t *testing.T) {
	const core = "bmad://.bmad-core/core-config.yaml the project's configuration: read this first"
	tests := []struct{ agent, more string }{
		{"analyst", core + "\nbmad://.bmad-core/tasks/create-doc.md tasks\nbmad://.bmad-core/templates/prd-tmpl.yaml templates\nbmad://.bmad-core/data/bmad-kb.md data"},
		{"plot-architect", "bmad://.bmad-creative-writing/tasks/create-doc.md tasks\nbmad://.bmad-creative-writing/workflows/novel-writing.yaml workflows"},
		{"release-steward", core + "\nbmad://.bmad-core/tasks/create-doc.md tasks\nbmad://.bmad-core/data/technical-preferences.md data"}, // it leaves out the endings
	}
	for _, tt := range tests {
		if got := more(resolveItem(t, project(t, "v4"), catalog.Agent, tt.agent)); got != tt.more {
			t.Errorf("%s:\n got %s\nwant %s", tt.agent, got, tt.more)
		}
	}
	pack := layout(t, "v4")
	delete(pack, ".bmad-creative-writing/tasks/create-doc.md")
	if got := more(resolveItem(t, catalog.Open(source(pack)), catalog.Agent, "plot-architect")); !strings.HasPrefix(got, "bmad://.bmad-core/tasks/create-doc.md tasks\n") {
		t.Errorf("without its own task: %s", got)
	}
	climbing := with(pack, map[string]string{".bmad-core/agents/climber.md": "```yaml\nagent:\n  name: X\npersona:\n  role: y\ndependencies:\n  data:\n    - ../../docs/prd.md\n    - ../../../etc/passwd\n    - /etc/passwd\n```\n"})
	if got := more(resolveItem(t, catalog.Open(source(climbing)), catalog.Agent, "climber")); got != core {
		t.Errorf("dependencies out of the folder: %s", got)
	}
}

// TestWorkflowInYAML: the description is filled in by its own values and the configuration that
// it names, its instructions stand with it, the rest is referred to.
func TestWorkflowInYAML(t *testing.T) {
	r := resolveItem(t, project(t, "v6-alpha"), catalog.Workflow, "brainstorming")
	if len(r.Parts) != 2 || !strings.HasSuffix(r.Parts[1].URI, "/brainstorming/instructions.md") || !strings.Contains(r.Parts[1].Text, "Ask Ada what it is about") {
		t.Errorf("texts: %+v", r.Parts)
	}
	for _, line := range []string{`output_folder: "/srv/shop/docs"`, "date: 2026-03-04", `default_output_file: "/srv/shop/docs/brainstorming-session-results-{{date}}.md"`} {
		if !strings.Contains(r.Parts[0].Text, line+"\n") {
			t.Errorf("not in its description: %s\n%s", line, r.Parts[0].Text)
		}
	}
	want := "bmad://bmad/core/tasks/workflow.xml how a workflow in YAML is run: read this before you run one\n" +
		"bmad://bmad/core/workflows/brainstorming/template.md template\nbmad://bmad/core/workflows/brainstorming/brain-methods.csv brain_techniques"
	if got := more(r); got != want {
		t.Errorf("refers to\n%s\nwant\n%s", got, want)
	}

	files := layout(t, "v6-alpha")
	dir := "bmad/bmm/workflows/2-plan-workflows/prd/"
	delete(files, dir+"template.md")
	delete(files, dir+"instructions.md")
	r = resolveItem(t, catalog.Open(source(files)), catalog.Workflow, "prd")
	if got := strings.Join(r.Notes, " "); len(r.Parts) != 1 || !strings.Contains(got, "Its instructions file "+shop+"/"+dir+"instructions.md is not there.") || !strings.Contains(got, "Its template file") {
		t.Errorf("without its files: %d texts, notes %s", len(r.Parts), got)
	}

	// Another module's configuration can be the one that counts.
	other := with(layout(t, "v6-alpha"), map[string]string{
		"bmad/bmb/workflows/create-workflow/workflow.yaml": "name: create-workflow\nconfig_source: '{project-root}/bmad/bmm/config.yaml'\nlanguage: '{config_source}:document_output_language'\n",
	})
	if got := words(resolveItem(t, catalog.Open(source(other)), catalog.Workflow, "create-workflow")); !strings.Contains(got, "language: 'German'") {
		t.Errorf("by another module's configuration: %s", got)
	}

	broken := with(layout(t, "v6-alpha"), map[string]string{dir + "workflow.yaml": "name: prd\n\tinstructions: [\n"})
	r = resolveItem(t, catalog.Open(source(broken)), catalog.Workflow, "prd")
	if got := strings.Join(r.Notes, " "); !strings.Contains(got, "not valid YAML") || !strings.Contains(got, "line 2") || words(r) != "name: prd\n\tinstructions: [\n" {
		t.Errorf("a description that is no YAML: %s, %s", got, words(r))
	}
}

// TestOnDisk: the same from a real disk, whose paths are longer and whose links are followed.
func TestOnDisk(t *testing.T) {
	s := onDisk(t, layout(t, "v6-alpha", "v6-skills"))
	c := catalog.Open(s)
	ctx := resolve.Target{Project: s.Dir, Now: at.Now}
	root := filepath.ToSlash(s.Dir)
	for _, i := range c.Items() {
		r, err := resolve.Item(c, i, ctx)
		if err != nil {
			t.Errorf("%s: %v", i.Full(), err)
			continue
		}
		readable(t, c, i.Full(), r)
		if i.Name == "prd" && !strings.Contains(words(r), `template: "`+root+`/bmad/bmm/workflows/2-plan-workflows/prd/template.md"`) {
			t.Errorf("prd: %s", words(r))
		}
	}
	gone := find(t, c, catalog.Task, "bmad-help")
	if err := os.Remove(filepath.Join(s.Dir, ".claude", "skills", "bmad-help", "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	_, err := resolve.Item(c, gone, ctx)
	wantFault(t, "an item that has gone", err, "not_found", "bmad-help/SKILL.md", "list it again")
}
