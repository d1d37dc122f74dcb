package catalog_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// table has the rows of testdata/layouts/README.md for one archive.
type table struct {
	counts [3]int
	names  [3]string
}

var kinds = []catalog.Kind{catalog.Agent, catalog.Workflow, catalog.Task}

// readme reads the table of the fixtures' README, so that the two cannot part ways.
func readme(t *testing.T) map[string]table {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "layouts", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	note := regexp.MustCompile(` \([^)]*\)`)
	out := map[string]table{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != 8 || cells[0] == "archive" || strings.HasPrefix(cells[0], "--") {
			continue
		}
		var row table
		for n := range kinds {
			if row.counts[n], err = strconv.Atoi(cells[2+n]); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			var full []string
			for _, module := range strings.Split(note.ReplaceAllString(cells[5+n], ""), "; ") {
				name, items, ok := strings.Cut(module, ": ")
				if !ok {
					t.Fatalf("%q names no module", module)
				}
				for _, item := range strings.Split(items, ", ") {
					full = append(full, name+"/"+item)
				}
			}
			row.names[n] = strings.Join(full, ", ")
		}
		out[cells[0]] = row
	}
	return out
}

func TestLayouts(t *testing.T) {
	want := readme(t)
	archives, err := filepath.Glob(filepath.Join("testdata", "layouts", "*.txtar"))
	if err != nil || len(archives) != len(want) || len(archives) != len(layouts) {
		t.Fatalf("%d archives, %d in the README, %d tested: %v", len(archives), len(want), len(layouts), err)
	}
	for _, name := range layouts {
		c := project(t, name)
		if c.Empty() || !c.Holds(catalog.Project) {
			t.Errorf("%s: no installation was found", name)
		}
		for n, kind := range kinds {
			if got := names(c, kind); got != want[name].names[n] {
				t.Errorf("%s: %ss\n got %s\nwant %s", name, kind, got, want[name].names[n])
			}
			if got := len(c.Items(kind)); got != want[name].counts[n] {
				t.Errorf("%s: %d %ss, want %d", name, got, kind, want[name].counts[n])
			}
		}
	}
}

