package method_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// TestPersonaOnce: an agent's answer has its persona at the top, with the customization merged, and
// not again in the instructions. The text behind them can still be read on from the cut.
func TestPersonaOnce(t *testing.T) {
	var lines strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&lines, "<step n=\"%d\">do it</step>\n", n)
	}
	const identity = "Keeps the ledger of a harbour"
	persona := "<persona>\n<role>Clerk</role>\n<identity>" + identity + "</identity>\n<communication_style>Dry</communication_style>\n<principles>Count twice</principles>\n</persona>\n"
	for name, tt := range map[string]struct {
		file, text, instead string
		times               int // of the identity
	}{
		"tags":      {"_bmad/bmm/agents/clerk.md", "<agent id=\"clerk\" name=\"Ann\" title=\"Clerk\">\n" + persona + "</agent>\n", "<persona>see Persona above</persona>\n</agent>", 1},
		"long":      {"_bmad/bmm/agents/clerk.md", "<agent id=\"clerk\" name=\"Ann\" title=\"Clerk\">\n" + persona + lines.String() + "</agent>\n", "<persona>see Persona above</persona>\n<step n=\"0\">", 1},
		"more tags": {"_bmad/bmm/agents/clerk.md", "<agent id=\"clerk\" name=\"Ann\" title=\"Clerk\">\n" + strings.Replace(persona, "</persona>", "<secret>x</secret>\n</persona>", 1) + "</agent>\n", "<secret>x</secret>", 2},
		"prose":     {".claude/skills/clerk/SKILL.md", "---\nname: clerk\n---\n# Ann\n\n## Identity\n\n" + identity + ", and of nothing else at all.\n", identity, 1},
		"block":     {".bmad-core/agents/clerk.md", "# Clerk\n\n```yaml\nagent:\n  name: Ann\n  id: clerk\n  title: Clerk\npersona:\n  role: Clerk\n  identity: " + identity + "\n  core_principles:\n    - Count twice\ncommands:\n  - help: Help\n```\n", "persona: see Persona above\ncommands:\n  - help", 1},
	} {
		dir := folder(t)
		for file, text := range map[string]string{tt.file: tt.text, ".claude/skills/clerk/bmad-skill-manifest.yaml": "type: agent\nmodule: bmm\nrole: Clerk\nidentity: " + identity + ", and of nothing else at all.\n", "_bmad/_config/manifest.yaml": "modules: [bmm]\n", ".bmad-core/core-config.yaml": "prd: {}\n"} {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l := method.New(method.Options{Now: newClock().time})
		t.Cleanup(l.Close)
		s := l.At(dir)
		text, err := s.Agent("clerk", "", method.ToolNames{Read: "read"})
		if err != nil {
			t.Fatal(name, err)
		}
		if strings.Count(text, identity) != tt.times || !strings.Contains(text, tt.instead) {
			t.Errorf("%s: the identity is there %d times, want %d, and %q\n%.1500s", name, strings.Count(text, identity), tt.times, tt.instead, text)
		}
		if name != "long" {
			continue
		}
		head, rest, cut := strings.Cut(text, "\n[")
		_, uri, _ := strings.Cut(rest, "go on reading with read, ")
		uri, _, _ = strings.Cut(uri, ", before")
		r, err := s.Read(uri, 100)
		last := head[strings.LastIndex(head, "<step "):]
		var n int
		if _, err := fmt.Sscanf(last, "<step n=\"%d\">", &n); err != nil {
			t.Fatal(last, err)
		}
		if want := fmt.Sprintf("<step n=\"%d\">", n+1); !cut || err != nil || !strings.HasPrefix(string(r.Data), want) {
			t.Errorf("%s goes on with %.60q, %v, want %s", uri, r.Data, err, want)
		}
	}
}

