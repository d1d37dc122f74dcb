package catalog_test

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// meter is a file system that counts the bytes read of each file, and how often it is opened.
type meter struct {
	fstest.MapFS

	mu     sync.Mutex
	read   map[string]int64
	opened map[string]int
}

func (m *meter) Open(name string) (fs.File, error) {
	m.mu.Lock()
	m.opened[name]++
	m.mu.Unlock()
	f, err := m.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	return &metered{f, m, name}, nil
}

func (m *meter) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	m.opened[name]++
	m.mu.Unlock()
	return m.MapFS.ReadDir(name)
}

type metered struct {
	fs.File

	m    *meter
	name string
}

func (f *metered) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.read[f.name] += int64(n)
	return n, err
}

// files returns the names of the files that were read, and forgets them.
func (m *meter) files() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for name := range m.read {
		out = append(out, name)
	}
	m.read = map[string]int64{}
	slices.Sort(out)
	return out
}

func metering(files fstest.MapFS) (*meter, catalog.Source) {
	m := &meter{MapFS: files, read: map[string]int64{}, opened: map[string]int{}}
	return m, catalog.Source{Name: catalog.Project, Dir: shop, FS: m}
}

// head is how much of an item's file may be read to list it.
const head = 8<<10 + 1

// generate returns an installation of 6.0 with many agents and workflows, in ten modules: one row
// and one file each, and a step beside each workflow. size is that of each file, in bytes.
func generate(agents, workflows, size int) fstest.MapFS {
	out := map[string]string{
		"_bmad/core/config.yaml":       "user_name: Kim\ncommunication_language: English\noutput_folder: _bmad-output\n",
		"_bmad/core/tasks/index.md":    "# Index\n",
		"_bmad/_config/bmad-help.csv":  "module,phase,name,code,sequence,workflow-file,command,required\n",
		"_bmad/_config/manifest.yaml":  "installation:\n  version: 6.0.1\nmodules:\n",
		"_bmad/_config/ides/none.yaml": "ide: none\n",
	}
	filler := strings.Repeat("Write to {planning_artifacts}/x.md as {user_name} says, on {date}.\n", size/66+1)
	var agentRows, workflowRows strings.Builder
	agentRows.WriteString("name,displayName,title,icon,capabilities,role,identity,communicationStyle,principles,module,path\n")
	workflowRows.WriteString("name,description,module,path\n")
	for n := range 10 {
		out[fmt.Sprintf("_bmad/m%d/config.yaml", n)] = "planning_artifacts: \"{project-root}/_bmad-output/plans\"\n"
		out["_bmad/_config/manifest.yaml"] += fmt.Sprintf("  - name: m%d\n    version: 1.0.%d\n", n, n)
	}
	for n := range agents {
		name := fmt.Sprintf("_bmad/m%d/agents/agent-%04d.md", n%10, n)
		fmt.Fprintf(&agentRows, "agent-%04d,Person %d,Role %d,*,does %d,Role,Identity,Style,Principles,m%d,%s\n", n, n, n, n, n%10, name)
		out[name] = fmt.Sprintf("---\nname: agent-%04d\n---\n<agent id=\"x\" name=\"Person %d\" title=\"Role %d\"><persona><role>Role</role></persona><menu><item cmd=\"x\" exec=\"{project-root}/_bmad/core/tasks/index.md\">[IX] Index</item></menu></agent>\n%s", n, n, n, filler)
	}
	for n := range workflows {
		dir := fmt.Sprintf("_bmad/m%d/workflows/%d-%s/flow-%04d", n%10, n%4+1, [...]string{"analysis", "plan-workflows", "solutioning", "implementation"}[n%4], n)
		fmt.Fprintf(&workflowRows, "flow-%04d,Does the thing of number %d,m%d,%s/workflow.md\n", n, n, n%10, dir)
		out[dir+"/workflow.md"] = fmt.Sprintf("---\nname: flow-%04d\ndescription: Does the thing of number %d\nnextStep: ./steps/step-01.md\n---\n\n%s", n, n, filler)
		out[dir+"/steps/step-01.md"] = "# Step 1\n\nAsk {user_name}.\n"
	}
	out["_bmad/_config/agent-manifest.csv"], out["_bmad/_config/workflow-manifest.csv"] = agentRows.String(), workflowRows.String()
	return with(fstest.MapFS{}, out)
}

