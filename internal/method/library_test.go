package method_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// install puts a fixture of the catalog into a folder.
func install(t testing.TB, layout, dir string) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("catalog", "testdata", "layouts", layout+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if err := txtar.Write(a, dir); err != nil {
		t.Fatal(err)
	}
}

// clock is a clock that a test moves.
type clock struct{ now time.Time }

func (c *clock) time() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)} }

func folder(t testing.TB, below ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{t.TempDir()}, below...)...)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	return dir
}

func agents(s *method.Snapshot) string {
	var out []string
	for _, i := range s.Catalog.Items(catalog.Agent) {
		out = append(out, i.Source+":"+i.Full())
	}
	return strings.Join(out, " ")
}

func TestSources(t *testing.T) {
	home, project, elsewhere := folder(t), folder(t, "shop"), folder(t)
	install(t, "v6-files", project)
	install(t, "v6-skills", home) // its skills lie in .claude/skills of the home folder too
	install(t, "v4", elsewhere)
	c := newClock()
	l := method.New(method.Options{Home: home, Now: c.time})

	// The same agent of the project goes before the person's; others are added.
	got := agents(l.At(project))
	for _, want := range []string{"project:bmm/analyst", "project:bmm/architect", "user:bmad-tea", "user:bmad-agent-dev"} {
		if !strings.Contains(" "+got+" ", " "+want+" ") && !strings.Contains(got, strings.Replace(want, "user:", "user:bmm/", 1)) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, "user:bmm/bmad-agent-analyst") || strings.Contains(got, "user:bmad-agent-analyst") {
		t.Errorf("the person's analyst is beside the project's: %s", got)
	}
	// BMAD_ROOT goes in the project's place.
	rooted := method.New(method.Options{Root: filepath.Join(elsewhere, ".bmad-core"), Now: c.time})
	if got := agents(rooted.At(project)); !strings.Contains(got, "root:bmad-core/pm") || strings.Contains(got, "project:") || strings.Contains(got, "plot-architect") {
		t.Errorf("by BMAD_ROOT: %s", got)
	}
	// Without a project there are the person's agents.
	if got := agents(l.At("")); !strings.Contains(got, "user:") || strings.Contains(got, "project:") {
		t.Errorf("without a project: %s", got)
	}
}

func TestWideFoldersAreNotLookedThrough(t *testing.T) {
	home := folder(t)
	install(t, "v6-files", home) // _bmad in the home folder is no project's
	l := method.New(method.Options{Home: home, Now: newClock().time, Open: func(name string) (*durable.Dir, error) {
		t.Errorf("%s was opened as a project", name)
		return durable.OpenDir(name)
	}})
	for _, wide := range []string{home, home + "/.", "/"} {
		if s := l.At(wide); !s.Empty() {
			t.Errorf("%s: %s", wide, agents(s))
		}
	}
}

func TestFolderBelowAProject(t *testing.T) {
	home := folder(t)
	project := filepath.Join(home, "work", "shop")
	below := filepath.Join(project, "cmd", "deep")
	if err := os.MkdirAll(below, 0o750); err != nil {
		t.Fatal(err)
	}
	c := newClock()
	l := method.New(method.Options{Home: home, Now: c.time})
	if s := l.At(below); !s.Empty() || s.Project != below {
		t.Fatalf("before: %s, %s", s.Project, agents(s))
	}
	install(t, "v6-files", project)
	c.now = c.now.Add(2 * time.Second)
	s := l.At(below)
	if s.Project != project || !strings.Contains(agents(s), "project:bmm/analyst") {
		t.Fatalf("after: %s, %s", s.Project, agents(s))
	}
	text, err := s.Workflow("dev-story", "", method.ToolNames{})
	if err != nil || !strings.Contains(text, filepath.ToSlash(project)+"/_bmad-output") {
		t.Errorf("%v, %s", err, text)
	}
	// A folder that everybody may write to is not asked.
	open := folder(t, "open")
	install(t, "v6-files", open)
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	child := filepath.Join(open, "mine")
	if err := os.Mkdir(child, 0o750); err != nil {
		t.Fatal(err)
	}
	if s := l.At(child); !s.Empty() {
		t.Errorf("a folder that everybody may write to was asked: %s", agents(s))
	}
}