// TestItems: the facts about single items, in every layout.
func TestItems(t *testing.T) {
	tests := []struct {
		layout string
		kind   catalog.Kind
		name   string
		want   catalog.Item
	}{
		// Version 4 has no manifest: the block of the file says all.
		{"v4", catalog.Agent, "analyst", catalog.Item{Title: "Business Analyst", DisplayName: "Mary", Icon: "📊", Description: "Use to look into a market, to collect ideas, and to write a brief", URI: "bmad://.bmad-core/agents/analyst.md"}},
		{"v4", catalog.Agent, "pm", catalog.Item{Title: "Product Manager", DisplayName: "John", Icon: "📋", Description: "Use for the PRD: what to build, for whom, and in which order", URI: "bmad://.bmad-core/agents/pm.md"}},
		{"v4", catalog.Agent, "release-steward", catalog.Item{Title: "Release Steward", DisplayName: "Robin", Icon: "🚢", Description: "Use when a version is to be tagged", URI: "bmad://.bmad-core/agents/release-steward.md"}},
		{"v4", catalog.Workflow, "greenfield-service", catalog.Item{Title: "A service from nothing", Description: "From a brief to a list of stories, for a service that does not exist yet.", URI: "bmad://.bmad-core/workflows/greenfield-service.yaml"}},
		{"v4", catalog.Task, "bmad-creative-writing/create-doc", catalog.Item{Title: "Create a manuscript page", URI: "bmad://.bmad-creative-writing/tasks/create-doc.md"}},
		{"source-v4", catalog.Agent, "dev", catalog.Item{Title: "Full Stack Developer", DisplayName: "James", Icon: "💻", Description: "Use for code, and for nothing else", URI: "bmad://bmad-core/agents/dev.md"}},
		// An agent without a row is described by its file, one with a row by that.
		{"v6-alpha", catalog.Agent, "analyst", catalog.Item{Title: "Business Analyst", DisplayName: "Maria", Icon: "📊", Description: "Finder of facts", URI: "bmad://bmad/bmm/agents/analyst.md"}},
		{"v6-alpha", catalog.Agent, "tea", catalog.Item{Title: "Master Test Architect", DisplayName: "Murat", Icon: "🧪", Description: "Master Test Architect", Aliases: []string{"bmad/bmm/agents/tea.md"}, URI: "bmad://bmad/bmm/agents/tea.md"}},
		{"v6-alpha", catalog.Workflow, "tech-spec", catalog.Item{Description: "A specification for one epic", Phase: "implementation", Aliases: []string{"epic-tech-context"}, URI: "bmad://bmad/bmm/workflows/4-implementation/epic-tech-context/workflow.yaml"}},
		{"v6-alpha", catalog.Workflow, "prd", catalog.Item{Description: "A PRD and its epics, for work of more than one story", Phase: "planning", URI: "bmad://bmad/bmm/workflows/2-plan-workflows/prd/workflow.yaml"}},
		{"v6-alpha", catalog.Task, "shard-doc", catalog.Item{Title: "Shard Document", Description: "Cuts a long document at its second-level headings", URI: "bmad://bmad/core/tools/shard-doc.xml"}},
		// A row that says {bmad_folder}, a folder and a name that differ, quotes in a field.
		{"v6-alpha-dot", catalog.Task, "index-docs", catalog.Item{Title: "Index Docs", Description: "Writes an index.md of a folder", URI: "bmad://.bmad/core/tasks/index-docs.xml"}},
		{"v6-alpha-dot", catalog.Workflow, "workflow-init", catalog.Item{Description: "Begin a project", Aliases: []string{"init"}, URI: "bmad://.bmad/bmm/workflows/workflow-status/init/workflow.yaml"}},
		{"v6-alpha-dot", catalog.Workflow, "workflow-status", catalog.Item{Description: `Answers "what now?" in a line`, URI: "bmad://.bmad/bmm/workflows/workflow-status/workflow.yaml"}},
		{"v6-anyname", catalog.Workflow, "brainstorming", catalog.Item{Description: "Collect ideas", URI: "bmad://_grimoire/core/workflows/brainstorming/workflow.md"}},
		// A column nobody knows, a field of two lines, a row cut short, a byte order mark.
		{"v6-files", catalog.Agent, "analyst", catalog.Item{Title: "Business Analyst", DisplayName: "Mary", Icon: "📊", Description: "interviews, market research", URI: "bmad://_bmad/bmm/agents/analyst.md"}},
		{"v6-files", catalog.Agent, "architect", catalog.Item{Title: "Architect", DisplayName: "Winston", Icon: "🏗️", Description: "drawing, deciding", Aliases: []string{"architect.agent.yaml"}, URI: "bmad://_bmad/bmm/agents/architect.md"}},
		{"v6-files", catalog.Agent, "tech-writer", catalog.Item{Title: "Technical Writer", DisplayName: "Paige", Icon: "📚", Description: "documents, diagrams", Phase: "anytime", Codes: []string{"WD"}, URI: "bmad://_bmad/bmm/agents/tech-writer/tech-writer.md"}},
		{"v6-files", catalog.Workflow, "create-prd", catalog.Item{Title: "Create PRD", Description: "Write a PRD, step by step", Phase: "planning", Codes: []string{"CP"}, Aliases: []string{"bmad-bmm-create-prd"}, URI: "bmad://_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow-create-prd.md"}},
		{"v6-files", catalog.Workflow, "Meal Prep & Nutrition Plan", catalog.Item{Description: "An example: meals for a week", Aliases: []string{"meal-prep-nutrition"}, URI: "bmad://_bmad/bmb/reference/workflows/meal-prep-nutrition/workflow.md"}},
		{"v6-files", catalog.Workflow, "cis/research", catalog.Item{Description: "Look into what people feel", URI: "bmad://_bmad/cis/workflows/research/workflow.yaml"}},
		{"v6-files", catalog.Task, "help", catalog.Item{Title: "bmad-help", Description: "Says what comes next", Codes: []string{"BH"}, Aliases: []string{"bmad-help"}, URI: "bmad://_bmad/core/tasks/help.md"}},
		{"v6-files", catalog.Task, "index-docs", catalog.Item{Title: "Index Docs", Description: "Writes an index.md of a folder", Codes: []string{"ID"}, Aliases: []string{"bmad-index-docs"}, URI: "bmad://_bmad/core/tasks/index-docs.xml"}},
		// The launcher of an agent is no item, its name another one of the agent.
		{"v6-mixed", catalog.Agent, "analyst", catalog.Item{Title: "Business Analyst", DisplayName: "Mary", Icon: "📊", Description: "interviews, market research", Aliases: []string{"bmad-analyst"}, URI: "bmad://_bmad/bmm/agents/analyst.md"}},
		{"v6-mixed", catalog.Agent, "tech-writer", catalog.Item{Title: "Technical Writer", DisplayName: "Paige", Icon: "📚", Description: "documents, diagrams", Aliases: []string{"bmad-tech-writer"}, URI: "bmad://_bmad/bmm/agents/tech-writer/tech-writer.md"}},
		{"v6-mixed", catalog.Workflow, "bmad-create-prd", catalog.Item{Title: "Create PRD", Description: `Writes a PRD. Use when the user says "lets write a PRD"`, Phase: "planning", Codes: []string{"CP"}, Aliases: []string{"bmad-bmm-create-prd"}, URI: "bmad://_bmad/core/tasks/bmad-create-prd/SKILL.md"}},
		{"v6-mixed", catalog.Workflow, "validate-prd", catalog.Item{Description: "Left over", Phase: "planning", URI: "bmad://_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow-validate-prd.md"}},
		{"v6-mixed", catalog.Task, "bmad-product-brief-preview", catalog.Item{Title: "Brief", Description: "Writes a brief.", URI: "bmad://.claude/skills/bmad-product-brief-preview/SKILL.md"}},
		// The help of 6.3 has its fields under the header of before.
		{"v6-skills-63", catalog.Agent, "bmad-agent-tech-writer", catalog.Item{Title: "Technical Writer", DisplayName: "Paige", Icon: "📚", Description: "Writer of documents. Use when the user asks for Paige.", Phase: "anytime", Codes: []string{"WD"}, URI: "bmad://.claude/skills/bmad-agent-tech-writer/SKILL.md"}},
		{"v6-skills-63", catalog.Workflow, "bmad-create-prd", catalog.Item{Title: "Create PRD", Description: "Writes a PRD.", Phase: "planning", Codes: []string{"CP"}, URI: "bmad://.claude/skills/bmad-create-prd/SKILL.md"}},
		{"v6-skills-63", catalog.Workflow, "bmad-dev-story", catalog.Item{Title: "Dev Story", Description: "Builds one story.", Phase: "implementation", Codes: []string{"DS"}, URI: "bmad://.claude/skills/bmad-dev-story/SKILL.md"}},
		{"v6-skills-63", catalog.Task, "bmad-help", catalog.Item{Title: "BMad Help", Description: "Says what comes next.", Phase: "anytime", Codes: []string{"BH"}, URI: "bmad://.claude/skills/bmad-help/SKILL.md"}},
		// Two rows of one skill, phases of 6.12, quotes of YAML and of CSV, an agent in words only.
		{"v6-skills", catalog.Agent, "bmad-agent-analyst", catalog.Item{Title: "Business Analyst", DisplayName: "Mary", Icon: "📊", Description: "Asks the harbour master first.", URI: "bmad://.claude/skills/bmad-agent-analyst/SKILL.md"}},
		{"v6-skills", catalog.Agent, "my-own", catalog.Item{Title: "Keeper of Releases", DisplayName: "Vera", Icon: "⚓", Description: "Knows which version sails when."}},
		{"v6-skills", catalog.Agent, "bmad-tea", catalog.Item{Title: "Master Test Architect", DisplayName: "Murat", Icon: "🧪", Description: "Tester of the risky parts. Use when the user asks for Murat", Phase: "anytime", Codes: []string{"TEA"}, URI: "bmad://.claude/skills/bmad-tea/SKILL.md"}},
		{"v6-skills", catalog.Workflow, "bmad-agent-builder", catalog.Item{Title: "Builder of agents", Description: "Builds an agent skill", URI: "bmad://.claude/skills/bmad-agent-builder/SKILL.md"}},
		{"v6-skills", catalog.Workflow, "bmad-prd", catalog.Item{Title: "Create, Edit and Review PRD", Description: "Writes, changes or checks a PRD", Phase: "planning", Codes: []string{"PRD"}, URI: "bmad://.claude/skills/bmad-prd/SKILL.md"}},
		{"v6-skills", catalog.Workflow, "bmad-build", catalog.Item{Title: "Build", Description: "Turns an intent into code", Phase: "implementation", Codes: []string{"BD"}, URI: "bmad://.claude/skills/bmad-build/SKILL.md"}},
		{"v6-skills", catalog.Workflow, "bmad-brainstorming", catalog.Item{Title: "Brainstorm Project", Description: "Collects ideas. Use when the user says 'help me brainstorm'", Phase: "planning", Codes: []string{"BP", "BSP"}, URI: "bmad://.claude/skills/bmad-brainstorming/SKILL.md"}},
		{"v6-skills", catalog.Workflow, "wds-5-agentic-development", catalog.Item{Description: "Builds a screen from its sketch", URI: "bmad://.claude/skills/wds-5-agentic-development/SKILL.md"}},
		{"next", catalog.Agent, "bmad-agent-pm", catalog.Item{Title: "Product Manager", DisplayName: "John", Icon: "📋", Description: "Keeper of the PRD. Use when the user asks for John", URI: "bmad://skills/bmad-agent-pm/SKILL.md"}},
		{"next", catalog.Task, "bmad", catalog.Item{Title: "Hub", Description: "The hub. Use for setup, status, help and updates.", URI: "bmad://skills/bmad/SKILL.md"}},
		{"source-v6", catalog.Agent, "bmad-agent-dev", catalog.Item{Title: "Senior Software Engineer", DisplayName: "Amelia", Icon: "💻", Description: "Writer of code. Use when the user asks for Amelia", Phase: "implementation", URI: "bmad://src/bmm-skills/4-implementation/bmad-agent-dev/SKILL.md"}},
		{"source-module", catalog.Agent, "miller", catalog.Item{Title: "Miller", DisplayName: "Greta", Icon: "🌾", Description: "Talks about flour. Use when the user asks for Greta", URI: "bmad://src/agents/bakery-agent-miller/SKILL.md"}},
		{"source-module", catalog.Agent, "baker", catalog.Item{Title: "Baker", DisplayName: "Bruno", Icon: "🥖", Description: "bread, patience", URI: "bmad://src/agents/baker.agent.yaml"}},
		{"source-module", catalog.Workflow, "plan", catalog.Item{Title: "Plan Bread", Description: "Plans the bread of a week", Phase: "planning", Codes: []string{"PB"}, Aliases: []string{"bmad-bakery-plan"}, URI: "bmad://src/workflows/plan/workflow.md"}},
		{"source-module", catalog.Task, "bakery-knead", catalog.Item{Title: "Knead Dough", Description: "Kneads the dough", Phase: "anytime", Codes: []string{"KD"}, Aliases: []string{"bmad-bakery-knead"}, URI: "bmad://src/skills/bakery-knead/SKILL.md"}},
		{"broken", catalog.Agent, "architect", catalog.Item{Title: "Architect", DisplayName: "Winston", Icon: "🏗️", Description: "Architect", Aliases: []string{"architect.agent.yaml"}, URI: "bmad://_bmad/bmm/agents/architect.md"}},
		{"broken", catalog.Workflow, "bmad-retrospective", catalog.Item{Description: "Looks back", URI: "bmad://.claude/skills/bmad-retrospective/SKILL.md"}},
		{"broken", catalog.Task, "bmad-help", catalog.Item{Title: "Help", URI: "bmad://.claude/skills/bmad-help/SKILL.md"}},
	}
	for _, tt := range tests {
		got := find(t, project(t, tt.layout), tt.kind, tt.name)
		tt.want.Kind, tt.want.Source = tt.kind, catalog.Project
		tt.want.Path, tt.want.Category = strings.TrimPrefix(tt.want.URI, "bmad://"), cmp.Or(tt.want.Phase, "other")
		tt.want.Name, tt.want.Module = got.Name, got.Module // TestLayouts has these
		if got, want := asJSON(t, got), asJSON(t, tt.want); got != want {
			t.Errorf("%s: %s\n got %swant %s", tt.layout, tt.name, got, want)
		}
	}
}

