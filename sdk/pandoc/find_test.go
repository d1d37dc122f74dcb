package pandoc_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/pandoc"
)

// TestProgramsOfTheProject: no program of the project is found, and none that it could replace; the child does not find
// them either.
func TestProgramsOfTheProject(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights here")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for _, folder := range []string{"good", "tex", "evil", "alias", "project/bin", "project/node_modules/.bin"} {
		if err := os.MkdirAll(at(folder), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"pandoc", "xelatex"} {
			if folder == "tex" && name == "pandoc" || folder == "good" && name == "xelatex" || folder == "alias" {
				continue
			}
			if err := os.WriteFile(filepath.Join(at(folder), name), []byte("#!/bin/sh\necho \"$PATH\"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	for link, target := range map[string]string{
		"to-project":       at("project"),
		"to-bin":           "project/bin",
		"project/out":      at("evil"),
		"chain":            at("project/out"),
		"alias/pandoc":     "../project/bin/pandoc",
		"alias/xelatex":    at("project/out/xelatex"),
		"loop":             at("loop"),
		"same":             at("good"),
		"tex/pdflatex":     at("tex/xelatex"),
		"project/evil.bin": "../evil",
	} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(at("project"))
	rest := string(filepath.ListSeparator) + at("good") + string(filepath.ListSeparator) + at("tex")
	for _, first := range []string{
		"", ".", "bin", "./node_modules/.bin", at("project/bin"), at("project/node_modules/.bin"), at("project") + "/../project/bin",
		at("to-project") + "/bin", at("to-project/out"), at("to-bin"), at("project/out"), at("chain"), at("alias"), at("loop"), at("project/evil.bin"), at("none"), at("good/pandoc"),
	} {
		for _, project := range []string{at("project"), at("to-project")} {
			t.Setenv("PATH", first+rest)
			p, err := pandoc.Find(project)
			if err != nil || p.Path != at("good/pandoc") || p.Engine != at("tex/xelatex") {
				t.Errorf("%s first: %+v, %v", first, p, err)
				continue
			}
			said, err := pandoc.Convert(t.Context(), p, nil, "pdf")
			if want := at("tex") + ":" + at("good") + ":/usr/bin:/bin\n"; err != nil || string(said) != want {
				t.Errorf("the child of %s has %q, %v", first, said, err)
			}
			t.Setenv("PATH", first)
			if p, err := pandoc.Find(project); err == nil || !strings.Contains(err.Error(), "not installed outside of the project") {
				t.Errorf("%s alone: %+v, %v", first, p, err)
			}
		}
	}
	t.Setenv("PATH", at("same"))
	if p, err := pandoc.Find(at("project")); err != nil || p.Path != at("good/pandoc") || p.Engine != "" {
		t.Errorf("through a link: %+v, %v", p, err)
	}
	if _, err := pandoc.Find(at("missing")); err == nil {
		t.Error("a project that is not there")
	}
}
