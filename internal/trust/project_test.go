package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const markFile = ".bmad-task/project-id"

func markOf(t *testing.T, project string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(project, markFile))
	if err != nil || len(data) != 33 {
		t.Fatalf("%q, %v", data, err)
	}
	return strings.TrimSpace(string(data))
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAllowedForOneProject: a command that runs the files of a project is allowed for that project, and not for
// another at its path.
func TestAllowedForOneProject(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(t *testing.T, project string) string // returns the project that is asked about
		want bool
	}{
		"the project":            {func(_ *testing.T, p string) string { return p }, true},
		"its files have changed": {func(t *testing.T, p string) string { put(t, filepath.Join(p, "check.sh"), "x"); return p }, true},
		"moved away and back": {func(t *testing.T, p string) string {
			check(t, os.Rename(p, p+"2"))
			check(t, os.Rename(p+"2", p))
			return p
		}, true},
		"restored from a copy": {func(t *testing.T, p string) string {
			copyOf(t, p, p+"2")
			check(t, os.RemoveAll(p))
			check(t, os.Rename(p+"2", p))
			return p
		}, true},
		"moved":  {func(t *testing.T, p string) string { check(t, os.Rename(p, p+"2")); return p + "2" }, false},
		"a copy": {func(t *testing.T, p string) string { copyOf(t, p, p+"2"); return p + "2" }, false},
		"a folder in it": {func(t *testing.T, p string) string {
			check(t, os.Mkdir(filepath.Join(p, "in"), 0o750))
			return filepath.Join(p, "in")
		}, false},
		"another repository at its path": {func(t *testing.T, p string) string { check(t, os.RemoveAll(p)); check(t, os.Mkdir(p, 0o750)); return p }, false},
		"another that guesses a mark": {func(t *testing.T, p string) string {
			check(t, os.RemoveAll(p))
			put(t, filepath.Join(p, markFile), strings.Repeat("0", 32)+"\n")
			return p
		}, false},
		"another whose mark is empty": {func(t *testing.T, p string) string {
			check(t, os.RemoveAll(p))
			put(t, filepath.Join(p, markFile), "")
			return p
		}, false},
		"another whose mark is long": {func(t *testing.T, p string) string { put(t, filepath.Join(p, markFile), markOf(t, p)+"\n\n"); return p }, false},
		"another whose mark is a folder": {func(t *testing.T, p string) string {
			check(t, os.RemoveAll(p))
			check(t, os.MkdirAll(filepath.Join(p, markFile), 0o750))
			return p
		}, false},
		"the mark is a link to itself": {func(t *testing.T, p string) string {
			f := filepath.Join(p, markFile)
			check(t, os.Rename(f, f+"2"))
			check(t, os.Symlink("project-id2", f))
			return p
		}, false},
		"the run state was cleared": {func(t *testing.T, p string) string { check(t, os.RemoveAll(filepath.Join(p, ".bmad-task"))); return p }, false},
		"a link stands where it stood": {func(t *testing.T, p string) string {
			o := t.TempDir()
			check(t, os.RemoveAll(p))
			check(t, os.Symlink(o, p))
			return p
		}, false},
		"it is gone": {func(t *testing.T, p string) string { check(t, os.RemoveAll(p)); return p }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f, project := folder(t), filepath.Join(t.TempDir(), "p")
			check(t, os.Mkdir(project, 0o750))
			script := trust.Allowance{Project: project, Kind: trust.KindScript, Text: "check.sh", SHA256: workflow.Hash([]byte("1"))}
			all := []trust.Allowance{{Project: project, Kind: trust.KindVerify, Text: "sh check.sh"}, {Project: project, Kind: trust.KindOwnVerify, Text: "make"}, script}
			for _, a := range all {
				allow(t, f, a)
			}
			place := tt.do(t, project)
			for _, a := range all {
				a.Project = place
				if got := f.Allowed(a); got != tt.want {
					t.Errorf("%s: %v", a.Kind, got)
				}
			}
			if got := len(f.InForce(place)); got == len(all) != tt.want {
				t.Errorf("%d are in force", got)
			}
		})
	}
}

func copyOf(t *testing.T, from, to string) {
	t.Helper()
	check(t, os.CopyFS(to, os.DirFS(from)))
}

// TestRubricsAndSourcesAreTheirContent: they are the same wherever they come from.
func TestRubricsAndSourcesAreTheirContent(t *testing.T) {
	f, project := folder(t), filepath.Join(t.TempDir(), "p")
	check(t, os.Mkdir(project, 0o750))
	rubric := trust.Allowance{Project: project, Kind: trust.KindRubric, Text: "po.yaml", SHA256: workflow.Hash([]byte("rules"))}
	source := trust.Allowance{Project: project, Kind: trust.KindSource, Text: "https://host/repo.git"}
	allow(t, f, rubric)
	allow(t, f, source)
	if _, err := os.Stat(filepath.Join(project, ".bmad-task")); err == nil {
		t.Error("the project was marked for nothing")
	}
	check(t, os.RemoveAll(project))
	check(t, os.Mkdir(project, 0o750))
	if !f.Allowed(rubric) || !f.Allowed(source) {
		t.Error("no longer allowed")
	}
}

