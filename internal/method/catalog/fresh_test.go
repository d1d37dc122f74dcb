package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// TestFresh: the catalog notices that the disk has changed, and a new one
// has the change. Files that nobody lists may change.
func TestFresh(t *testing.T) {
	skill := "---\nname: bmad-new\ndescription: New\n---\n"
	tests := []struct {
		name    string
		layouts []string
		change  func(dir string) error
		fresh   bool
		sees    string // a part of the list after the change
	}{
		{"nothing", []string{"v6-files"}, func(string) error { return nil }, true, ""},
		{"a new agent", []string{"v6-files"}, writes("_bmad/bmm/agents/new.md", "<agent id=\"x\" name=\"Newt\" title=\"New\">"), false, "bmm/new"},
		{"a new agent of version 4", []string{"v4"}, writes(".bmad-core/agents/new.md", "# New\n"), false, "bmad-core/new"},
		{"an agent in a folder of its own", []string{"v6-files"}, writes("_bmad/bmm/agents/new/new.md", "<agent id=\"x\" name=\"Newt\">"), false, "bmm/new"},
		{"front matter", []string{"v6-skills"}, writes(".claude/skills/bmad-help/SKILL.md", "---\nname: bmad-help\ndescription: Helps otherwise\n---\n"), false, "Helps otherwise"},
		{"the description of a workflow", []string{"v6-mixed"}, writes("_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow-validate-prd.md", "---\nname: validate-prd\ndescription: Checks it\n---\n"), false, "Checks it"},
		{"a row of a manifest", []string{"v6-files"}, writes("_bmad/_config/task-manifest.csv", "name,displayName,description,module,path\nhelp,Help,Another text,core,_bmad/core/tasks/help.md\n"), false, "Another text"},
		{"a manifest that has gone", []string{"v6-files"}, func(dir string) error { return os.Remove(filepath.Join(dir, "_bmad/_config/bmad-help.csv")) }, false, ""},
		{"a skill that has gone", []string{"v6-skills"}, func(dir string) error { return os.RemoveAll(filepath.Join(dir, ".claude/skills/bmad-help")) }, false, `"bmad-help" of module "core" is listed and is in no folder`},
		{"a new skill", []string{"v6-skills"}, writes(".claude/skills/bmad-new/SKILL.md", skill), false, "bmad-new"},
		{"a skill for an assistant that had none", []string{"v6-skills"}, writes(".gemini/skills/bmad-new/SKILL.md", skill), false, "bmad-new"},
		{"the first skills of a project", []string{"v4"}, writes("skills/bmad-new/SKILL.md", skill), false, "bmad-new"},
		{"what a skill is", []string{"v6-skills"}, writes(".claude/skills/bmad-help/customize.toml", "[agent]\nname = \"Helga\"\n"), false, "Helga"},
		{"a step that makes it a workflow", []string{"v6-skills"}, writes(".claude/skills/bmad-help/step-01.md", "# Help\n"), false, "workflow core/bmad-help"},
		{"another installation", []string{"v6-files"}, writes(".bmad-core/core-config.yaml", "a: b\n", ".bmad-core/agents/sm.md", "# SM\n"), false, "bmad-core/sm"},
		{"an installation of any name", []string{"v4"}, writes("_grimoire/_config/manifest.yaml", "modules: []\n", "_grimoire/core/tasks/x.md", "# X\n"), false, "core/x"},
		{"the only installation has gone", []string{"v6-files"}, func(dir string) error { return os.RemoveAll(filepath.Join(dir, "_bmad")) }, false, ""},
		{"an agent of the team's layer", []string{"v6-files"}, writes("_bmad/custom/config.toml", "[agents.mine]\nname = \"Mine\"\n"), false, "mine"},
		{"the layer says another name", []string{"v6-skills"}, writes("_bmad/custom/config.toml", "[agents.my-own]\nname = \"Another\"\n"), false, "Another"},
		{"a new module", []string{"v6-files"}, writes("_bmad/new/tasks/x.md", "# X\n"), false, "new/x"},
		{"a new phase", []string{"v6-files"}, writes("_bmad/bmm/workflows/5-later/x/workflow.md", "---\nname: later\n---\n"), false, "bmm/later"},
		{"the folder of the installation has another name", []string{"v6-files"}, func(dir string) error { return os.Rename(filepath.Join(dir, "_bmad"), filepath.Join(dir, "_other")) }, false, "bmad://_other/"},
		{"the version of a module in its repository", []string{"source-module"}, writes("src/module.yaml", "code: bakery\nmodule_version: 9.9.9\n"), false, "9.9.9"},
		{"what a module's help says", []string{"source-module"}, writes("src/module-help.csv", "module,phase,name,code,sequence,workflow-file,command\nbakery,anytime,Knead Anew,KA,,skill:bakery-knead,bmad-bakery-knead\n"), false, "Knead Anew"},
		{"the first module of a project", []string{"v4"}, writes("src/module.yaml", "code: mine\n", "src/tasks/x.md", "# X\n"), false, "mine/x"},
		{"a template in a skill", []string{"v6-skills"}, writes(".claude/skills/bmad-prd/assets/prd-template.md", "# Another\n"), true, ""},
		{"a file of the project", []string{"v6-skills"}, writes("lib/main.go", "package main\n", "docs/x.md", "x"), true, ""},
		{"the project's documents", []string{"v6-skills"}, writes("_bmad-output/x/y.md", "x"), true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := onDisk(t, with(layout(t, tt.layouts...), map[string]string{"lib/x.go": "package x\n", "docs/y.md": "y", "_bmad-output/x/x.md": "x"}))
			c := catalog.Open(s)
			if !c.Fresh() {
				t.Fatal("it is not fresh at once")
			}
			before := listAll(t, c)
			if err := tt.change(s.Dir); err != nil {
				t.Fatal(err)
			}
			if got := c.Fresh(); got != tt.fresh {
				t.Errorf("fresh: %v, want %v", got, tt.fresh)
			}
			if again := listAll(t, c); again != before {
				t.Error("the catalog itself has changed")
			}
			after := catalog.Open(s)
			if text := listAll(t, after); (text == before) != tt.fresh || !strings.Contains(text, tt.sees) || tt.sees != "" && strings.Contains(before, tt.sees) {
				t.Errorf("after it is told\n%s\nwant %q in it", text, tt.sees)
			}
			if !after.Fresh() {
				t.Error("what was opened anew is not fresh")
			}
		})
	}
}

