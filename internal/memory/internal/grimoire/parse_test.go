package grimoire_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// told lists the entries of one file, as "agent date text".
func told(kind grimoire.Kind, path, text string) []string {
	c, _ := grimoire.Parse(grimoire.Source{Path: path, Kind: kind}, []byte(text))
	var out []string
	for _, e := range c.Entries {
		out = append(out, fmt.Sprintf("%d %s %s %s", e.Line, e.Agent, day(e.Date), e.Text))
	}
	return out
}

// TestDates checks that dates are taken off a text in every form that people write, and that a number
// that is no date stays.
func TestDates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[2026-02-10] a":                   "2026-02-10 a",
		"[2026/2/1] a":                     "2026-02-01 a",
		"(2026.02.10) a":                   "2026-02-10 a",
		"2026-02-10: a":                    "2026-02-10 a",
		"2026-02-10 — a":                   "2026-02-10 a",
		"**2026-02-10** : a":               "2026-02-10 a",
		"[2026-02-10 14:05] a":             "2026-02-10T14:05 a",
		"[2026-02-10T14:05:06.123Z] a":     "2026-02-10T14:05 a",
		"[2026-02-10T14:05:06+02:00] - a":  "2026-02-10T12:05 a",
		"[2026-02-10T23:05:06-0200] a":     "2026-02-11T01:05 a",
		"[2026-02-10 14:05 UTC] a":         "2026-02-10T14:05 a",
		"2026-02-10 was a bad day":         "- 2026-02-10 was a bad day",
		"[2026-02-30] a":                   "- [2026-02-30] a",
		"[20260210] a":                     "- [20260210] a",
		"2026-02-10 14:05 is not enough":   "- 2026-02-10 14:05 is not enough",
		"[link](2026-02-10) is not a date": "- [link](2026-02-10) is not a date",
	} {
		if got := told(grimoire.Learnings, "x/dev.md", "- "+text); len(got) != 1 || got[0] != "1 dev "+want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestDecisions reads the forms of a log of decisions.
func TestDecisions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"## 2026-02-10\n### Topic\n- one\n## Other\n- two":                "3  2026-02-10 Topic: one|5  - two",
		"## 2026-02-10 — A\n- b\n## [2026-02-11] C\n\n## 2026-02-12 D":    "2  2026-02-10 A: b|3  2026-02-11 C|5  2026-02-12 D",
		"## 2026-02-10 — A\n### B\n**Why**: c\n### D\n- e":                "3  2026-02-10 B: **Why**: c|5  2026-02-10 D: e",
		"## 2026-02-10 — ADR-7: a\nb\n### c\nd":                           "1  2026-02-10 ADR-7: a\nb\nc:\nd",
		"| Date | What |\n|---|---|\n| 2026-02-10 | a |\n| Q1 2026 | b |": "3  2026-02-10 a|4  - Q1 2026 · b",
		"*only* in *parts*\n\n- *all of it*\n- *one* and *two*":           "4  - *one* and *two*",
		"## 2026-02-10\ntwo\nlines":                                       "2  2026-02-10 two\nlines",
		"# ADR-1: a\n- **Date** : 2026-02-10\n## Why\nb\n# Next\n- c":     "1  2026-02-10 ADR-1: a\n**Date** : 2026-02-10\nWhy:\nb|6  - c",
		"- [2026-02-10] a\n\n  b\n> quoted\n---\n1. c":                    "1  2026-02-10 a b|6  - c",
	} {
		if got := strings.Join(told(grimoire.DecisionLog, "d.md", text), "|"); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
}

