package catalog_test

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// sight is a file on the disk that looks like an item: its kind, and the rule that says so.
type sight struct {
	kind catalog.Kind // "" for none
	rule string
}

// walked has the sights of a plain walk over the files of an installation, by path. It knows
// nothing of this package: it only has the rules by which the installers make items.
type walked map[string]sight

// walks see the items of real installations, by version.
var walks = []struct {
	versions *regexp.Regexp
	see      func(files map[string]string) walked
}{
	{regexp.MustCompile(`^4\.44\.`), seeClassic},
	{regexp.MustCompile(`^6\.0\.\d+$`), seeFiles},
	{regexp.MustCompile(`^6\.2\.`), func(files map[string]string) walked {
		// Agents are compiled files; the skills of the same names only send their reader there.
		out := seeSkills(files, installedSkill)
		for name, is := range seeFiles(files) {
			if is.kind == catalog.Agent {
				out[name] = is
			}
		}
		return out
	}},
	{regexp.MustCompile(`^6\.([3-9]|1[0-2])\.`), func(files map[string]string) walked { return seeSkills(files, installedSkill) }},
}

// TestRealInstalls reads installations that the method's own installers have made.
func TestRealInstalls(t *testing.T) {
	installs := os.Getenv("TEST_BMAD_REAL_INSTALLS")
	if installs == "" {
		t.Skip("TEST_BMAD_REAL_INSTALLS names no folder with real installations by version; testdata/real/install makes one")
	}
	entries, err := os.ReadDir(installs)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "sources" {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			s := openSource(t, catalog.Project, filepath.Join(installs, e.Name()))
			c := catalog.Open(s)
			at := slices.IndexFunc(walks, func(w struct {
				versions *regexp.Regexp
				see      func(files map[string]string) walked
			}) bool {
				return w.versions.MatchString(e.Name())
			})
			fail := t.Errorf
			if at < 0 {
				fail = t.Logf
				t.Logf("this version is not known here: what follows is only told\n%s\n%s\n%s", names(c, catalog.Agent), names(c, catalog.Workflow), names(c, catalog.Task))
			} else {
				compared++
				compare(t, c, walks[at].see(texts(t, s.FS)))
			}
			if left := problems(c); left != "" { // a clean installation has none
				fail("problems: %s", left)
			}
			checkReal(c, s.Dir, fail)
		})
	}
	if compared == 0 {
		t.Errorf("%s has no installation of a version that is known", installs)
	}
}

// texts reads all files of an installation.
func texts(t *testing.T, fsys fs.FS) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func seeClassic(files map[string]string) walked {
	out := walked{}
	for name := range files {
		parts := strings.Split(name, "/")
		if len(parts) != 3 || !strings.HasPrefix(parts[0], ".bmad-") {
			continue
		}
		for folder, kind := range map[string]catalog.Kind{"agents/.md": catalog.Agent, "workflows/.yaml": catalog.Workflow, "tasks/.md": catalog.Task} {
			if parts[1]+"/"+path.Ext(name) == folder {
				out[name] = sight{kind, "folder " + parts[1]}
			}
		}
	}
	return out
}

func seeFiles(files map[string]string) walked {
	out := walked{}
	workflow := regexp.MustCompile(`^_bmad/[^/]+/workflows/.*/workflow(\.yaml|\.md|-[^/]*\.md)$`)
	for name, text := range files {
		parts := strings.Split(name, "/")
		switch {
		case parts[0] != "_bmad" || len(parts) < 4:
		case parts[2] == "agents" && path.Ext(name) == ".md" && strings.Contains(text, "<agent "):
			out[name] = sight{catalog.Agent, "compiled agent"}
		case parts[2] == "agents" && path.Ext(name) == ".md":
			out[name] = sight{"", "note beside an agent"}
		case workflow.MatchString(name):
			out[name] = sight{catalog.Workflow, "entry file of a workflow"}
		case parts[2] == "tasks" && len(parts) == 4 && strings.Contains(text, `internal="true"`):
			out[name] = sight{"", "internal task"}
		case parts[2] == "tasks" && len(parts) == 4:
			out[name] = sight{catalog.Task, "folder tasks"}
		}
	}
	return out
}

var (
	installedSkill = regexp.MustCompile(`^\.claude/skills/[^/]+/SKILL\.md$`)
	sourceSkill    = regexp.MustCompile(`^src/(.*/)?SKILL\.md$`)
	ofPhase        = regexp.MustCompile(`^(1-analysis|2-plan(ning|-workflows)?|3-solutioning|4-implementation|analysis|planning|solutioning|implementation|plan|ship)$`)
)