// writes returns a function that writes files, each a name and its text.
func writes(files ...string) func(string) error {
	return func(dir string) error {
		for n := 0; n < len(files); n += 2 {
			name := filepath.Join(dir, filepath.FromSlash(files[n]))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(name, []byte(files[n+1]), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}

// listAll returns all that a catalog lists.
func listAll(t *testing.T, c *catalog.Catalog) string {
	t.Helper()
	var b strings.Builder
	for _, i := range c.Items() {
		b.WriteString(string(i.Kind) + " " + i.Full() + "\n" + asJSON(t, i))
	}
	b.WriteString(asJSON(t, c.Modules()) + problems(c))
	return b.String()
}

// TestFolders: the folders that are watched are those whose changes matter.
func TestFolders(t *testing.T) {
	s := onDisk(t, with(layout(t, "v6-skills"), around))
	got := catalog.Open(s).Folders()
	has := func(name string) bool {
		for _, dir := range got {
			if dir == filepath.Join(s.Dir, filepath.FromSlash(name)) {
				return true
			}
		}
		return false
	}
	for _, name := range []string{".", "_bmad", "_bmad/_config", "_bmad/custom", ".claude/skills", ".claude/skills/bmad-prd", ".agents/skills"} {
		if !has(name) {
			t.Errorf("%s is not watched: %q", name, got)
		}
	}
	for _, name := range []string{"docs", "_bmad-output", ".git", "_bmad/config.toml", "_bmad/scripts", ".gemini", ".gemini/skills"} {
		if has(name) {
			t.Errorf("%s is watched", name)
		}
	}
	if got := catalog.Open(catalog.Source{Name: "x", FS: layout(t, "v4")}).Folders(); len(got) != 0 {
		t.Errorf("of no folder of the system: %q", got)
	}
}

// TestConcurrent: one catalog serves many callers at once.
func TestConcurrent(t *testing.T) {
	c := catalog.Open(onDisk(t, layout(t, "v6-skills", "v6-alpha", "v4")))
	items := c.Items()
	alone := map[string]string{}
	for _, i := range items {
		r, err := resolve.Item(c, i, at)
		if err != nil {
			t.Fatal(err)
		}
		alone[string(i.Kind)+i.Full()] = describe(t, r)
	}
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for n := range items {
				i := items[(n*7+worker)%len(items)]
				if r, err := resolve.Item(c, i, at); err != nil || describe(t, r) != alone[string(i.Kind)+i.Full()] {
					t.Errorf("%s is another one among others: %v", i.Full(), err)
				}
				if _, err := c.Find(i.Kind, i.Full()); err != nil {
					t.Error(err)
				}
				c.Search("prd")
				if i.URI != "" {
					if _, err := follow(c, i.URI+"?view=resolved"); err != nil {
						t.Error(err)
					}
				}
				switch n % 4 {
				case 0:
					if _, err := c.Files("**/*.md"); err != nil {
						t.Error(err)
					}
				case 1:
					c.Knowledge("")
				case 2:
					if _, err := resolve.Config(c); err != nil {
						t.Error(err)
					}
				default:
					if !c.Fresh() {
						t.Error("not fresh")
					}
					c.Modules()
				}
			}
		})
	}
	wait.Wait()
}
