package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// loadBoth reads the settings of a project with a file of its own and one of the person's.
func loadBoth(t *testing.T, own, person string, environ ...string) (config.Config, error) {
	t.Helper()
	project, folder := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{filepath.Join(project, config.ProjectFile): own, filepath.Join(folder, config.UserFile): person} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := durable.OpenDir(project)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return config.Source{UserFolder: folder, Environ: environ}.Load(dir)
}

// TestProjects: which folders may be used is the person's to say, in their file or by a variable.
func TestProjects(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	list := func(folders ...string) string { return strings.Join(folders, string(os.PathListSeparator)) }
	a, b := filepath.Join(home, "a"), filepath.Join(home, "b c")
	for name, tt := range map[string]struct {
		own, person string
		environ     []string
		want        []string
		ignored     bool
		err         string
	}{
		"none":              {},
		"one":               {person: "projects: " + a, want: []string{a}},
		"a list":            {person: "projects: [" + a + ", " + b + "]", want: []string{a, b}},
		"below the home":    {person: "projects: [~/a]", want: []string{a}},
		"twice":             {person: "projects: [~/a, " + a + "/]", want: []string{a}},
		"by a variable":     {environ: []string{"BMAD_PROJECTS=" + list(a, b)}, want: []string{a, b}},
		"by both":           {person: "projects: [~/a]", environ: []string{"BMAD_PROJECTS=" + list(b, a)}, want: []string{a, b}},
		"a placeholder":     {environ: []string{"BMAD_PROJECTS=${user_config.folders}"}},
		"empty parts":       {environ: []string{"BMAD_PROJECTS=" + list("", a, "")}, want: []string{a}},
		"by the project":    {own: "projects: [" + a + "]", ignored: true},
		"by the project, ~": {own: "projects: ~/a", person: "projects: [" + b + "]", want: []string{b}, ignored: true},
		"relative":          {person: "projects: [src]", err: `line 1: projects "src" is not an absolute path`},
		"a bare ~":          {person: "projects: ['~']", err: `projects "~" is not an absolute path`},
		"another's home":    {person: "projects: ['~root/x']", err: `projects "~root/x" is not an absolute path`},
	} {
		c, err := loadBoth(t, tt.own, tt.person, tt.environ...)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || !slices.Equal(c.Projects, tt.want) || (len(c.Ignored) > 0) != tt.ignored:
			t.Errorf("%s: %v, %v, %v", name, c.Projects, c.Ignored, err)
		}
	}
}

// TestLinkToNoFile checks that settings which a link promises, and that are not there, are no defaults.
func TestLinkToNoFile(t *testing.T) {
	t.Parallel()
	root, home := t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(root, config.ProjectFile), filepath.Join(home, config.UserFile)} {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("gone.yaml", file); err != nil {
			t.Skip(err)
		}
		dir, err := durable.OpenDir(root)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = dir.Close() }()
		if _, err := (config.Source{UserFolder: home}).Load(dir); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", file, err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}
