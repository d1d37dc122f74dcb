package catalog_test

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// inUTF16 returns a text as the editors of Windows save it.
func inUTF16(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// TestManifestSpellings: a manifest counts in every form in which programs save a table, and one that cannot
// be read is named.
func TestManifestSpellings(t *testing.T) {
	rows := agentHeader + "analyst,Zoë,Business Analyst,📊,r,i,c,p,bmm,_bmad/bmm/agents/analyst.md\n"
	semicolons := strings.ReplaceAll(rows, ",", ";")
	for form, tt := range map[string]struct{ text, problem string }{
		"as installers do": {rows, ""},
		"with a mark":      {"\ufeff" + rows, ""},
		"for Windows":      {strings.ReplaceAll(rows, "\n", "\r\n"), ""},
		"for old Macs":     {strings.ReplaceAll(rows, "\n", "\r"), ""},
		"UTF-16":           {inUTF16(rows, binary.LittleEndian), ""},
		"UTF-16 the other": {inUTF16(semicolons, binary.BigEndian), ""},
		"semicolons":       {semicolons, ""},
		"tabs":             {strings.ReplaceAll(rows, ",", "\t"), ""},
		"Latin 1":          {strings.ReplaceAll(rows, "ë", "\xeb"), "it is not in UTF-8"},
		"no header":        {strings.Repeat(strings.TrimPrefix(rows, agentHeader), 2), "its first line does not name the columns"},
	} {
		c := catalog.Open(source(shopWith(map[string]string{"_bmad/_config/agent-manifest.csv": tt.text})))
		got := find(t, c, catalog.Agent, "analyst").DisplayName
		if tt.problem == "" && got != "Zoë" || !strings.Contains(problems(c), tt.problem) || tt.problem == "" && problems(c) != "" {
			t.Errorf("%s: %q, problems %q, want %q", form, got, problems(c), tt.problem)
		}
	}
	c := catalog.Open(source(shopWith(map[string]string{"_bmad/bmm/agents/analyst.md": inUTF16(agentText, binary.LittleEndian)})))
	if file, err := c.Read(catalog.Ref{Path: "_bmad/bmm/agents/analyst.md"}); err != nil || string(file.Data) != agentText {
		t.Errorf("a file in UTF-16 is %q, %v", file.Data, err)
	}
}

// TestSearchOtherScripts: words of other scripts find what has them, and nothing else.
func TestSearchOtherScripts(t *testing.T) {
	c := catalog.Open(source(shopWith(map[string]string{
		"_bmad/bmm/workflows/harbour/workflow.md": "---\nname: harbour\ndescription: 港口的产品经理 пишет план\n---\n# Harbour\n",
	})))
	for query, want := range map[string]string{
		"产品经理": "workflow bmm/harbour", "港口": "workflow bmm/harbour", "план": "workflow bmm/harbour",
		"需求": "", "审查代码": "", "日本語": "", "прд": "", "🙂🙂": "", "Ωμ": "", "*": "", "-": "", "/ *": "", "créer": "",
	} {
		if got := scoredHits(c.Search(query)); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
}

// TestFindSpellings: texts of the method, commands and people name an item in many ways.
func TestFindSpellings(t *testing.T) {
	const file = "_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow.yaml"
	c := catalog.Open(source(shopWith(map[string]string{
		"_bmad/bmm/agents/dev.md":               strings.ReplaceAll(agentText, "x", "dev"),
		"_bmad/gds/agents/dev.md":               strings.ReplaceAll(agentText, "x", "dev"),
		"_bmad/wds/workflows/plan/workflow.md":  "---\nname: plan\ndescription: x\n---\n# Plan\n",
		"_bmad/wds/workflows/story/workflow.md": "---\nname: write-story\ndescription: x\n---\n# Story\n",
	})))
	for name, want := range map[string]string{
		file: "bmm/create-prd", "{project-root}/" + file: "bmm/create-prd", "@{project-root}/" + file: "bmm/create-prd", "`" + file + "`": "bmm/create-prd",
		"./" + file: "bmm/create-prd", shop + "/" + file: "bmm/create-prd", strings.ReplaceAll(file, "/", `\`): "bmm/create-prd", "bmm/workflows/2-plan-workflows/create-prd/workflow.yaml": "bmm/create-prd",
		"bmad/bmm/workflows/create-prd/workflow.md": "bmm/create-prd", "_bmad/bmm/2-plan/bmad-create-prd/SKILL.md": "bmm/create-prd", "_bmad/x/workflow-create-prd.md": "bmm/create-prd",
		"`create-prd`": "bmm/create-prd", `"create-prd"`: "bmm/create-prd", "workflow:create-prd": "bmm/create-prd", "skill:bmad-create-prd": "bmm/create-prd", "/bmad:bmm:workflows:create-prd": "bmm/create-prd", "the create-prd": "bmm/create-prd",
	} {
		if i, err := c.Find(catalog.Workflow, name); err != nil || i.Full() != want {
			t.Errorf("%q is %s, %v, want %s", name, i.Full(), err, want)
		}
	}
	for name, want := range map[string]string{"bmm/developer": "bmm/dev", "the analyst": "bmm/analyst", "@analyst": "bmm/analyst", "agent:analyst": "bmm/analyst", "_bmad/bmm/agents/analyst.md": "bmm/analyst", "bmad:gds:agents:dev": "gds/dev"} {
		if i, err := c.Find(catalog.Agent, name); err != nil || i.Full() != want {
			t.Errorf("%q is %s, %v, want %s", name, i.Full(), err, want)
		}
	}
	// The name of one hides the alias of another, which is said.
	hiding := catalog.Open(source(shopWith(map[string]string{
		"_bmad/gds/workflows/story/workflow.md": "---\nname: story\ndescription: x\n---\n", "_bmad/wds/workflows/story/workflow.md": "---\nname: write-story\ndescription: x\n---\n",
	})))
	for name, want := range map[string]string{"story": "wds/write-story", "`story`": "wds/write-story", "gds/story": "", "create-prd": ""} {
		if i, err := hiding.Find(catalog.Workflow, name); err != nil || strings.Join(hiding.AlsoNamed(i, name), " ") != want {
			t.Errorf("%q is %s, beside %q, %v, want %q", name, i.Full(), hiding.AlsoNamed(i, name), err, want)
		}
	}
	for name, hint := range map[string]string{"prd": "create-prd", "tech-story": "write-story", "bmad:bmm:agents:analyst": "bmm/analyst", "_bmad/bmm/agents/nobody.md": "the workflows are"} {
		_, err := c.Find(catalog.Workflow, name)
		wantFault(t, name, err, "not_found", "there is no workflow", hint)
	}
}

// FuzzFind: any name is found, or refused with advice.
func FuzzFind(f *testing.F) {
	for _, name := range []string{"", "analyst", "bmm/analyst", "`the skill:bmad-create-prd`", "bmad:bmm:agents:x", "bmad::", "{project-root}/_bmad/../x.md", `_bmad\bmm\agents\analyst.md`, "bmad://~x/y?view=resolved", "需求.md", "/-/", shop + "/x/SKILL.md", "the "} {
		f.Add(name)
	}
	c := catalog.Open(source(shopWith(nil)))
	f.Fuzz(func(t *testing.T, name string) {
		for _, kind := range []catalog.Kind{catalog.Agent, catalog.Workflow, catalog.Task} {
			i, err := c.Find(kind, name)
			if err == nil && i.Kind != kind || err != nil && fault.From(err).Hint == "" {
				t.Fatalf("%q is %s %s, %v", name, i.Kind, i.Full(), err)
			}
			c.AlsoNamed(i, name)
		}
		c.Named(name)
		c.Search(name)
	})
}

// TestLaunchers: a skill that only sends its reader to the file of an item is another name of the item.
func TestLaunchers(t *testing.T) {
	const to = "IT IS CRITICAL THAT YOU FOLLOW THIS COMMAND: LOAD the FULL {project-root}/_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow.yaml, READ it!\n"
	launcher := func(name, text string) map[string]string {
		return map[string]string{".claude/skills/" + name + "/SKILL.md": "---\nname: " + name + "\ndescription: d\n---\n\n" + text, ".cursor/skills/" + name + "/SKILL.md": "---\nname: " + name + "\ndescription: d\n---\n\n" + text}
	}
	for what, tt := range map[string]struct {
		text, tasks, problem string
		alias                bool
	}{
		"the file":           {to, "", "", true},
		"with a mark":        {strings.Replace(to, "{project", "@{project", 1), "", "", true},
		"after the runner":   {"1. Always LOAD the FULL {project-root}/_bmad/core/tasks/workflow.xml\n2. Pass the path " + to, "", "", true},
		"nowhere":            {strings.Replace(to, "create-prd", "gone", 1), "", "it only sends its reader to a file, which is not there", false},
		"a skill of its own": {"# Own\n\nRead {project-root}/_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow.yaml and improve it.\n", "bmad-short", "", false},
		"a long one":         {"# Own\n\n" + strings.Repeat("Step. ", 300) + to, "bmad-short", "", false},
	} {
		c := catalog.Open(source(shopWith(launcher("bmad-short", tt.text))))
		_, err := c.Find(catalog.Workflow, "bmad-short")
		if got := names(c, catalog.Task); got != tt.tasks || (err == nil) != tt.alias || !strings.Contains(problems(c), tt.problem) || tt.problem == "" && problems(c) != "" {
			t.Errorf("%s: tasks %q, found %v, problems %q", what, got, err, problems(c))
		}
	}
}

// TestOutOfReach: what a link or an absent file puts out of reach is named.
func TestOutOfReach(t *testing.T) {
	elsewhere := onDisk(t, shopWith(map[string]string{"skills/bmad-x/SKILL.md": "---\nname: bmad-x\ndescription: d\n---\n# X\n"})).Dir
	for name, to := range map[string]string{
		"_bmad": filepath.Join(elsewhere, "_bmad"), ".bmad-core": elsewhere, "bmad": "/nowhere", ".bmad": "..", ".claude": elsewhere, ".claude/skills": filepath.Join(elsewhere, "skills"), ".agents/skills/bmad-x": filepath.Join(elsewhere, "skills/bmad-x"),
	} {
		s := onDisk(t, with(fstest.MapFS{}, map[string]string{"README.md": "x", ".claude/x.md": "x", ".agents/skills/x.md": "x"}))
		if name == ".claude" {
			s = onDisk(t, with(fstest.MapFS{}, map[string]string{"README.md": "x"}))
		}
		link(t, s.Dir, name, to)
		if got := problems(catalog.Open(s)); !strings.HasPrefix(got, name) || !strings.Contains(got, "a symbolic link that leads out") {
			t.Errorf("%s: problems %q", name, got)
		}
	}
	for what, tt := range map[string]struct {
		files   map[string]string
		problem string
	}{
		"a module of nothing":    {map[string]string{"_bmad/_config/manifest.yaml": "modules: [bmm, game]\n"}, `_bmad/game: the module "game" is installed, and no agent, workflow or task of it was found`},
		"a skill without a text": {map[string]string{".claude/skills/bmad-y/workflow.md": "# Y\n"}, ".claude/skills/bmad-y: it has no SKILL.md"},
		"other people's":         {map[string]string{".claude/skills/y/workflow.md": "# Y\n"}, ""},
	} {
		if got := problems(catalog.Open(source(shopWith(tt.files)))); got != tt.problem {
			t.Errorf("%s: problems %q, want %q", what, got, tt.problem)
		}
	}
}
