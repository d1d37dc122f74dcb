package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

func fragments(list []catalog.Fragment) []string {
	out := []string{}
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s: %s (%s) %s %s", f.Domain, f.Name, strings.Join(f.Tags, " "), f.URI, f.Description))
	}
	return out
}

// TestKnowledge: the pieces of each layout, by the folders that hold knowledge.
func TestKnowledge(t *testing.T) {
	tests := []struct {
		layout  string
		domains string
		want    []string
	}{
		{"v4", "data 2", []string{
			"data: bmad-kb () bmad://.bmad-core/data/bmad-kb.md ",
			"data: technical-preferences () bmad://.bmad-core/data/technical-preferences.md ",
		}},
		// An index tells more of its pieces; one that was moved still finds them by their names.
		{"v6-alpha", "debug 1, testarch 2", []string{
			"debug: bisect (debug) bmad://bmad/bmm/knowledge/debug/bisect.md Halve the history until one change is left",
			"testarch: risk-first (risk planning tea) bmad://bmad/bmm/testarch/knowledge/risk-first.md How to weigh probability and impact",
			"testarch: steady-tests (flaky ci tea) bmad://bmad/bmm/testarch/knowledge/steady-tests.md Tests that say the same twice",
		}},
		{"v6-anyname", "", []string{}},
		{"v6-files", "bmm 1, create-prd 1", []string{
			"bmm: project-context-template () bmad://_bmad/bmm/data/project-context-template.md ",
			"create-prd: project-types () bmad://_bmad/bmm/workflows/2-plan-workflows/create-prd/data/project-types.csv ",
		}},
		// A skill and its copy for an assistant have one piece.
		{"v6-mixed", "bmad-distillator 1, bmm 1", []string{
			"bmad-distillator: rules () bmad://.claude/skills/bmad-distillator/resources/rules.md ",
			"bmm: project-context-template () bmad://_bmad/bmm/data/project-context-template.md ",
		}},
		{"v6-skills-63", "bmad-create-prd 1", []string{"bmad-create-prd: prd-purpose () bmad://.claude/skills/bmad-create-prd/data/prd-purpose.md "}},
		// Not those of pdf-tools: it is nobody's.
		{"v6-skills", "bmad-agent-builder 1, bmad-brainstorming 1, bmad-prd 1, bmad-tea 1, wds-5-agentic-development 1", []string{
			"bmad-agent-builder: standards () bmad://.claude/skills/bmad-agent-builder/references/standards.md ",
			"bmad-brainstorming: finalize () bmad://.claude/skills/bmad-brainstorming/references/finalize.md ",
			"bmad-prd: validate () bmad://.claude/skills/bmad-prd/references/validate.md ",
			"bmad-tea: risk-first (risk tea) bmad://.claude/skills/bmad-tea/resources/knowledge/risk-first.md How to weigh a risk",
			"wds-5-agentic-development: guide () bmad://.claude/skills/wds-5-agentic-development/data/guide.md ",
		}},
		{"next", "bmad 1, bmad-architecture 1, bmod-method 2", []string{
			"bmad: help () bmad://skills/bmad/references/help.md ",
			"bmad-architecture: questions () bmad://skills/bmad-architecture/references/questions.md ",
			"bmod-method: help () bmad://skills/bmod-method/help/help.md ",
			"bmod-method: planning () bmad://skills/bmod-method/help/planning.md ",
		}},
	}
	for _, tt := range tests {
		c := project(t, tt.layout)
		got := c.Knowledge("")
		if list := fragments(got); !slices.Equal(list, tt.want) {
			t.Errorf("%s:\n got %s\nwant %s", tt.layout, strings.Join(list, "\n     "), strings.Join(tt.want, "\n     "))
		}
		var domains []string
		size := int64(0)
		for _, d := range c.Domains() {
			domains = append(domains, fmt.Sprintf("%s %d", d.Name, d.Fragments))
			size += d.Size
		}
		if list := strings.Join(domains, ", "); list != tt.domains {
			t.Errorf("%s: domains %s, want %s", tt.layout, list, tt.domains)
		}
		for _, f := range got {
			if text := read(t, c, f.URI); int64(len(text)) != f.Size {
				t.Errorf("%s: %s has %d bytes, %d are told", tt.layout, f.URI, len(text), f.Size)
			}
			size -= f.Size
		}
		if size != 0 {
			t.Errorf("%s: the domains and their pieces differ by %d bytes", tt.layout, size)
		}
	}
}