// TestOpenReads: to list the items, manifests are read, and of other files no more than
// their beginning; an item that a row describes is not opened at all.
func TestOpenReads(t *testing.T) {
	files := generate(10, 30, 64<<10)
	unlisted := "_bmad/m1/workflows/1-analysis/own/workflow.md"
	files = with(files, map[string]string{unlisted: "---\nname: own\ndescription: Own\n---\n" + strings.Repeat("x", 64<<10)})
	m, s := metering(files)
	c := catalog.Open(s)
	if got := len(c.Items()); got != 42 {
		t.Fatalf("%d items", got)
	}
	for name, read := range m.read {
		switch {
		case strings.HasPrefix(name, "_bmad/_config/") || path.Base(name) == "config.yaml":
		case name == unlisted && read <= head, name == "_bmad/core/tasks/index.md":
		default:
			t.Errorf("%d bytes of %s were read to list it", read, name)
		}
	}
	if m.read[unlisted] == 0 {
		t.Errorf("%s was not looked at: is anything counted?", unlisted)
	}
	m.files()
	if !strings.Contains(names(c, catalog.Workflow), "own") || len(c.Search("flow")) != 30 || len(c.Modules()) != 11 {
		t.Error("the catalog is not what was made")
	}
	if read := m.files(); len(read) > 0 {
		t.Errorf("to list, find and search %q was read once more", read)
	}

	m, s = metering(with(layout(t, "v6-skills", "v6-mixed", "v4"), map[string]string{".claude/skills/bmad-long/SKILL.md": "---\nname: bmad-long\n---\n" + strings.Repeat("x", 64<<10)}))
	catalog.Open(s)
	for name, read := range m.read {
		// An agent of version 4 is described by a block anywhere in its file.
		if base := path.Base(name); read > head && !strings.HasPrefix(name, ".bmad-") || slices.Contains([]string{"workflow.md", "references", "assets", "steps", "data"}, base) || strings.Contains(name, "/references/") || strings.Contains(name, "/assets/") || strings.Contains(name, "_bmad-output") {
			t.Errorf("%d bytes of %s were read", read, name)
		}
	}
}

// TestResolveReads: to resolve an item its own files are read, and the settings that go for it.
func TestResolveReads(t *testing.T) {
	m, s := metering(generate(10, 30, 1<<10))
	c := catalog.Open(s)
	m.files()
	settings := func(module string) []string {
		return []string{"_bmad/" + module + "/config.yaml", "_bmad/core/config.yaml"}
	}
	for _, tt := range []struct {
		kind catalog.Kind
		name string
		want []string
	}{
		{catalog.Agent, "agent-0003", append(settings("m3"), "_bmad/m3/agents/agent-0003.md")},
		{catalog.Workflow, "flow-0007", append(settings("m7"), "_bmad/m7/workflows/4-implementation/flow-0007/workflow.md")},
	} {
		i := find(t, c, tt.kind, tt.name)
		if _, err := resolve.Item(c, i, at); err != nil {
			t.Fatal(err)
		}
		slices.Sort(tt.want)
		if got := m.files(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q was read, want %q", tt.name, got, tt.want)
		}
	}
	if _, err := follow(c, "bmad://_bmad/m1/config.yaml"); err != nil || len(m.files()) != 1 {
		t.Errorf("to read one file, others were read: %v", err)
	}

	m, s = metering(layout(t, "v6-skills"))
	c = catalog.Open(s)
	m.files()
	if _, err := resolve.Item(c, find(t, c, catalog.Workflow, "bmad-build"), at); err != nil {
		t.Fatal(err)
	}
	for _, name := range m.files() {
		if !strings.HasPrefix(name, ".claude/skills/bmad-build/") && !strings.HasSuffix(name, "config.toml") && !strings.HasSuffix(name, "config.user.toml") && !strings.HasSuffix(name, "config.yaml") && !strings.HasPrefix(name, "_bmad/custom/bmad-build.") {
			t.Errorf("to resolve bmad-build %s was read", name)
		}
	}
}

// TestMarketplaceCost: a folder of many skills is looked through once, not once for each skill
// that a marketplace offers of it.
func TestMarketplaceCost(t *testing.T) {
	files := map[string]string{}
	var skills []string
	for n := range 300 {
		dir := fmt.Sprintf("plug/s/x%d-setup", n)
		files[dir+"/SKILL.md"] = "---\nname: x\n---\n"
		skills = append(skills, `"./`+dir+`"`)
	}
	files[".claude-plugin/marketplace.json"] = `{"plugins": [{"name": "kit", "skills": [` + strings.Join(skills, ",") + `]}]}`
	m, from := metering(with(fstest.MapFS{}, files))
	from.Name = "git-x"
	if c := catalog.Open(from); len(c.Items()) != 300 {
		t.Errorf("%d items", len(c.Items()))
	}
	if opened := m.opened["plug/s"]; opened > 5 {
		t.Errorf("the folder is opened %d times", opened)
	}
}
