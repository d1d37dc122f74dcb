package catalog_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// TestFind: the names by which people and texts of the method call an item.
func TestFind(t *testing.T) {
	tests := []struct {
		layout string
		kind   catalog.Kind
		names  []string
		want   string
	}{
		{"v6-files", catalog.Agent, []string{
			"analyst", "Analyst", " ANALYST ", "bmm/analyst", "bmm:analyst", "bmm-analyst", "BMM/Analyst", "*analyst", "/analyst", "bmad-agent-analyst", "bmad-analyst",
			"bmad-agent-bmm-analyst", "Mary", "mary", "Business Analyst", "business-analyst", "business_analyst", "BUSINESS  ANALYST", "bmm/mary", "bmm: analyst",
		}, "bmm/analyst"},
		{"v6-files", catalog.Agent, []string{"tech-writer", "tech writer", "Tech_Writer", "WD", "wd", "Paige", "Technical Writer"}, "bmm/tech-writer"},
		{"v6-files", catalog.Agent, []string{"architect", "architect.agent.yaml", "Winston"}, "bmm/architect"},
		{"v6-files", catalog.Agent, []string{"bmad-master", "master", "core/bmad-master", "core-bmad-master", "BMad Master", "Keeper of the Lists"}, "core/bmad-master"},
		{"v6-files", catalog.Workflow, []string{"create-prd", "*create-prd", "CP", "cp", "Create PRD", "bmad-bmm-create-prd", "bmm/create-prd", "bmm-create-prd", "create prd", "create-prd.md", "skill:create-prd"}, "bmm/create-prd"},
		{"v6-files", catalog.Workflow, []string{"cis/research", "cis:research", "cis-research"}, "cis/research"},
		{"v6-files", catalog.Workflow, []string{"bmm/research", "MR", "Market Research", "bmad-bmm-research"}, "bmm/research"},
		{"v6-files", catalog.Workflow, []string{"Meal Prep & Nutrition Plan", "meal prep & nutrition plan", "meal-prep-nutrition", "bmb/Meal Prep & Nutrition Plan"}, "bmb/Meal Prep & Nutrition Plan"},
		{"v6-files", catalog.Task, []string{"help", "bmad-help", "BH", "core/help", "core-help"}, "core/help"},
		{"v6-alpha", catalog.Workflow, []string{"tech-spec", "epic-tech-context"}, "bmm/tech-spec"},
		{"v6-alpha", catalog.Agent, []string{"tea", "bmad/bmm/agents/tea.md", "Murat"}, "bmm/tea"},
		{"v6-mixed", catalog.Agent, []string{"analyst", "bmad-analyst", "bmm-analyst"}, "bmm/analyst"},
		{"v6-skills", catalog.Agent, []string{"bmad-agent-analyst", "analyst", "Analyst", "Mary", "bmm/analyst", "bmm/bmad-agent-analyst", "bmm-analyst", "business analyst"}, "bmm/bmad-agent-analyst"},
		{"v6-skills", catalog.Agent, []string{"bmad-tea", "tea", "TEA", "Murat", "tea/tea", "tea-tea"}, "tea/bmad-tea"},
		{"v6-skills", catalog.Agent, []string{"my-own", "my own", "Vera", "Keeper of Releases"}, "bmm/my-own"},
		{"v6-skills", catalog.Workflow, []string{"bmad-prd", "prd", "PRD", "skill:bmad-prd", "Create, Edit and Review PRD"}, "bmm/bmad-prd"},
		{"v6-skills", catalog.Workflow, []string{"bmad-brainstorming", "brainstorming", "BP", "BSP", "brainstorm project"}, "core/bmad-brainstorming"},
		{"v6-skills", catalog.Workflow, []string{"bmad-agent-builder", "builder"}, "bmb/bmad-agent-builder"},
		{"v4", catalog.Task, []string{"bmad-core/create-doc", "bmad-core:create-doc", "bmad-core-create-doc", "Create a document from a template"}, "bmad-core/create-doc"},
		{"v4", catalog.Agent, []string{"plot-architect", "bmad-creative-writing/plot-architect", "bmad-creative-writing-plot-architect", "Builder of Plots"}, "bmad-creative-writing/plot-architect"},
		{"v4", catalog.Agent, []string{"pm", "PM", "John", "bmad-core-pm", "*pm"}, "bmad-core/pm"},
		{"next", catalog.Task, []string{"bmad", "Hub"}, "toolbox/bmad"},
	}
	for _, tt := range tests {
		c := project(t, tt.layout)
		for _, name := range tt.names {
			got, err := c.Find(tt.kind, name)
			if err != nil || got.Full() != tt.want {
				t.Errorf("%s: %s %q is %q, %v, want %s", tt.layout, tt.kind, name, got.Full(), err, tt.want)
			}
		}
	}
}