// seeSkills sees the skills whose files have paths of a form. A skill is, in this order, an agent if
// its installer treats it as one; a workflow if the method has it in a phase; of the kind that its own files
// name.
func seeSkills(files map[string]string, at *regexp.Regexp) walked {
	phased, core := readHelp(files)
	table := func(name, table string) bool { return strings.Contains("\n"+files[name], "\n["+table+"]") }
	out := walked{}
	for name, text := range files {
		dir, _ := path.Split(name)
		id := path.Base(dir)
		if !at.MatchString(name) {
			continue
		}
		stepped := false
		for other := range files {
			rest, within := strings.CutPrefix(other, dir)
			stepped = stepped || within && (strings.HasPrefix(rest, "steps/") || strings.HasPrefix(rest, "step-") && !strings.Contains(rest, "/"))
		}
		_, thin := files[dir+"workflow.md"]
		switch {
		case strings.Contains(text, "<agent-activation"):
			out[name] = sight{"", "launcher of an agent's file"}
		case table(dir+"customize.toml", "agent"):
			out[name] = sight{catalog.Agent, "[agent] in customize.toml"}
		case strings.Contains("\n"+files[dir+"bmad-skill-manifest.yaml"], "\ntype: agent"):
			out[name] = sight{catalog.Agent, "type: agent in its manifest"}
		case phased[id]:
			out[name] = sight{catalog.Workflow, "a phase of the method has it"}
		case table(dir+"customize.toml", "workflow"):
			out[name] = sight{catalog.Workflow, "[workflow] in customize.toml"}
		case stepped:
			out[name] = sight{catalog.Workflow, "steps in files"}
		case slices.Contains([]string{"bmad-advanced-elicitation", "bmad-brainstorming", "bmad-party-mode"}, id):
			out[name] = sight{catalog.Workflow, "a session, which other versions call a workflow"}
		case thin && !core[id] && !strings.HasPrefix(name, "src/core-skills/"):
			out[name] = sight{catalog.Workflow, "workflow.md"}
		case thin:
			out[name] = sight{catalog.Task, "task of the core with a workflow.md"}
		default:
			out[name] = sight{catalog.Task, "nothing makes it more"}
		}
	}
	return out
}

// readHelp reads the help, the manifest of skills and the names of folders: which skills a phase of
// the method has, and which are the core's. Columns moved from version to version, so that any
// cell counts.
func readHelp(files map[string]string) (phased, core map[string]bool) {
	phased, core = map[string]bool{}, map[string]bool{}
	for name, text := range files {
		base := path.Base(name)
		if base == "SKILL.md" && slices.ContainsFunc(strings.Split(path.Dir(path.Dir(name)), "/"), ofPhase.MatchString) {
			phased[path.Base(path.Dir(name))] = true // 6.2 keeps a copy in the folder of its phase
		}
		if base != "bmad-help.csv" && base != "module-help.csv" && base != "skill-manifest.csv" {
			continue
		}
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord, r.LazyQuotes = -1, true
		rows, err := r.ReadAll()
		if err != nil {
			continue
		}
		for _, row := range rows {
			for _, cell := range row {
				id := strings.TrimPrefix(cell, "skill:")
				if base == "skill-manifest.csv" {
					core[id] = core[id] || slices.Contains(row, "core")
				} else if slices.ContainsFunc(row, ofPhase.MatchString) {
					phased[id] = true
				}
			}
		}
	}
	return phased, core
}

// TestRealKinds: a skill has the same kind in all versions of the method.
func TestRealKinds(t *testing.T) {
	installs := os.Getenv("TEST_BMAD_REAL_INSTALLS")
	if installs == "" {
		t.Skip("TEST_BMAD_REAL_INSTALLS names no folder with real installations by version; testdata/real/install makes one")
	}
	folders, err := filepath.Glob(filepath.Join(installs, "6.*"))
	if err != nil || len(folders) < 2 {
		t.Skipf("%s has fewer than two versions to compare: %v", installs, err)
	}
	kind, version := map[string]catalog.Kind{}, map[string]string{}
	for _, folder := range folders {
		for _, i := range catalog.Open(openSource(t, catalog.Project, folder)).Items() {
			name := i.Short()
			if was, known := kind[name]; known && was != i.Kind {
				t.Errorf("%s is a %s in %s, and a %s in %s", name, was, version[name], i.Kind, filepath.Base(folder))
			}
			kind[name], version[name] = i.Kind, filepath.Base(folder)
		}
	}
	t.Logf("%d items in %d versions", len(kind), len(folders))
}