// TestKnowledgeOfCopies: copies of a skill for several hosts have each piece once, with the words of the index.
func TestKnowledgeOfCopies(t *testing.T) {
	files := map[string]string{}
	for _, host := range []string{".claude", ".agents", ".cursor", ".gemini"} {
		at := host + "/skills/bmad-tide/"
		files[at+"SKILL.md"] = "---\nname: bmad-tide\ndescription: x\n---\n# Tide\n"
		files[at+"knowledge/tide-index.csv"] = "id,name,description,tags,fragment_file\nebb,Ebb,When it goes,\"low, sand\",ebb.md\nflood,Flood,When it comes,high,moved/flood.md\n"
		files[at+"knowledge/ebb.md"], files[at+"knowledge/flood.md"], files[at+"knowledge/moon.md"] = "# Ebb", "# Flood", "# Moon"
	}
	want := []string{
		"bmad-tide: ebb (low sand tide) bmad://.agents/skills/bmad-tide/knowledge/ebb.md When it goes",
		"bmad-tide: flood (high tide) bmad://.agents/skills/bmad-tide/knowledge/flood.md When it comes",
		"bmad-tide: moon () bmad://.agents/skills/bmad-tide/knowledge/moon.md ",
	}
	if got := fragments(catalog.Open(source(with(fstest.MapFS{}, files))).Knowledge("")); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// Each skill of a module can have a copy: a skill has all of its own, the module each once.
	own := map[string]string{"_bmad/_config/skill-manifest.csv": "canonicalId,module\nbmad-a,sea\nbmad-b,sea\n", "_bmad/_config/manifest.yaml": "modules: [sea]\n"}
	for _, skill := range []string{"bmad-a", "bmad-b"} {
		own[".claude/skills/"+skill+"/SKILL.md"] = "---\nname: " + skill + "\n---\n# X\n"
		own[".claude/skills/"+skill+"/knowledge/ebb.md"], own[".claude/skills/"+skill+"/knowledge/flood.md"] = "# Ebb", "# Flood of "+strings.Repeat("x", len(own))
	}
	c := catalog.Open(source(with(fstest.MapFS{}, own)))
	for domain, want := range map[string]int{"": 4, "sea": 3, "bmad-a": 2, "bmad-b": 2, "ebb": 1} {
		if got := c.Knowledge(domain); len(got) != want {
			t.Errorf("%d pieces of %q, want %d: %q", len(got), domain, want, fragments(got))
		}
	}
}

// TestKnowledgeOf: a domain is found by its folder, a skill's short name, a module, a tag, a piece.
func TestKnowledgeOf(t *testing.T) {
	tests := []struct {
		layout, domain, want string
	}{
		{"v6-alpha", "testarch", "risk-first steady-tests"}, {"v6-alpha", "TestArch", "risk-first steady-tests"}, {"v6-alpha", "tea", "risk-first steady-tests"},
		{"v6-alpha", "bmm", "bisect risk-first steady-tests"}, {"v6-alpha", "planning", "risk-first"}, {"v6-alpha", "ci", "steady-tests"}, {"v6-alpha", "Steady Tests", "steady-tests"},
		{"v6-alpha", "nothing", ""}, {"v6-skills", "prd", "validate"}, {"v6-skills", "bmad-prd", "validate"}, {"v6-skills", "tea", "risk-first"}, {"v6-skills", "core", "finalize"},
		{"v6-skills", "forms", ""}, {"v4", "data", "bmad-kb technical-preferences"}, {"v4", "bmad-core", "bmad-kb technical-preferences"}, {"next", "method", "questions help planning"},
	}
	for _, tt := range tests {
		var got []string
		for _, f := range project(t, tt.layout).Knowledge(tt.domain) {
			got = append(got, f.Name)
		}
		if list := strings.Join(got, " "); list != tt.want {
			t.Errorf("%s of %s: %s, want %s", tt.domain, tt.layout, list, tt.want)
		}
	}
	c := project(t, "v6-skills")
	for domain, want := range map[string]string{"brain": "bmad-brainstorming", "prd": "bmad-prd", "bmad-tea-more": "bmad-tea", "zzz": ""} {
		if got := strings.Join(c.Near(domain), " "); got != want {
			t.Errorf("near %s: %s, want %s", domain, got, want)
		}
	}
}