// TestFindBest: who is called so goes before who is also called so.
func TestFindBest(t *testing.T) {
	skill := func(name, title string) string { return "---\nname: " + name + "\n---\n# " + title + "\n" }
	c := catalog.Open(source(with(layout(t, "next"), map[string]string{
		"skills/bmad-ebb/SKILL.md":  skill("bmad-ebb", "Tide"),
		"skills/bmad-tide/SKILL.md": skill("bmad-tide", "Moon"), "skills/bmad-zeal/SKILL.md": skill("tide", "Ebb"), "skills/bmad-moon/SKILL.md": skill("bmad-moon", "Bmad tide"),
	})))
	for name, want := range map[string]string{"bmad-tide": "bmad-tide", "bmad-ebb": "bmad-ebb", "ebb": "bmad-ebb", "moon": "bmad-moon", "tide": "bmad-tide", "zeal": "bmad-zeal"} {
		if i, err := c.Find(catalog.Task, name); err != nil || i.Name != want {
			t.Errorf("%s is %q, %v, want %s", name, i.Name, err, want)
		}
	}
}

// TestFindEvery: each item is found by its full name and by each name that is its alone.
func TestFindEvery(t *testing.T) {
	for _, name := range layouts {
		c := project(t, name)
		for _, i := range c.Items() {
			if got := find(t, c, i.Kind, i.Full()); got.Full() != i.Full() {
				t.Errorf("%s: %s is %s", name, i.Full(), got.Full())
			}
			for _, alias := range append(slices.Clone(i.Aliases), i.Short()) {
				if got, err := c.Find(i.Kind, alias); err != nil && !fault.Is(err, fault.Conflict) {
					t.Errorf("%s: %s is not found as %s, but %s: %v", name, i.Full(), alias, got.Full(), err)
				}
			}
		}
	}
}

// TestFindNothing: a name that means nobody, several, or something else, gets a hint.
func TestFindNothing(t *testing.T) {
	tests := []struct {
		layout, name  string
		kind          catalog.Kind
		code          fault.Code
		message, hint string
	}{
		{"v6-files", "research", catalog.Workflow, fault.Conflict, `2 workflows "research"`, "name its module: bmm/research, cis/research"},
		{"v6-files", " *Research", catalog.Workflow, fault.Conflict, "2 workflows", "bmm/research, cis/research"},
		{"v4", "create-doc", catalog.Task, fault.Conflict, `2 tasks "create-doc"`, "name its module: bmad-core/create-doc, bmad-creative-writing/create-doc"},
		{"v6-files", "analist", catalog.Agent, fault.NotFound, `no agent "analist"`, "did you mean analyst?"},
		{"v6-files", "anal", catalog.Agent, fault.NotFound, "no agent", "did you mean analyst?"},
		{"v6-files", "create-prdd", catalog.Workflow, fault.NotFound, "no workflow", "did you mean create-prd?"},
		{"v6-files", "bmm/create-pdr", catalog.Workflow, fault.NotFound, "no workflow", "create-prd"},
		{"v6-skills", "brainstrom", catalog.Workflow, fault.NotFound, "no workflow", "bmad-brainstorming"},
		{"v6-skills", "bmad-agent-analist", catalog.Agent, fault.NotFound, "no agent", "did you mean bmad-agent-analyst?"},
		{"v6-files", "create-prd", catalog.Agent, fault.NotFound, `no agent "create-prd"`, "there is one among the workflows: bmm/create-prd"},
		{"v6-files", "CP", catalog.Task, fault.NotFound, `no task "CP"`, "there is one among the workflows: bmm/create-prd"},
		{"v6-files", "Mary", catalog.Task, fault.NotFound, "no task", "there is one among the agents: bmm/analyst"},
		{"v6-files", "index-docs", catalog.Workflow, fault.NotFound, "no workflow", "there is one among the tasks: core/index-docs"},
		{"v6-mixed", "dev", catalog.Workflow, fault.NotFound, "no workflow", "there is one among the agents: bmm/dev; or did you mean bmad-dev-story?"},
		{"v6-files", "zzzzzz", catalog.Agent, fault.NotFound, "no agent", "there are: analyst, architect, tech-writer, bmad-master"},
		{"v6-files", "cis/analyst", catalog.Agent, fault.NotFound, `no agent "cis/analyst"`, "analyst"},
		{"v6-files", "", catalog.Agent, fault.InvalidArgument, "no agent is named", "name one: analyst, architect, tech-writer, bmad-master"},
		{"v6-files", " \n ", catalog.Workflow, fault.InvalidArgument, "no workflow is named", "create-prd"},
		{"v6-files", "*", catalog.Task, fault.NotFound, "no task", "the tasks are: editorial-review-prose, help, index-docs; the workflows: "},
		{"v6-files", "index-doc", catalog.Workflow, fault.NotFound, "no workflow", "did you mean index-docs?"},
		{"v6-files", "/", catalog.Task, fault.NotFound, "no task", "the tasks are: "},
		{"v6-files", "a/b/c", catalog.Task, fault.NotFound, "no task", "the tasks are: "},
		{"v6-files", "../../etc/passwd", catalog.Task, fault.NotFound, "no task", "the tasks are: "},
		{"v6-files", strings.Repeat("x", 5000), catalog.Agent, fault.NotFound, "xxx…", "there are: "},
	}
	for _, tt := range tests {
		got, err := project(t, tt.layout).Find(tt.kind, tt.name)
		wantFault(t, tt.layout+": "+tt.name, err, tt.code, tt.message, tt.hint)
		if got.Name != "" {
			t.Errorf("%s: %q: an error and %s", tt.layout, tt.name, got.Full())
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%.20s: a message of %d bytes", tt.name, len(err.Error()))
		}
	}
	_, err := project(t, "next").Find(catalog.Workflow, "nobody-at-all")
	wantFault(t, "another layout", err, fault.NotFound, "no workflow", "bmad-architecture, bmad-prd, bmad-spec")
}