// TestListsOfWorkflows: a workflow that names its author is listed with it.
func TestListsOfWorkflows(t *testing.T) {
	dir := folder(t)
	install(t, "v6-alpha", dir)
	l := method.New(method.Options{Now: newClock().time})
	t.Cleanup(l.Close)
	page, err := l.At(dir).Items(catalog.Workflow, "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	authors := map[string]string{}
	for _, i := range page.Workflows {
		authors[i.Name] = i.Author
	}
	if authors["prd"] != "BMad" || authors["tech-spec"] != "" {
		t.Errorf("the authors are %q", authors)
	}
	none, err := l.At(dir).Items(catalog.Workflow, "desing", "bmn", "")
	if want := "the categories are: "; err != nil || !strings.Contains(none.Hint, want) || !strings.Contains(none.Hint, "the modules are: ") {
		t.Errorf("the hint is %q, %v, want %q in it", none.Hint, err, want)
	}
}

// counting is a file system that counts the files that are opened.
type counting struct {
	fstest.MapFS
	opened int
}

func (c *counting) Open(name string) (fs.File, error) {
	c.opened++
	return c.MapFS.Open(name)
}

// TestListReadsOnce: the second list of the same workflows reads no file. One that has changed is read
// again.
func TestListReadsOnce(t *testing.T) {
	files := &counting{MapFS: fstest.MapFS{"_bmad/_config/manifest.yaml": {Data: []byte("modules: [bmm]\n")}}}
	const first = "_bmad/bmm/workflows/2-plan/w0/workflow.yaml"
	for n := range 9 {
		files.MapFS[fmt.Sprintf("_bmad/bmm/workflows/2-plan/w%d/workflow.yaml", n)] = &fstest.MapFile{Data: fmt.Appendf(nil, "name: w%d\nauthor: Ann\n", n)}
	}
	s := &method.Snapshot{Catalog: catalog.Open(catalog.Source{Name: catalog.Project, FS: files})}
	list := func() (author string, opened int) {
		t.Helper()
		before := files.opened
		page, err := s.Items(catalog.Workflow, "", "", "")
		if err != nil || len(page.Workflows) != 9 {
			t.Fatal(page, err)
		}
		return page.Workflows[0].Author, files.opened - before
	}
	if author, opened := list(); author != "Ann" || opened < 9 {
		t.Errorf("the author is %q, from %d files: is anything counted?", author, opened)
	}
	if author, opened := list(); author != "Ann" || opened > 0 {
		t.Errorf("the author is %q, and %d files were opened again", author, opened)
	}
	files.MapFS[first] = &fstest.MapFile{Data: []byte("name: w0\nauthor: Barbara\n")}
	if author, opened := list(); author != "Barbara" || opened == 0 || opened > 4 {
		t.Errorf("the author is %q, from %d files", author, opened)
	}
}

// TestListedPlaces: every item is listed with the path of its file and its category.
func TestListedPlaces(t *testing.T) {
	for _, layout := range []string{"v4", "v6-alpha", "v6-files", "v6-skills"} {
		dir := folder(t)
		install(t, layout, dir)
		l := method.New(method.Options{Now: newClock().time})
		t.Cleanup(l.Close)
		known := map[string]bool{"analysis": true, "planning": true, "solutioning": true, "implementation": true, "anytime": true, "other": true}
		for _, kind := range []catalog.Kind{catalog.Agent, catalog.Workflow, catalog.Task} {
			page, err := l.At(dir).Items(kind, "", "", "")
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range append(append(page.Agents, page.Workflows...), page.Tasks...) {
				data, err := json.Marshal(i)
				if _, there := os.Stat(filepath.Join(dir, i.Path)); i.URI != "" && there != nil || !known[i.Category] || err != nil ||
					i.Phase != "" && i.Phase != i.Category || !strings.Contains(string(data), `"category":"`+i.Category+`"`) ||
					i.URI != "" && !strings.Contains(string(data), `"path":"`+i.Path+`"`) {
					t.Errorf("%s: %s", layout, data)
				}
			}
		}
		if page, err := l.At(dir).Items(catalog.Workflow, "other", "", ""); err != nil || page.Total == 0 && layout == "v4" {
			t.Errorf("%s: %d of the category other, %v", layout, page.Total, err)
		}
	}
}

// TestOffered: lists and details name the agents that offer a workflow or task, and a menu names what it offers by
// the names that the tools take.
func TestOffered(t *testing.T) {
	for layout, tt := range map[string]struct {
		kind             catalog.Kind
		item, agent, row string
	}{
		"v4":        {catalog.Task, "bmad-core/create-doc", "pm", ""},
		"v6-alpha":  {catalog.Workflow, "prd", "pm", "| *prd | Write the PRD | bmm/prd |"},
		"v6-files":  {catalog.Workflow, "create-prd", "analyst", "| CP | Write a PRD | bmm/create-prd |"},
		"v6-skills": {catalog.Workflow, "bmad-brainstorming", "bmad-agent-analyst", "core/bmad-brainstorming |"},
	} {
		dir := folder(t)
		install(t, layout, dir)
		l := method.New(method.Options{Now: newClock().time})
		t.Cleanup(l.Close)
		s := l.At(dir)
		page, err := s.Items(tt.kind, "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		details, err := s.Details(tt.kind, tt.item)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range append(append(page.Workflows, page.Tasks...), details.Item) {
			if strings.HasSuffix("/"+i.Full(), "/"+tt.item) && !slices.Contains(i.OfferedBy, tt.agent) {
				t.Errorf("%s: %s is offered by %q, want %s", layout, i.Name, i.OfferedBy, tt.agent)
			}
		}
		text, err := s.Agent(tt.agent, "", method.ToolNames{})
		if menu, _, _ := strings.Cut(text, "\n## Instructions"); err != nil || !strings.Contains(menu, tt.row) || strings.Contains(menu, "| "+dir) {
			t.Errorf("%s: the menu is without %q, %v:\n%s", layout, tt.row, err, menu)
		}
	}
}

// TestActions: every agent with a menu has actions, the same on each call.
func TestActions(t *testing.T) {
	for layout, want := range map[string]string{"v4": "pm", "v6-alpha": "analyst", "v6-files": "analyst", "v6-skills": "bmad-agent-analyst"} {
		dir := folder(t)
		install(t, layout, dir)
		l := method.New(method.Options{Now: newClock().time})
		t.Cleanup(l.Close)
		s := l.At(dir)
		for _, i := range s.Catalog.Items(catalog.Agent) {
			actions := s.Actions(i)
			if i.Name == want && len(actions) == 0 || strings.Join(actions, "") != strings.Join(s.Actions(i), "") || strings.Contains(strings.Join(actions, ""), "\n") {
				t.Errorf("%s, %s: %q", layout, i.Name, actions)
			}
		}
	}
}