// TestKnowledgeIndexes: a mistake of an index about a piece harms nothing.
func TestKnowledgeIndexes(t *testing.T) {
	const dir = "bmad/bmm/testarch/"
	files := with(layout(t, "v6-alpha"), map[string]string{
		dir + "tea-index.csv":         "\ufeffid,name,description,tags,fragment_file,more\r\nrisk,Risk First,\"How\nto weigh\",\"a, b\",knowledge/risk-first.md,x\r\n\r\nshort\r\nup,Up,Out,c,../../../../etc/passwd\r\ngone,Gone,Gone,d,knowledge/gone.md\r\nbad,\"never closed,knowledge/steady-tests.md\r\n",
		dir + "knowledge/picture.png": "\x89PNG", dir + "knowledge/deep/er/more.md": "# More\n",
	})
	c := catalog.Open(source(files))
	want := []string{
		"debug: bisect (debug) bmad://bmad/bmm/knowledge/debug/bisect.md Halve the history until one change is left",
		"deep: more () bmad://bmad/bmm/testarch/knowledge/deep/er/more.md ",
		"testarch: risk (a b tea) bmad://bmad/bmm/testarch/knowledge/risk-first.md How to weigh",
		"testarch: steady-tests () bmad://bmad/bmm/testarch/knowledge/steady-tests.md ",
	}
	if got := fragments(c.Knowledge("")); !slices.Equal(got, want) {
		t.Errorf("got %s\nwant %s", strings.Join(got, "\n    "), strings.Join(want, "\n     "))
	}
	// Of two sources with the same piece, the first one's is shown.
	other := catalog.Source{Name: "git-x", Dir: "/var/x", FS: layout(t, "v6-alpha")}
	if got := catalog.Open(source(files), other).Knowledge("steady tests"); len(got) != 1 || got[0].URI != "bmad://bmad/bmm/testarch/knowledge/steady-tests.md" {
		t.Errorf("of two sources: %+v", got)
	}
	if got := catalog.Open(source(fstest.MapFS{}), other).Knowledge("risk-first"); len(got) != 1 || got[0].URI != "bmad://~git-x/bmad/bmm/testarch/knowledge/risk-first.md" {
		t.Errorf("of the other: %+v", got)
	}
}

