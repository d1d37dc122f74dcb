package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// TestManifests: the things that people and installers do to manifests, and the rows that are still read.
func TestManifests(t *testing.T) {
	const tasks = "_bmad/_config/task-manifest.csv"
	const header, row = "name,displayName,description,module,path,standalone\n", "index-docs,Index,Of the row,core,_bmad/core/tasks/index-docs.xml,true\n"
	item := func(name, title, description string) string { return name + " | " + title + " | " + description }
	tests := []struct{ name, text, want string }{
		{"as it is written", header + row, item("index-docs", "Index", "Of the row")},
		{"with a mark at its beginning and the ends of lines of Windows", "\ufeff" + strings.ReplaceAll(header+row, "\n", "\r\n"), item("index-docs", "Index", "Of the row")},
		{"its columns in another order, with one that nobody knows", "path,mood,description,displayName,module,name\n_bmad/core/tasks/index-docs.xml,good,Of the row,Index,core,index-docs\n", item("index-docs", "Index", "Of the row")},
		{"without a column", "name,module,path\nindex-docs,core,_bmad/core/tasks/index-docs.xml\n", item("index-docs", "", "")},
		{"spaces around the fields", "name , displayName,description, module , path\n index-docs , Index , Of the row , core , _bmad/core/tasks/index-docs.xml \n", item("index-docs", "Index", "Of the row")},
		{"as in XML", header + "index-docs,Docs &amp; More,It&apos;s &quot;all&quot; &lt;here&gt;,core,_bmad/core/tasks/index-docs.xml\n", item("index-docs", "Docs & More", `It's "all" <here>`)},
		{"a field of several lines", header + "index-docs,\"Index\",\"Of\n  the\n\nrow\",core,_bmad/core/tasks/index-docs.xml\n", item("index-docs", "Index", "Of the row")},
		{"quotes in a field", header + "index-docs,Index,\"Says \"\"all\"\", and more\",core,_bmad/core/tasks/index-docs.xml\n", item("index-docs", "Index", `Says "all", and more`)},
		{"the same row twice: the first holds", header + row + strings.Replace(row, "Of the row", "Of another", 1), item("index-docs", "Index", "Of the row")},
		{"more fields than the header has", header + strings.TrimSpace(row) + ",x,y\n", item("index-docs", "Index", "Of the row")},
		{"empty lines and rows", header + "\n,,,,,\n" + row + "\n", item("index-docs", "Index", "Of the row")},
		{"a path from the installation", header + strings.Replace(row, "_bmad/", "", 1), item("index-docs", "Index", "Of the row")},
		{"a path of an earlier name of the folder", header + strings.Replace(row, "_bmad/", ".bmad/", 1), item("index-docs", "Index", "Of the row")},
		{"a path from the project", header + strings.Replace(row, "_bmad/", "{project-root}/_bmad/", 1), item("index-docs", "Index", "Of the row")},
		{"the folder as a placeholder, and a name that is not the file's", header + "list-docs,Index,Of the row,core,{bmad_folder}/core/tasks/index-docs.xml\n", item("list-docs", "Index", "Of the row")},
		{"no rows", header, item("index-docs", "Index Docs", "Writes an index.md of a folder")},
		{"nothing", "", item("index-docs", "Index Docs", "Writes an index.md of a folder")},
		{"a row of a file that has gone", header + "gone,Gone,Gone,core,_bmad/core/tasks/gone.xml\n", item("index-docs", "Index Docs", "Writes an index.md of a folder")},
		{"a row that is moved", header + strings.Replace(row, "core/tasks/", "core/other/", 1), item("index-docs", "Index Docs", "Writes an index.md of a folder")},
	}
	for _, tt := range tests {
		files := with(layout(t, "v6-files"), map[string]string{tasks: tt.text})
		delete(files, "_bmad/_config/bmad-help.csv") // it says titles too
		c := catalog.Open(source(files))
		var got []string
		for _, i := range c.Items(catalog.Task) {
			if strings.HasSuffix(i.Path, "index-docs.xml") {
				got = append(got, item(i.Name, i.Title, i.Description))
			}
		}
		if tt.name == "a row of a file that has gone" != strings.Contains(problems(c), "is not there") {
			t.Errorf("%s: problems %s", tt.name, problems(c))
		}
		if !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

// TestMarks: a byte order mark and the ends of lines of Windows hide nothing, in any file.
func TestMarks(t *testing.T) {
	for _, name := range layouts {
		files := fstest.MapFS{}
		for file, f := range layout(t, name) {
			files[file] = &fstest.MapFile{Data: []byte("\ufeff" + strings.ReplaceAll(string(f.Data), "\n", "\r\n"))}
		}
		if name == "broken" { // an empty file would no longer be one
			delete(files, ".claude/skills/bmad-empty/SKILL.md")
		}
		marked, plain := catalog.Open(source(files)), project(t, name)
		for n, i := range plain.Items() {
			if other := marked.Items(); n >= len(other) || asJSON(t, other[n]) != asJSON(t, i) {
				t.Errorf("%s: %s is another one", name, i.Full())
				break
			}
		}
	}
}

// TestSkipped: an installation in a package or document is none of this project.
func TestSkipped(t *testing.T) {
	files := map[string]string{}
	for _, dir := range []string{"node_modules", "vendor", "_bmad-output", ".git", "tools"} {
		files[dir+"/_config/manifest.yaml"] = "modules: []\n"
		files[dir+"/core/tasks/of-"+strings.Trim(dir, "._")+".md"] = "# X\n"
	}
	if got := names(catalog.Open(source(with(fstest.MapFS{}, files))), catalog.Task); got != "core/of-tools" {
		t.Errorf("tasks %s", got)
	}
}

// TestManyRows: rows without end cost no more than those that are read of them.
func TestManyRows(t *testing.T) {
	var help, agents strings.Builder
	help.WriteString("module,skill,display-name,menu-code,description,action,args,phase\n")
	agents.WriteString("name,path\n")
	for n := range 30_000 {
		fmt.Fprintf(&help, "bmm,bmad-x,N%d,C%d,d,,,anytime\n", n, n)
		fmt.Fprintf(&agents, "a%d,_bmad/bmm/agents/a%d.md\n", n, n)
	}
	c := catalog.Open(source(with(fstest.MapFS{}, map[string]string{
		"_bmad/_config/manifest.yaml": "modules: []\n", "_bmad/_config/bmad-help.csv": help.String(), "_bmad/_config/agent-manifest.csv": agents.String(),
		".claude/skills/bmad-x/SKILL.md": "---\nname: bmad-x\n---\n",
	})))
	if i := find(t, c, catalog.Task, "bmad-x"); len(i.Codes) != 100 {
		t.Errorf("it has %d codes", len(i.Codes))
	}
	told := problems(c)
	for _, file := range []string{"bmad-help.csv", "agent-manifest.csv"} {
		if want := "_bmad/_config/" + file + ": it has 30000 rows; those after 20000 were left out"; !strings.Contains(told, want) {
			t.Errorf("the problems lack %q", want)
		}
	}
}