func scoredHits(list []catalog.Hit) string {
	var out []string
	for _, h := range list {
		out = append(out, string(h.Kind)+" "+h.Full())
	}
	return strings.Join(out, ", ")
}

// TestSearch: an item of that name stands before one whose name begins so, before one with the words
// in its names, before one with them in its description.
func TestSearch(t *testing.T) {
	c := project(t, "v6-skills")
	tests := []struct {
		query string
		kinds []catalog.Kind
		want  string
	}{
		{"prd", nil, "workflow bmm/bmad-prd"},
		{"PRD", []catalog.Kind{catalog.Workflow}, "workflow bmm/bmad-prd"},
		{"mary", nil, "agent bmm/bmad-agent-analyst"},
		{"bu", nil, "agent bmm/bmad-agent-analyst, workflow bmb/bmad-agent-builder, workflow bmm/bmad-build"},
		{"bmad-agent", nil, "agent bmm/bmad-agent-analyst, agent bmm/bmad-agent-dev, workflow bmb/bmad-agent-builder"},
		{"bmad-agent", []catalog.Kind{catalog.Workflow, catalog.Task}, "workflow bmb/bmad-agent-builder"},
		{"edit prd", nil, "workflow bmm/bmad-prd"},
		{"test architect", nil, "agent tea/bmad-tea"},
		{"helps", nil, "task core/bmad-help"},
		{"how do I edit the prds?", nil, "workflow bmm/bmad-prd"},
		{"xyzzy plugh", nil, ""},
		{"", nil, ""},
		{"   ", nil, ""},
	}
	for _, tt := range tests {
		if got := scoredHits(c.Search(tt.query, tt.kinds...)); got != tt.want && (tt.want == "" || !strings.HasPrefix(got, tt.want+", ")) {
			t.Errorf("%q %v:\n got %s\nwant %s", tt.query, tt.kinds, got, tt.want)
		}
	}
	named := func(name, title, description string) string {
		return "---\nname: " + name + "\ndescription: " + description + "\n---\n\n# " + title + "\n"
	}
	ranked := catalog.Open(source(with(layout(t, "next"), map[string]string{
		"skills/bmad-tide/SKILL.md":      named("bmad-tide", "Ebb", "Watches"),
		"skills/bmad-tide-book/SKILL.md": named("bmad-tide-book", "Book", "Watches"),
		"skills/bmad-moon/SKILL.md":      named("bmad-moon", "Of the tide", "Watches"),
		"skills/bmad-sun/SKILL.md":       named("bmad-sun", "Sun", "Watches the tide too"),
	})))
	var scores []int
	found := ranked.Search("Tide")
	for _, h := range found {
		scores = append(scores, h.Score)
	}
	if got, want := scoredHits(found), "task bmad-tide, task bmad-tide-book, task bmad-moon, task bmad-sun"; got != want || !slices.Equal(scores, []int{100, 80, 60, 40}) {
		t.Errorf("in order: %s, %v", got, scores)
	}
	if found := ranked.Search("watches the tide"); !strings.HasPrefix(scoredHits(found), "task bmad-moon, task bmad-sun") || found[1].Score != 40 {
		t.Errorf("words of a description: %s", scoredHits(found))
	}
	if found := ranked.Search("sailor watches a tide"); len(found) == 0 || found[0].Score >= 40 {
		t.Errorf("some of the words: %s", scoredHits(found))
	}
}