// TestFiles: the files that a pattern lists, from the source or from an installation of it.
func TestFiles(t *testing.T) {
	c := catalog.Open(source(with(layout(t, "v6-skills", "v4"), around)), catalog.Source{Name: "git-x", Dir: "/var/x", FS: layout(t, "v6-anyname")})
	tests := []struct{ pattern, want string }{
		{"core/*.yaml", "bmad://_bmad/core/config.yaml bmad://~git-x/_grimoire/core/config.yaml"},
		{"bmad://_bmad/core/*.yaml", "bmad://_bmad/core/config.yaml"},
		{"/_bmad/custom/*.user.toml", "bmad://_bmad/custom/bmad-agent-analyst.user.toml bmad://_bmad/custom/bmad-build.user.toml bmad://_bmad/custom/config.user.toml"},
		{"**/agents/p*.md", "bmad://.bmad-core/agents/pm.md bmad://.bmad-creative-writing/agents/plot-architect.md"},
		{"**/bmad-prd/SKILL.md", "bmad://.agents/skills/bmad-prd/SKILL.md bmad://.claude/skills/bmad-prd/SKILL.md"},
		{"tasks/create-doc.md", "bmad://.bmad-core/tasks/create-doc.md bmad://.bmad-creative-writing/tasks/create-doc.md"},
		{"**/brainstorming/**", "bmad://~git-x/_grimoire/core/workflows/brainstorming/workflow.md"},
		{"_grimoire/**/**/workflow.md", "bmad://~git-x/_grimoire/core/workflows/brainstorming/workflow.md"},
		{"bmad://~git-x/_grimoire/**/workflow.md", "bmad://~git-x/_grimoire/core/workflows/brainstorming/workflow.md"},
		{"~git-x/core/*.yaml", "bmad://~git-x/_grimoire/core/config.yaml"},
		{"bmad://_bmad/%63ore/*.yaml", "bmad://_bmad/core/config.yaml"}, {"~git-y/core/*.yaml", ""},
		{"SKILL.md", ""}, {"**/.env", ""}, {".env", ""}, {"**/secret*", ""}, {"docs/**", ""}, {".claude/settings.json", ""}, {"**/pdf-tools/**", ""}, {"../../bmad/**", ""},
	}
	for _, tt := range tests {
		listed, err := c.Files(tt.pattern)
		var got []string
		for _, l := range listed {
			got = append(got, l.URI)
		}
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v\n got %s\nwant %s", tt.pattern, err, strings.Join(got, " "), tt.want)
		}
	}
	all, err := c.Files("")
	if err != nil || len(all) < 80 {
		t.Errorf("%d files in all, %v", len(all), err)
	}
	for n, l := range all {
		if _, err := follow(c, l.URI); err != nil {
			t.Errorf("%s is listed: %v", l.URI, err)
		}
		if n > 0 && all[n-1].URI == l.URI {
			t.Errorf("%s is listed twice", l.URI)
		}
	}
	for _, pattern := range []string{"[", "a/[b", "**/**/**/**/**/x", strings.Repeat("x", 2001)} {
		_, err := c.Files(pattern)
		wantFault(t, pattern, err, "invalid_argument", "malformed", "* stands for")
	}
}

// TestOnce: trees that lie in each other, or are those of several packs, have each file once.
func TestOnce(t *testing.T) {
	skill := "---\nname: x\ndescription: X\n---\n# X\n"
	packs := map[string]string{"expansion-packs/common/tasks/shared.md": "# Shared\n"}
	for _, name := range []string{"bakery", "cinema", "dinner"} { // as long as common, so that they are sorted among each other
		packs["expansion-packs/"+name+"/config.yaml"], packs["expansion-packs/"+name+"/agents/a.md"] = "name: "+name+"\n", "# A\n"
	}
	for name, files := range map[string]map[string]string{
		"a folder that is a module": {"module.yaml": "code: fl\n", "skills/bmad-x/SKILL.md": skill, "skills/bmad-x/knowledge/k.md": "# K\n", "skills/bmad-y/SKILL.md": skill},
		"packs":                     packs,
	} {
		c := catalog.Open(checkout(files))
		listed, err := c.Files("")
		seen := map[string]bool{}
		for _, l := range listed {
			if seen[l.URI] {
				t.Errorf("%s: %s is listed twice", name, l.URI)
			}
			seen[l.URI] = true
		}
		if err != nil || len(listed) == 0 {
			t.Errorf("%s: %d files, %v", name, len(listed), err)
		}
		known := map[string]bool{}
		for _, k := range c.Knowledge("") {
			if known[k.URI] {
				t.Errorf("%s: %s is known twice", name, k.URI)
			}
			known[k.URI] = true
		}
	}
}