func TestChangesAreSeen(t *testing.T) {
	project := folder(t)
	c := newClock()
	l := method.New(method.Options{Now: c.time})
	if !l.At(project).Empty() {
		t.Fatal("it is not empty")
	}
	install(t, "v6-files", project)
	if !l.At(project).Empty() {
		t.Error("the disk was looked at again within a second")
	}
	c.now = c.now.Add(2 * time.Second)
	s := l.At(project)
	if s.Empty() {
		t.Fatal("the installation is not seen")
	}
	c.now = c.now.Add(2 * time.Second)
	if l.At(project) != s {
		t.Error("nothing has changed, and it was read again")
	}
	for _, text := range []string{"# Help\n\nOf before.\n", "# Help\n\nOf today.\n"} { // no list has it, so that it is read each time
		write(t, text, project, "_bmad", "core", "tasks", "help.md")
		if got, err := l.At(project).Task("help", "", method.ToolNames{}); err != nil || !strings.Contains(got, text[8:18]) {
			t.Errorf("the task reads %q, %v; want %q", got, err, text)
		}
	}
	if err := os.RemoveAll(filepath.Join(project, "_bmad", "cis")); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(2 * time.Second)
	if _, err := l.At(project).Find(catalog.Workflow, "cis/research"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a removed module is still there: %v", err)
	}
}

