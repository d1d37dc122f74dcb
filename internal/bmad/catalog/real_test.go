package catalog_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/resolve"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// counted is what a plain walk over the files of an installation has found, by names of files.
type counted map[catalog.Kind][]string

// walks count the items of real installations, by version, and know nothing of this package:
// they only say by what files the installer of that version makes an item.
var walks = []struct {
	versions *regexp.Regexp
	count    func(t *testing.T, files map[string]string) counted
}{
	{regexp.MustCompile(`^4\.44\.`), countClassic},
	{regexp.MustCompile(`^6\.0\.\d+$`), countFiles},
	{regexp.MustCompile(`^6\.2\.`), func(t *testing.T, files map[string]string) counted {
		// Agents are compiled files; the skills of the same names only send their reader there.
		out := countSkills(t, files)
		out[catalog.Agent] = append(out[catalog.Agent], countFiles(t, files)[catalog.Agent]...)
		return out
	}},
	{regexp.MustCompile(`^6\.([3-9]|1[0-2])\.`), countSkills},
}

// TestRealInstalls reads installations that the method's own installers have made.
func TestRealInstalls(t *testing.T) {
	installs := os.Getenv("BMAD_REAL_INSTALLS")
	if installs == "" {
		t.Skip("BMAD_REAL_INSTALLS names no folder with real installations by version; testdata/real/install makes one")
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
			s := opened(t, catalog.Project, filepath.Join(installs, e.Name()))
			c := catalog.Open(s)
			at := slices.IndexFunc(walks, func(w struct {
				versions *regexp.Regexp
				count    func(t *testing.T, files map[string]string) counted
			}) bool {
				return w.versions.MatchString(e.Name())
			})
			fail := t.Errorf
			if at < 0 {
				fail = t.Logf
				t.Logf("this version is not known here: what follows is only told\n%s\n%s\n%s", names(c, catalog.Agent), names(c, catalog.Workflow), names(c, catalog.Task))
			} else {
				compared++
				compare(t, c, walks[at].count(t, texts(t, s.FS)))
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

func countClassic(_ *testing.T, files map[string]string) counted {
	out := counted{}
	for name := range files {
		parts := strings.Split(name, "/")
		if len(parts) != 3 || !strings.HasPrefix(parts[0], ".bmad-") {
			continue
		}
		for folder, kind := range map[string]catalog.Kind{"agents/.md": catalog.Agent, "workflows/.yaml": catalog.Workflow, "tasks/.md": catalog.Task} {
			if parts[1]+"/"+path.Ext(name) == folder {
				out[kind] = append(out[kind], name)
			}
		}
	}
	return out
}

func countFiles(_ *testing.T, files map[string]string) counted {
	out := counted{}
	workflow := regexp.MustCompile(`^_bmad/[^/]+/workflows/.*/workflow(\.yaml|\.md|-[^/]*\.md)$`)
	for name, text := range files {
		parts := strings.Split(name, "/")
		switch {
		case parts[0] != "_bmad" || len(parts) < 4:
		case parts[2] == "agents" && path.Ext(name) == ".md" && strings.Contains(text, "<agent "):
			out[catalog.Agent] = append(out[catalog.Agent], name)
		case workflow.MatchString(name):
			out[catalog.Workflow] = append(out[catalog.Workflow], name)
		case parts[2] == "tasks" && len(parts) == 4 && !strings.Contains(text, `internal="true"`):
			out[catalog.Task] = append(out[catalog.Task], name)
		}
	}
	return out
}

func countSkills(_ *testing.T, files map[string]string) counted {
	return countSkillsAt(files, regexp.MustCompile(`^\.claude/skills/[^/]+/SKILL\.md$`))
}

// countSkillsAt counts the skills whose files have paths of a form.
func countSkillsAt(files map[string]string, at *regexp.Regexp) counted {
	out := counted{}
	table := func(name, table string) bool { return strings.Contains("\n"+files[name], "\n["+table+"]") }
	for name, text := range files {
		dir, _ := path.Split(name)
		if !at.MatchString(name) || strings.Contains(text, "<agent-activation") {
			continue
		}
		stepped := false
		for other := range files {
			rest, within := strings.CutPrefix(other, dir)
			stepped = stepped || within && (strings.HasPrefix(rest, "steps/") || rest == "workflow.md" || strings.HasPrefix(rest, "step-") && !strings.Contains(rest, "/"))
		}
		kind := catalog.Task
		switch {
		case table(dir+"customize.toml", "agent") || strings.Contains("\n"+files[dir+"bmad-skill-manifest.yaml"], "\ntype: agent"):
			kind = catalog.Agent
		case table(dir+"customize.toml", "workflow") || stepped:
			kind = catalog.Workflow
		}
		out[kind] = append(out[kind], name)
	}
	return out
}

// TestRealSources reads the repositories of the method and of modules, as their packages hold
// them: in these, every skill of src is an item.
func TestRealSources(t *testing.T) {
	installs := os.Getenv("BMAD_REAL_INSTALLS")
	if installs == "" {
		t.Skip("BMAD_REAL_INSTALLS names no folder with real sources; testdata/real/install makes one")
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
			s := opened(t, "git-x", filepath.Join(installs, "sources", e.Name()))
			c := catalog.Open(s)
			want := countSkillsAt(texts(t, s.FS), regexp.MustCompile(`^src/(.*/)?SKILL\.md$`))
			for _, kind := range kinds {
				var got []string
				for _, i := range c.Items(kind) {
					got = append(got, i.Path)
				}
				slices.Sort(got)
				slices.Sort(want[kind])
				if !slices.Equal(got, want[kind]) {
					t.Errorf("%d %ss, by the walk %d\n got %s\nwant %s", len(got), kind, len(want[kind]), strings.Join(got, "\n     "), strings.Join(want[kind], "\n     "))
				}
				t.Logf("%d %ss", len(got), kind)
			}
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

// compare compares the files of a catalog's items with those of a walk.
func compare(t *testing.T, c *catalog.Catalog, want counted) {
	t.Helper()
	for _, kind := range kinds {
		var got []string
		for _, i := range c.Items(kind) {
			name := i.Path
			if strings.HasSuffix(name, "/SKILL.md") { // the same skill may lie in two places
				name = ".claude/skills/" + path.Base(i.Dir) + "/SKILL.md"
			}
			got = append(got, name)
		}
		slices.Sort(got)
		slices.Sort(want[kind])
		if !slices.Equal(got, want[kind]) {
			t.Errorf("%d %ss, by the walk %d\n got %s\nwant %s", len(got), kind, len(want[kind]), strings.Join(got, "\n     "), strings.Join(want[kind], "\n     "))
		}
		t.Logf("%d %ss", len(got), kind)
	}
}

// checkReal checks what has to be true of each item of an installation that is sound.
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