// TestRealSources reads the repositories of the method and of modules, as their packages hold
// them: in these, every skill of src is an item.
func TestRealSources(t *testing.T) {
	installs := os.Getenv("TEST_BMAD_REAL_INSTALLS")
	if installs == "" {
		t.Skip("TEST_BMAD_REAL_INSTALLS names no folder with real sources; testdata/real/install makes one")
	}
	entries, err := os.ReadDir(filepath.Join(installs, "sources"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s was made without sources", installs)
	}
	if err != nil || len(entries) == 0 {
		t.Fatalf("%s has no sources: %v", installs, err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			s := openSource(t, "git-x", filepath.Join(installs, "sources", e.Name()))
			c := catalog.Open(s)
			compare(t, c, seeSkills(texts(t, s.FS), sourceSkill))
			for _, i := range c.Items() {
				if i.Module == "" {
					t.Errorf("%s is of no module", i.Path)
				}
			}
			if left := problems(c); left != "" {
				t.Errorf("problems: %s", left)
			}
			checkReal(c, shop, t.Errorf)
		})
	}
}

// compare compares the items of a catalog with the sights of a walk: nothing may be missing or
// invented, and each kind has to follow from the rule that the walk names.
func compare(t *testing.T, c *catalog.Catalog, seen walked) {
	t.Helper()
	got := map[string]catalog.Kind{}
	for _, i := range c.Items() {
		name := i.Path
		if _, there := seen[name]; !there && strings.HasSuffix(name, "/SKILL.md") { // the same skill may lie in two places
			name = ".claude/skills/" + path.Base(i.Dir) + "/SKILL.md"
		}
		got[name] = i.Kind
	}
	rules := map[string]int{}
	for name, want := range seen {
		kind, listed := got[name]
		switch {
		case !listed && want.kind != "":
			t.Errorf("missing: %s, a %s: %s", name, want.kind, want.rule)
		case listed && want.kind == "":
			t.Errorf("invented: %s, a %s that is none: %s", name, kind, want.rule)
		case listed && kind != want.kind:
			t.Errorf("%s is a %s, want a %s: %s", name, kind, want.kind, want.rule)
		}
		rules[string(cmp.Or(want.kind, "left out"))+": "+want.rule]++
	}
	for name, kind := range got {
		if _, there := seen[name]; !there {
			t.Errorf("invented: %s, a %s that no rule sees", name, kind)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		t.Logf("%3d %s", rules[rule], rule)
	}
}

// checkReal checks the facts that hold for each item of a sound installation.
func checkReal(c *catalog.Catalog, dir string, fail func(format string, args ...any)) {
	ctx := resolve.Target{Project: dir, Now: at.Now}
	for _, i := range c.Items() {
		for _, name := range []string{i.Name, i.Full()} {
			found, err := c.Find(i.Kind, name)
			if fault.Is(err, fault.Conflict) && name != i.Full() && strings.Contains(fault.From(err).Hint, i.Full()) {
				continue // packs bring tasks of the same name
			}
			if err != nil || found.Full() != i.Full() {
				fail("%s %s: %s, %v", i.Kind, name, found.Full(), err)
			}
		}
		r, err := resolve.Item(c, i, ctx)
		if err != nil {
			fail("%s: %v", i.Full(), err)
			continue
		}
		if i.Kind == catalog.Agent && (r.Persona == nil || r.Persona.Name == "" || r.Persona.Title == "") {
			fail("%s has the persona %+v", i.Full(), r.Persona)
		}
		if i.Description == "" && i.Kind != catalog.Task && i.Full() != "bmad-infrastructure-devops/infra-devops-platform" { // it leaves it out
			fail("%s has no description", i.Full())
		}
		parts := slices.Clone(r.Parts)
		for _, m := range r.More {
			file, err := follow(c, m.URI)
			if err != nil {
				fail("%s refers to %s: %v", i.Full(), m.URI, err)
			}
			if strings.HasSuffix(m.URI, "?view=resolved") {
				parts = append(parts, resolve.Part{URI: m.URI, Text: string(file.Data)})
			}
		}
		for _, p := range parts {
			if _, err := follow(c, p.URI); err != nil {
				fail("%s has a text of %s: %v", i.Full(), p.URI, err)
			}
			for _, left := range []string{"{agent.", "{{.", "{{config.", "[[bmad-snapshot:"} {
				at := strings.Index(p.Text, left)
				// The language is the person's: without an installation nobody has said it.
				if at >= 0 && (i.Source == catalog.Project || !strings.HasPrefix(p.Text[at:], "{{.communication_language}}")) {
					fail("%s still has %q in %s", i.Full(), p.Text[at:min(at+40, len(p.Text))], p.URI)
				}
			}
		}
	}
	listed, err := c.Files("")
	if err != nil || len(listed) == 0 {
		fail("%d files are listed, %v", len(listed), err)
	}
}