// encodedSize returns the size of a text in an answer, as encoding/json writes it.
func encodedSize(t *testing.T, text string) int {
	t.Helper()
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

// TestReplySizes reads a large installation to its end, page by page.
func TestReplySizes(t *testing.T) {
	project := folder(t)
	var manifest, body strings.Builder
	manifest.WriteString("name,displayName,title,icon,role,identity,communicationStyle,principles,module,path\n")
	for n := range 300 {
		fmt.Fprintf(&manifest, "agent-%03d,Person %d,Title,x,Role,%s,Plain,None,bmm,_bmad/bmm/agents/agent-%03d.md\n", n, n, strings.Repeat("word ", 200), n)
	}
	for n := range 3000 {
		fmt.Fprintf(&body, "<step n=\"%d\">Line %d of the instructions.\n", n, n)
	}
	files := map[string]string{
		"_bmad/_config/manifest.yaml":        "installation: {version: 6.0.1}\n",
		"_bmad/_config/agent-manifest.csv":   manifest.String(),
		"_bmad/bmm/workflows/w/workflow.md":  "---\nname: long\ndescription: d\n---\n" + body.String(),
		"_bmad/bmm/workflows/w/steps/s-1.md": "one\n",
	}
	for n := range 300 {
		files[fmt.Sprintf("_bmad/bmm/agents/agent-%03d.md", n)] = "<agent id=\"x\">" + strings.Repeat("é", 200) + "</agent>\n"
	}
	installed := 0
	for name, text := range files {
		installed += len(text)
		name = filepath.Join(project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := method.New(method.Options{Now: newClock().time}).At(project)
	small := func(what string, v any) {
		t.Helper()
		data, err := method.Encode(v)
		if err != nil || encodedSize(t, string(data)) > min(20_000, installed/5) {
			t.Errorf("%s: %d bytes of %d, %v", what, encodedSize(t, string(data)), installed, err)
		}
	}
	seen := map[string]bool{}
	for cursor, pages := "", 0; ; pages++ {
		page, err := s.Items(catalog.Agent, "", "", cursor)
		if err != nil || pages > 300 {
			t.Fatal(pages, err)
		}
		small("agents", page)
		for _, i := range page.Agents {
			seen[i.Name] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			if pages < 1 || len(seen) != 300 || page.Total != 300 {
				t.Errorf("%d agents on %d pages, total %d", len(seen), pages+1, page.Total)
			}
			break
		}
	}
	clear(seen)
	for cursor := ""; ; {
		page, err := s.Files("", cursor)
		if err != nil {
			t.Fatal(err)
		}
		small("files", page)
		for _, f := range page.Files {
			seen[f.URI] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != len(files) {
		t.Errorf("%d of %d files are listed", len(seen), len(files))
	}
	clear(seen)
	for uri := "bmad://manifests/agents"; uri != ""; {
		r, err := s.Read(uri, 0)
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Agents []catalog.Item
			Next   string
		}
		if err := json.Unmarshal(r.Data, &page); err != nil || len(r.Data) > method.MaxReply {
			t.Fatalf("%d bytes: %v", len(r.Data), err)
		}
		for _, i := range page.Agents {
			seen[i.Name] = true
		}
		uri = page.Next
	}
	if len(seen) != 300 {
		t.Errorf("the manifest has %d agents on its pages", len(seen))
	}
	// A long workflow is cut at the end of a line; the rest follows by its address, to the end.
	text, err := s.Workflow("long", strings.Repeat("words ", 100), method.ToolNames{Read: "read"})
	if err != nil || encodedSize(t, text) > 20_000 {
		t.Fatalf("%d bytes: %v", encodedSize(t, text), err)
	}
	wordy, err := s.Workflow("long", strings.Repeat("<a> & \"b\" ", 5000), method.ToolNames{Read: "read"})
	if err != nil || encodedSize(t, wordy) > 20_000 {
		t.Fatalf("with many words: %d bytes: %v", encodedSize(t, wordy), err)
	}
	_, rest, ok := strings.Cut(text, "go on reading with read, ")
	if !ok || !strings.Contains(text, "## What the person says") || !strings.Contains(text, "steps/s-1.md") {
		t.Fatalf("it does not say how it goes on:\n%s", text)
	}
	uri, _, _ := strings.Cut(rest, ", before")
	end := ""
	for uri != "" {
		r, err := s.Read(uri, method.MaxReply)
		if err != nil || len(r.Data) > method.MaxReply {
			t.Fatal(uri, len(r.Data), err)
		}
		end += string(r.Data)
		uri = r.Next
	}
	if !strings.HasSuffix(end, "Line 2999 of the instructions.\n") || !strings.HasPrefix(end, "<step ") {
		t.Errorf("the rest begins %.40q and ends %q", end, end[max(0, len(end)-40):])
	}
	_, err = s.Items(catalog.Agent, "", "", "bm9ib2R5")
	if !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("an unknown cursor: %v", err)
	}
}

func TestStagesOfEveryLayout(t *testing.T) {
	for _, c := range []struct {
		layout string
		stage  workflow.StageID
		want   []string // "" first: nobody
	}{
		{"v6-skills", workflow.PO, []string{""}},
		{"v6-skills", workflow.Dev, []string{"Amelia", "bmm/bmad-agent-dev"}},
		{"v6-skills", workflow.QA, []string{"Murat", "tea/bmad-tea"}},
		{"v6-files", workflow.Architect, []string{"Winston", "bmm/architect", "- Role: "}},
		{"v4", workflow.PO, []string{"John", "bmad-core/pm"}},
		{"source-v4", workflow.SM, []string{"bmad-core/sm"}},
	} {
		project := folder(t)
		install(t, c.layout, project)
		l := method.New(method.Options{Now: newClock().time})
		text, err := l.Persona(project, string(c.stage), stageAgents(c.stage))
		if c.want[0] == "" {
			if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), string(c.stage)) {
				t.Errorf("%s, %s: %q, %v", c.layout, c.stage, text, err)
			}
			continue
		}
		if err != nil || len(text) > 1800 || strings.Contains(text, "{agent.") {
			t.Errorf("%s, %s: %d bytes, %v", c.layout, c.stage, len(text), err)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s, %s: no %q in\n%s", c.layout, c.stage, want, text)
			}
		}
	}
	if _, err := method.New(method.Options{Now: newClock().time}).Persona(folder(t), "po", stageAgents(workflow.PO)); !fault.Is(err, fault.NotFound) {
		t.Errorf("without an installation: %v", err)
	}
}