// TestRenamed: an agent that the project calls otherwise is found by either name; it is
// described as the project does, and acts under the name that its text has.
func TestRenamed(t *testing.T) {
	c := catalog.Open(source(with(layout(t, "v6-skills"), map[string]string{
		"_bmad/custom/config.toml":           "[agents.bmad-agent-dev]\nname = 'Johnny'\ndescription = 'Builds what is asked'\n",
		"_bmad/custom/bmad-agent-dev.toml":   "[agent]\nname = 'Overlaid'\nrole = 'Another role'\n",
		"_bmad/custom/config.user.toml":      "",
		"_bmad/custom/bmad-agent-other.toml": "[agent]\nname = 'Nobody'\n",
	})))
	own := find(t, project(t, "v6-skills"), catalog.Agent, "bmad-agent-dev").DisplayName
	for _, name := range []string{"Johnny", own, "dev"} {
		if i, err := c.Find(catalog.Agent, name); err != nil || i.Name != "bmad-agent-dev" || i.DisplayName != "Johnny" || i.Description != "Builds what is asked" {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
	}
	if p := resolveItem(t, c, catalog.Agent, "Johnny").Persona; p.Name != own || p.Role != "Another role" {
		t.Errorf("it acts as %s, %s", p.Name, p.Role)
	}
}

// TestSwapped: of a name that one agent has now and another had, the one that has it now.
func TestSwapped(t *testing.T) {
	agent := func(name string) string { return "[agent]\nname = '" + name + "'\ntitle = 'T'\n" }
	c := catalog.Open(source(with(fstest.MapFS{}, map[string]string{
		"_bmad/_config/manifest.yaml":                "installation: {version: 6.12.0}\n",
		"_bmad/config.toml":                          "[agents.bmad-agent-analyst]\nname = 'John'\n[agents.bmad-agent-pm]\nname = 'Mary'\n",
		".claude/skills/bmad-agent-analyst/SKILL.md": "---\nname: bmad-agent-analyst\n---\n", ".claude/skills/bmad-agent-analyst/customize.toml": agent("Mary"),
		".claude/skills/bmad-agent-pm/SKILL.md": "---\nname: bmad-agent-pm\n---\n", ".claude/skills/bmad-agent-pm/customize.toml": agent("John"),
	})))
	for name, want := range map[string]string{"John": "bmad-agent-analyst", "Mary": "bmad-agent-pm"} {
		if i, err := c.Find(catalog.Agent, name); err != nil || i.Name != want {
			t.Errorf("%s is %s, %v, want %s", name, i.Name, err, want)
		}
	}
}

// TestFirstName: the name of an item of another source counts before the title of one of the
// project's, and the path of a workflow's file means the skill that it is found as.
func TestFirstName(t *testing.T) {
	own := source(with(fstest.MapFS{}, map[string]string{
		"skills/bmad-other/SKILL.md": "---\nname: bmad-other\n---\n# Thing\n", "_bmad/_config/manifest.yaml": "modules: []\n",
		"_bmad/bmm/workflows/bmad-other/workflow.md": "Read on.\n", "_bmad/bmm/data/bmad-other/notes.md": "N\n",
	}))
	c := catalog.Open(own, checkout(map[string]string{"skills/bmad-thing/SKILL.md": "---\nname: bmad-thing\n---\n# X\n"}))
	if i, err := c.Find(catalog.Task, "thing"); err != nil || i.Name != "bmad-thing" {
		t.Errorf("thing is %q, %v", i.Name, err)
	}
	if i, err := c.Find(catalog.Task, shop+"/_bmad/bmm/workflows/bmad-other/workflow.md"); err != nil || i.Name != "bmad-other" {
		t.Errorf("its file is of %q, %v", i.Name, err)
	}
	if i, err := c.Find(catalog.Task, shop+"/_bmad/bmm/data/bmad-other/notes.md"); err == nil {
		t.Errorf("a file beside it is of %q", i.Name)
	}
}