// TestModules: which modules there are, in which version, and how many items each has.
func TestModules(t *testing.T) {
	tests := map[string][]string{
		"v4":            {"bmad-core 4.44.3 .bmad-core v4 3/2/3", "bmad-creative-writing 4.44.3 .bmad-creative-writing v4 1/1/1"},
		"source-v4":     {"bmad-core  bmad-core v4 2/3/2"},
		"v6-alpha":      {"bmb 6.0.0-alpha.6 bmad v6 0/1/0", "bmm 6.0.0-alpha.6 bmad v6 3/3/0", "core 6.0.0-alpha.6 bmad v6 1/1/4"},
		"v6-alpha-dot":  {"bmm 6.0.0-alpha.12 .bmad v6 1/3/0", "core 6.0.0-alpha.12 .bmad v6 1/1/3"},
		"v6-anyname":    {"core 6.0.0-Beta.2 _grimoire v6 1/1/1"},
		"v6-files":      {"bmb 0.1.6 _bmad v6 0/1/0", "bmm 6.0.1 _bmad v6 3/4/0", "cis 0.1.6 _bmad v6 0/1/0", "core 6.0.1 _bmad v6 1/0/3"},
		"v6-skills":     {"bmb 1.9.0 _bmad v6 0/1/0", "bmm 6.12.0 _bmad v6 3/2/0", "core 6.12.0 _bmad v6 0/1/2", "tea 1.20.0 _bmad v6 1/0/0", "wds 0.4.0 _bmad v6 0/1/0"},
		"next":          {"method 6.13.0-next skills skills 2/3/0", "toolbox 6.11.0-next skills skills 0/0/2"},
		"source-v6":     {"bmm  src/bmm-skills skills 2/2/0", "core  src/core-skills skills 0/1/2"},
		"source-module": {"bakery 0.3.0 src v6 2/1/1"},
		"broken":        {"bmm  _bmad v6 2/3/0", "core  _bmad v6 0/0/2"},
	}
	for name, want := range tests {
		var got []string
		for _, m := range project(t, name).Modules() {
			if m.Source != catalog.Project {
				t.Errorf("%s: module %s of source %q", name, m.Name, m.Source)
			}
			got = append(got, fmt.Sprintf("%s %s %s %s %d/%d/%d", m.Name, m.Version, m.Installation, m.Layout, m.Agents, m.Workflows, m.Tasks))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
}