// TestProjectsKept: a server keeps the lists of 16 projects, and reads those of others again.
func TestProjectsKept(t *testing.T) {
	l := method.New(method.Options{Now: newClock().time})
	var all []string
	for range 17 {
		all = append(all, folder(t))
	}
	first := l.At(all[0])
	if l.At(all[0]) != first {
		t.Error("a project that was just read is read again")
	}
	for _, project := range all[1:] {
		l.At(project)
	}
	if l.At(all[0]) == first {
		t.Error("the first of 17 projects is still kept")
	}
}

// TestBounds: no part of a document takes the room of the others, and none is without end.
func TestBounds(t *testing.T) {
	project := folder(t)
	lines := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	files := map[string]string{
		"_bmad/_config/manifest.yaml":             "installation: {version: 6.0.1}\n",
		"_bmad/bmm/workflows/two/workflow.yaml":   "name: two\ninstructions: \"{installed_path}/instructions.md\"\n" + lines("# line %04d of the description\n", 400),
		"_bmad/bmm/workflows/two/instructions.md": lines("Line %04d of the instructions\n", 3000),
		"_bmad/bmm/workflows/many/workflow.md":    "---\nname: many\ndescription: d\n---\n{user_name} begin\n" + lines("Line %04d\n", 3000),
		"_bmad/bmm/agents/menu.md":                "<agent id=\"x\" name=\"Menu\"><persona><role>r</role></persona><menu>" + lines("<item cmd=\"c%[1]d\" exec=\"x\">["+"C%[1]d] does the thing of that number</item>\n", 800) + "</menu></agent>\n",
	}
	files["_bmad/bmm/workflows/open/workflow.md"] = "---\nname: open\n---\n" + lines("{x%02d"+strings.Repeat("y", 9000)+"}\n", 20)
	for n := range 60 {
		files["_bmad/bmm/workflows/many/steps/"+strings.Repeat("é", 110)+fmt.Sprint(n)+".md"] = "x\n"
	}
	for name, text := range files {
		name = filepath.Join(project, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o750), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s := method.New(method.Options{Now: newClock().time}).At(project)
	for _, tt := range []struct {
		name string
		text func() (string, error)
		has  string
	}{
		{"two long parts", func() (string, error) { return s.Workflow("two", "", method.ToolNames{Read: "read"}) }, "instructions.md"},
		{"many files", func() (string, error) { return s.Workflow("many", "", method.ToolNames{Read: "read"}) }, " more, beside these."},
		{"long names of what is open", func() (string, error) { return s.Workflow("open", "", method.ToolNames{Read: "read"}) }, "These are not filled in: {x00"},
		{"a long menu", func() (string, error) { return s.Agent("menu", "", method.ToolNames{Read: "read"}) }, "this is cut short"},
	} {
		text, err := tt.text()
		if err != nil || encodedSize(t, text) > 20_000 || !strings.Contains(text, tt.has) {
			t.Errorf("%s: %d bytes: %v", tt.name, encodedSize(t, text), err)
		}
	}
	text, _ := s.Workflow("many", "", method.ToolNames{Read: "read"})
	_, rest, _ := strings.Cut(text, "go on reading with read, ")
	if uri, _, _ := strings.Cut(rest, ", before"); !strings.Contains(uri, "view=resolved") || !strings.Contains(uri, "offset=") {
		t.Errorf("goes on at %q", uri)
	}
	words := strings.Repeat("word ", 1000) + "end"
	if text, _ := s.Workflow("many", words, method.ToolNames{Read: "read", Whole: true}); !strings.Contains(text, words) {
		t.Error("the person's words are cut")
	}
	if text, _ := s.Workflow("many", words, method.ToolNames{Read: "read"}); strings.Contains(text, words) {
		t.Error("the person's words are not cut")
	}
}

// stageAgents returns the agents of a stage of the default workflow.
func stageAgents(id workflow.StageID) []string {
	st, _ := workflow.Default().Stage(id)
	return st.Personas
}