// TestFailures reads the forms of an entry of a museum, and headings that are none.
func TestFailures(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"### [2026-02-10] CC-FAIL — T\n**Règle** : 2**8 is *not* 28":        "- 2026-02-10 CC-FAIL|T||2**8 is *not* 28|",
		"### [2026-02-10] CC-FAIL — T\n- **Agent(s) impliqué(s)**: unknown": "- 2026-02-10 CC-FAIL|T|||",
		"### [2026-02-10] [dev] CC-FAIL — Title":                            "dev 2026-02-10 CC-FAIL|Title|||",
		"### [2026-02-10] CC-FAIL - Title":                                  "- 2026-02-10 CC-FAIL|Title|||",
		"### [2026-02-10] [dev] [CC-FAIL] [Title]":                          "dev 2026-02-10 CC-FAIL|[Title]|||",
		"### [2026-02-10] [CC-FAIL] Title":                                  "- 2026-02-10 CC-FAIL|Title|||",
		"### 2026-02-10 — Title":                                            "- 2026-02-10 |Title|||",
		"#### HALLUCINATION: Title":                                         "- - HALLUCINATION|Title|||",
		"## FM-012 — Title: with a colon":                                   "- - |Title: with a colon|||",
		"## FM-1 — T\n- **Agent(s) impliqué(s)**: qa, dev\n- **Règle ajoutée**: r\n- **Correctif**: f": "qa - |T|f|r|",
		"### [2026-02-10] CC-FAIL — T\n- Leçon : l\n- Correctif : f":                                   "- 2026-02-10 CC-FAIL|T|l||",
		"### [2026-02-10] CC-FAIL — T\n**Lesson:** l\nand more\n\n**Severity** : blocker":              "- 2026-02-10 CC-FAIL|T|l and more||🔴",
		"### [2026-02-10] CC-FAIL — T\n\n| Leçon | x |\n":                                              "- 2026-02-10 CC-FAIL|T|||",
		"## 🟢 Micro\n### [2026-02-10] CC-FAIL — T":                                                     "- 2026-02-10 CC-FAIL|T|||🟢",
		"## 📊 Statistiques":              "",
		"### How to use this museum":     "",
		"### [2026-02-10]":               "",
		"<!--\n### [2026-02-10] T\n-->":  "",
		"~~~\n### [2026-02-10] T\n~~~":   "",
		"### [YYYY-MM-DD] [agent] title": "",
	} {
		c, _ := grimoire.Parse(grimoire.Source{Path: "m.md", Kind: grimoire.Museum}, []byte(text))
		got := ""
		if len(c.Entries) > 0 {
			e := c.Entries[0]
			if e.Agent == "" {
				e.Agent = "-"
			}
			got = fmt.Sprintf("%s %s %s|%s|%s|%s|%s", e.Agent, day(e.Date), e.Failure.Category, e.Failure.Title, e.Failure.Lesson, e.Failure.Rule, e.Failure.Severity)
		}
		if got != want || len(c.Entries) > 1 {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
}

// TestSharedContext checks that agents and the project are read from the tables and lists of the
// shared context, and that other tables that name agents are facts.
func TestSharedContext(t *testing.T) {
	t.Parallel()
	text := "# Context\n## Project\n- **Name**: Shop\n- Stack : Go, SQLite\n## Team\n| Agent | Name | Icon | Domain |\n|---|---|---|---|\n| dev | Amelia | 💻 | code |\n| {{agent}} | x | y | z |\n" +
		"## Owners\n| Agent | Service |\n|---|---|\n| dev | checkout |\n## Architecture\n{{diagram}}\n"
	c, _ := grimoire.Parse(grimoire.Source{Path: "s.md", Kind: grimoire.Shared}, []byte(text))
	if c.Project.Name != "Shop" || !slices.Equal(c.Project.Stack, []string{"Go", "SQLite"}) || c.Architecture.Text != "" {
		t.Errorf("the project is %+v, the architecture %q", c.Project, c.Architecture.Text)
	}
	if len(c.Agents) != 1 || c.Agents[0] != (grimoire.Agent{ID: "dev", Name: "Amelia", Icon: "💻", Domain: "code"}) {
		t.Errorf("the agents are %+v", c.Agents)
	}
	if last := c.Entries[len(c.Entries)-1]; last.Text != "Owners: dev · checkout" || len(c.Entries) != 3 {
		t.Errorf("%d entries, the last %q", len(c.Entries), last.Text)
	}
}

// TestSharedDecisions: the entries of a section of decisions are decisions, whatever its language and
// their form.
func TestSharedDecisions(t *testing.T) {
	t.Parallel()
	forms := map[string]string{
		"- a\n":              " - a",
		"- [2026-02-10] a\n": " 2026-02-10 a",
		"| Date | What |\n|---|---|\n| 2026-02-10 | a |\n":                " 2026-02-10 a",
		"| Quand | Quoi | Qui |\n|---|---|---|\n| 2026-02-10 | a | b |\n": " 2026-02-10 a · b",
		"### 2026-02-10 — T\n\n- a\n":                                     " 2026-02-10 T: a",
	}
	for _, title := range []string{"Décisions récentes", "Decisions", "Recent decisions", "决策", "最近的决定", "Key Decision Log"} {
		for form, want := range forms {
			text := "# Context\n## " + title + "\n\n" + form + "\n## Conventions\n- decisions are written down\n"
			c, _ := grimoire.Parse(grimoire.Source{Path: "s.md", Kind: grimoire.Shared}, []byte(text))
			e := c.Entries[0]
			if got := " " + day(e.Date) + " " + e.Text; e.Type != lesson.Decisions || got != want || len(c.Entries) != 2 || c.Entries[1].Type != lesson.SharedContext {
				t.Errorf("%s, %q: got %s %q, want %q; %d entries", title, form, e.Type, got, want, len(c.Entries))
			}
		}
	}
}

// TestTemplates: what nobody has filled in is neither a fact nor an agent, and texts from markup are
// read as people see them.
func TestTemplates(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"À compléter", "A compléter…", "*à définir*", "TBD", "to be completed", "待补充", "{{stack}}"} {
		settings := fmt.Sprintf("project:\n  name: Shop\n  stack: [%q]\n  description: %q\n", word, word)
		c, _ := grimoire.Parse(grimoire.Source{Path: "p.yaml", Kind: grimoire.Settings}, []byte(settings))
		if c.Project.Name != "Shop" || len(c.Project.Stack) > 0 || c.Project.Description != "" {
			t.Errorf("%s: the project is %+v", word, c.Project)
		}
		shared := "## Projet\n- **Stack** : " + word + "\n## Stack\n| Techno | Version |\n|---|---|\n| Go | " + word + " |\n| " + word + " | |\n"
		c, _ = grimoire.Parse(grimoire.Source{Path: "s.md", Kind: grimoire.Shared}, []byte(shared))
		if got := strings.Join(c.Project.Stack, "|"); got != "Go" && (got != "" || !strings.Contains(word, "{{")) {
			t.Errorf("%s: the stack is %q", word, got)
		}
		persona := fmt.Sprintf("<agent id=\"x\" name=\"Ann\" title=%q icon=\"📊\">\n", word)
		c, _ = grimoire.Parse(grimoire.Source{Path: "a/ann.md", Kind: grimoire.Persona}, []byte(persona))
		if len(c.Agents) != 1 || c.Agents[0].Domain != "" || c.Agents[0].Icon != "📊" {
			t.Errorf("%s: the agents are %+v", word, c.Agents)
		}
	}
	for file, want := range map[string]string{
		`<agent name="{{agent_name}}" title="{{agent_role}}">`:          "",
		`<agent name="Ann &amp; Bob" title="R&amp;D &lt;core&gt;">`:     "Ann & Bob/R&D <core>",
		`<agent name="Tom" title="to be completed by the QA engineer">`: "Tom/to be completed by the QA engineer",
	} {
		c, _ := grimoire.Parse(grimoire.Source{Path: "a/x.md", Kind: grimoire.Persona}, []byte(file))
		got := ""
		for _, a := range c.Agents {
			got = a.Name + "/" + a.Domain
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
}

// TestTrace checks that the last lines of a trace count, under the headings above them.
func TestTrace(t *testing.T) {
	t.Parallel()
	lines := "## 2026-01-02 03:04 | dev | story\n" + strings.Repeat("[DECISION] one\n", 300)
	got := told(grimoire.Trace, "t.md", lines)
	if len(got) != 199 || got[0] != "103 dev 2026-01-02T03:04 one" {
		t.Errorf("got %d entries, the first %q", len(got), got[0])
	}
	for text, want := range map[string]string{
		"[2026-01-02T03:04:00Z] [dev/Amelia] [DECISION:tech] x": "1 dev 2026-01-02T03:04 x",
		"[2026-01-02 03:04] [DECISION] [dev] x":                 "1 dev 2026-01-02T03:04 x",
		"- [2026-01-02] [dev] [HANDOFF→qa/Quinn] x":             "1 dev 2026-01-02 x",
		`[2026-01-02] [m] [REMEMBER] type: nonsense | "x"`:      `1 m 2026-01-02 type: nonsense | "x`,
		"[2026-01-02] [dev] [TOOL:call] x":                      "",
		"[2026-01-02] [dev] [RECALL] x":                         "",
		"[x](y) is a link":                                      "",
	} {
		if got := strings.Join(told(grimoire.Trace, "t.md", text), "\n"); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestRecords checks the notes of lists, of lines and of exports.
func TestRecords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\ufeff [{\"memory\":\"a\",\"metadata\":{\"agent\":\"Dev\"}}]":                                                  "memories agent-learnings dev a []",
		`{"v":1,"type":"stories","agent":"sm","text":"a","tags":["x"]}` + "\n" + `{"id":"1","deleted_at":"2026-01-01"}`: "jsonl stories sm a [x]",
		`{"type":"decision","text":"a","tags":"x, y"}`:                                                                  "jsonl shared-context  a [x y]",
		"# stories — bmad-x\n## sm\n- [2026-01-01] a `x` `y:z`\n":                                                       "export-md stories sm a [x y:z]",
		"# anything\n- a `code with spaces`":                                                                            "export-md agent-learnings  a `code with spaces` []",
	} {
		kind, want, _ := strings.Cut(want, " ")
		c, _ := grimoire.Parse(grimoire.Source{Path: "in", Kind: grimoire.Kind(kind)}, []byte(text))
		if len(c.Entries) != 1 {
			t.Errorf("%s: got %d entries", text, len(c.Entries))
			continue
		}
		e := c.Entries[0]
		if got := fmt.Sprintf("%s %s %s %v", e.Type, e.Agent, e.Text, e.Tags); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestAliases checks that an agent is found by any of its names, and that a tag of two agents means both.
func TestAliases(t *testing.T) {
	t.Parallel()
	all, _, _ := read(t, os.DirFS("testdata/kit"))
	for name, want := range map[string]string{
		"go-expert":         "go-expert gopher go-backend",
		"Gopher":            "gopher go-expert go-backend",
		"GO-BACKEND":        "go-backend go-expert gopher",
		"@go-expert":        "go-expert gopher go-backend",
		"typescript-expert": "typescript-expert pixel frontend-ts",
		"pixel":             "pixel frontend-specialist frontend-ux typescript-expert frontend-ts",
		"amelia":            "amelia dev",
		"nobody":            "",
		"":                  "",
	} {
		names, known := all.Aliases(name)
		if got := strings.Join(names, " "); known != (want != "") || known && got != want {
			t.Errorf("%s: got %q %v, want %q", name, got, known, want)
		}
	}
}

// TestBranchStatus checks that a branch has the status of its newest run, unless it is over.
func TestBranchStatus(t *testing.T) {
	t.Parallel()
	file := func(name, text string) grimoire.Content {
		kind := grimoire.RunFile
		if strings.HasSuffix(name, "branch.json") {
			kind = grimoire.BranchFile
		}
		c, problems := grimoire.Parse(grimoire.Source{Path: "_bmad-output/.runs/" + name, Kind: kind}, []byte(text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return c
	}
	run := func(id, status, at string) string {
		return fmt.Sprintf(`{"run_id":%q,"status":%q,"last_checkpoint":%q}`, id, status, at)
	}
	for _, c := range []struct{ branch, status, one, two, want string }{
		{"b/branch.json", "active", "", "", grimoire.Active},
		{"b/branch.json", "merged", "", "", grimoire.Completed},
		{"b/branch.json", "active", "completed", "completed", grimoire.Completed},
		{"b/branch.json", "active", "completed", "running", grimoire.Active},
		{"b/branch.json", "active", "running", "failed", grimoire.Failed},
		{"b/branch.json", "active", "failed", "completed", grimoire.Active},
		{"b/branch.json", "merged", "completed", "failed", grimoire.Failed},
		{"b/branch.json", "unheard-of", "paused", "PAUSED", grimoire.Active},
		{"archive/b-20260101/branch.json", "active", "", "", grimoire.Completed},
		{"archive/b-20260101/branch.json", "active", "running", "running", grimoire.Completed},
	} {
		contents := []grimoire.Content{file(c.branch, fmt.Sprintf(`{"branch":"b","status":%q}`, c.status))}
		folder := strings.TrimSuffix(c.branch, "branch.json")
		if c.one != "" {
			contents = append(contents, file(folder+"r1/state.json", run("r1", c.one, "2026-01-01T00:00:00Z")), file(folder+"r2/state.json", run("r2", c.two, "2026-01-02T00:00:00Z")))
		}
		all, _ := grimoire.Join(contents)
		if got := all.Branches[0].Status(all.Runs); got != c.want || all.Branches[0].Name != "b" {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// TestLinksThatLeadOut checks that files and folders outside the project are named, and not read.
func TestLinksThatLeadOut(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: making links needs a privilege on Windows")
	}
	outside, project := t.TempDir(), t.TempDir()
	for _, step := range []error{
		os.WriteFile(filepath.Join(outside, "secret.md"), []byte("- secret\n"), 0o600),
		os.MkdirAll(filepath.Join(project, "_bmad/_memory/agent-learnings"), 0o700),
		os.WriteFile(filepath.Join(project, "_bmad/_memory/agent-learnings/dev.md"), []byte("- ours\n"), 0o600),
		os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(project, "_bmad/_memory/agent-learnings/qa.md")),
		os.Symlink("dev.md", filepath.Join(project, "_bmad/_memory/agent-learnings/sm.md")),
		os.Symlink(outside, filepath.Join(project, "_grimoire")),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	all, problems, _ := read(t, root.FS())
	if len(all.Entries) != 2 || all.Entries[0].Text != "ours" || all.Entries[1].Text != "ours" {
		t.Errorf("got %+v", all.Entries)
	}
	var named []string
	for _, p := range problems {
		named = append(named, p.Path)
	}
	if !slices.Contains(named, "_bmad/_memory/agent-learnings/qa.md") || !slices.Contains(named, "_grimoire") {
		t.Errorf("the problems are of %q", named)
	}
}

// TestLimits checks that a limit is named once if it leaves something out.
func TestLimits(t *testing.T) {
	t.Parallel()
	long, problems := grimoire.Parse(grimoire.Source{Path: "l.md", Kind: grimoire.Learnings}, []byte("- "+strings.Repeat("é", 5000)))
	if len(long.Entries) != 1 || len(long.Entries[0].Text) != 4000 || len(problems) != 1 || problems[0].Line != 1 {
		t.Errorf("got %d bytes, %v", len(long.Entries[0].Text), problems)
	}
	many, _ := grimoire.Parse(grimoire.Source{Path: "l.md", Kind: grimoire.Learnings}, []byte(strings.Repeat("- a\n", 15_000)))
	all, problems := grimoire.Join([]grimoire.Content{many, many, many})
	if len(all.Entries) != grimoire.MaxEntries || len(problems) != 1 || problems[0].Line != 5001 {
		t.Errorf("got %d entries, %v", len(all.Entries), problems)
	}
	files := fstest.MapFS{}
	for n := range 5200 {
		files[fmt.Sprintf("_bmad/_memory/agent-learnings/a%04d.md", n)] = &fstest.MapFile{}
	}
	found, problems := grimoire.Sources(files)
	if len(found) != 5000 || len(problems) != 1 {
		t.Errorf("got %d files, %v", len(found), problems)
	}
}

// TestLargestFiles checks that no file of the largest size takes more than a moment. If each line were
// read again for every line, it would take hours.
func TestLargestFiles(t *testing.T) {
	t.Parallel()
	fill := func(before, part string) []byte {
		return []byte(before + strings.Repeat(part, (grimoire.MaxFile-len(before))/len(part)))
	}
	for name, c := range map[string]struct {
		kind grimoire.Kind
		data []byte
	}{
		"one item of many lines":      {grimoire.Learnings, fill("- a\n", "  b\n")},
		"one item of many items":      {grimoire.Learnings, fill("- a\n", "  - b\n")},
		"one paragraph":               {grimoire.DecisionLog, fill("## 2026-01-01\n", "b\n")},
		"one record":                  {grimoire.DecisionLog, fill("# ADR-1\n", "- b\n")},
		"one record of many headings": {grimoire.DecisionLog, fill("# ADR-1\n", "## b\n")},
		"one failure of many fields":  {grimoire.Museum, fill("### FM-1 — a\n", "- Leçon : b\n")},
		"one failure of many lines":   {grimoire.Museum, fill("### FM-1 — a\n**Leçon** : b\n", "c\n")},
		"many notes in one line":      {grimoire.Memories, append(fill("[", `{"memory":"a"},`), `{"memory":"a"}]`...)},
		"many notes in lines":         {grimoire.Memories, append(fill("[", "{\"memory\":\"a\"},\n"), `{"memory":"a"}]`...)},
		"many settings":               {grimoire.Persona, fill("", "AGENT_TAG=a | ")},
		"many sections":               {grimoire.Shared, fill("", "## Architecture\na\n")},
		"one line":                    {grimoire.Trace, append(fill("", "[a]"), "[DECISION] a"...)},
		"brackets":                    {grimoire.Lines, fill("", "[")},
		"many comments":               {grimoire.Learnings, fill("", "<!-- a --> ")},
		"many codes":                  {grimoire.Learnings, fill("- ", "`<!--` ")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, problems := grimoire.Parse(grimoire.Source{Path: "x.md", Kind: c.kind}, c.data)
			if len(content.Entries)+len(content.Agents)+len(problems) == 0 {
				t.Error("nothing was read")
			}
		})
	}
}

// FuzzParse reads any bytes as each kind of file.
func FuzzParse(f *testing.F) {
	kinds := []grimoire.Kind{
		grimoire.Settings, grimoire.Shared, grimoire.Manifest, grimoire.Persona, grimoire.Learnings, grimoire.Museum, grimoire.DecisionLog, grimoire.Contradictions,
		grimoire.Handoffs, grimoire.Trace, grimoire.Memories, grimoire.Lines, grimoire.Export, grimoire.BranchFile, grimoire.RunFile,
	}
	for _, name := range []string{"kit", "grimoire", "broken"} {
		fsys := os.DirFS("testdata/" + name)
		sources, _ := grimoire.Sources(fsys)
		runs, _ := grimoire.RunSources(fsys)
		for _, s := range append(sources, runs...) {
			data, err := os.ReadFile(filepath.Join("testdata", name, s.Path))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(slices.Index(kinds, s.Kind), data)
		}
	}
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		if kind < 0 || kind >= len(kinds) {
			return
		}
		c, problems := grimoire.Parse(grimoire.Source{Path: "_bmad-output/.runs/archive/b-20260101/r/state.json", Kind: kinds[kind]}, data)
		lines := 1 + strings.Count(string(data), "\n") + strings.Count(string(data), "\r")
		for _, e := range append(c.Entries, c.Architecture) {
			switch {
			case !utf8.ValidString(e.Text), strings.Contains(e.Text, "\x00"), len(e.Text) > 4000, e.Line > lines, e.Text != "" && e.Line < 1:
				t.Errorf("line %d of %d: %q", e.Line, lines, e.Text)
			case e.Text != "" && !slices.Contains(lesson.Types(), e.Type):
				t.Errorf("the type is %q", e.Type)
			}
		}
		for _, p := range problems {
			if p.Line > lines || p.Why.Empty() {
				t.Errorf("line %d of %d: %v", p.Line, lines, p.Why)
			}
		}
		if all, _ := grimoire.Join([]grimoire.Content{c, c}); len(all.Entries) > 2*len(c.Entries) {
			t.Error("joining makes entries")
		}
	})
}

// BenchmarkParse reads a file of the largest size.
func BenchmarkParse(b *testing.B) {
	data := []byte(strings.Repeat("- [2026-02-10] the pool needs a lifetime behind a proxy, or it hands out dead connections\n", 20_000))
	for b.Loop() {
		if c, _ := grimoire.Parse(grimoire.Source{Path: "l.md", Kind: grimoire.Learnings}, data); len(c.Entries) != 20_000 {
			b.Fatal(len(c.Entries))
		}
	}
}