func TestOwnVerifyIsForAnyText(t *testing.T) {
	f, here, there := folder(t), t.TempDir(), t.TempDir()
	a := trust.Allowance{Project: here, Kind: trust.KindOwnVerify, Text: "make test"}
	allow(t, f, a)
	for text, want := range map[string]bool{"make test": true, "go test ./...": true, "": false} {
		a.Text = text
		if got := f.Allowed(a); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, b := range []trust.Allowance{
		{Project: there, Kind: trust.KindOwnVerify, Text: "make test"},
		{Project: here, Kind: trust.KindVerify, Text: "make test"},
		{Project: here, Kind: trust.KindScript, Text: "make test", SHA256: workflow.Hash([]byte(trust.KindOwnVerify))},
	} {
		if f.Allowed(b) {
			t.Errorf("%+v", b)
		}
	}
	allow(t, f, a2(here))
	if list, err := f.Allowances(); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func a2(project string) trust.Allowance {
	return trust.Allowance{Project: project, Kind: trust.KindOwnVerify, Text: "another command"}
}

// TestScriptReplacesItsFormerContent: a script that was allowed once could be put back.
func TestScriptReplacesItsFormerContent(t *testing.T) {
	f, here := folder(t), t.TempDir()
	script := func(text, content string) trust.Allowance {
		return trust.Allowance{Project: here, Kind: trust.KindScript, Text: text, SHA256: workflow.Hash([]byte(content))}
	}
	allow(t, f, script("check.sh", "1"))
	allow(t, f, script("other.sh", "1"))
	allow(t, f, script("check.sh", "2"))
	if !f.Allowed(script("check.sh", "2")) {
		t.Error("the new content is not allowed")
	}
	list := f.InForce(here)
	got := []string{}
	for _, a := range list {
		got = append(got, a.Text+" "+a.SHA256[:4])
	}
	want := fmt.Sprintf("[other.sh %s check.sh %s]", workflow.Hash([]byte("1"))[:4], workflow.Hash([]byte("2"))[:4])
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestListOfAnOlderVersion: it counts, keeps its entries, and is bound to the project that is there at the
// first use.
func TestListOfAnOlderVersion(t *testing.T) {
	f, here := folder(t), t.TempDir()
	real, err := filepath.EvalSymlinks(here)
	check(t, err)
	old := fmt.Sprintf(`{
  "allowed": [
    {"project": %q, "kind": "verify", "text": "make", "sha256": %q, "at": "2025-01-02T03:04:05Z"},
    {"project": %q, "kind": "rubric", "text": "po.yaml", "sha256": %q, "at": "2025-01-02T03:04:05Z"},
    {"project": "/elsewhere", "kind": "verify", "text": "make", "sha256": %q, "at": "2025-01-02T03:04:05Z"}
  ]
}
`, real, workflow.Hash([]byte("make")), real, workflow.Hash([]byte("rules")), workflow.Hash([]byte("make")))
	write(t, f, "allowed.json", []byte(old), 0o600)
	a := trust.Allowance{Project: here, Kind: trust.KindVerify, Text: "make"}
	if list, err := f.Allowances(); err != nil || len(list) != 3 || !f.Allowed(a) || list[0].ProjectID != "" {
		t.Fatalf("%v, %v", list, err)
	}
	for range 2 {
		check(t, f.Bind(t.Context(), here))
		list, err := f.Allowances()
		if err != nil || len(list) != 3 || list[0].ProjectID != markOf(t, here) || list[1].ProjectID != "" || list[2].ProjectID != "" ||
			!list[0].At.Equal(time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)) || !f.Allowed(a) {
			t.Fatalf("%+v, %v", list, err)
		}
	}
	check(t, os.RemoveAll(here))
	check(t, os.Mkdir(here, 0o750))
	if f.Allowed(a) {
		t.Error("another repository inherits it")
	}
}

// TestMarkOfAnotherProject: a repository that brings a mark is given one of its own.
func TestMarkOfAnotherProject(t *testing.T) {
	f, here := folder(t), t.TempDir()
	known := strings.Repeat("ab", 16)
	put(t, filepath.Join(here, markFile), known+"\n")
	a := trust.Allowance{Project: here, Kind: trust.KindVerify, Text: "make"}
	allow(t, f, a)
	first := markOf(t, here)
	if first == known || !f.Allowed(a) {
		t.Errorf("mark %s, allowed %v", first, f.Allowed(a))
	}
	allow(t, f, trust.Allowance{Project: here, Kind: trust.KindVerify, Text: "make test"})
	if markOf(t, here) != first || !f.Allowed(a) {
		t.Error("a second allowance took the first away")
	}
	if data, err := os.ReadFile(filepath.Join(here, ".bmad-task", ".gitignore")); err != nil || string(data) != "*\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestProjectThatCannotBeMarked(t *testing.T) {
	f, here, outside := folder(t), t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(here, ".bmad-task")); err != nil {
		t.Skip(err)
	}
	a := trust.Allowance{Project: here, Kind: trust.KindVerify, Text: "make"}
	if err := f.Allow(t.Context(), a); !fault.Is(err, fault.Storage) || fault.From(err).Hint == "" || f.Allowed(a) {
		t.Errorf("%v, allowed %v", err, f.Allowed(a))
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
