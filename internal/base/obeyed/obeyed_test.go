package obeyed_test

import (
	"maps"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/obeyed"
)

// TestList checks that each line can be matched, names the programs that obey the file, and stands
// there once.
func TestList(t *testing.T) {
	all, unknown := obeyed.Closed()
	if len(all) < 100 || unknown != nil {
		t.Fatalf("%d files, %q", len(all), unknown)
	}
	seen := map[string]bool{}
	for _, f := range all {
		if _, err := path.Match(f.Name, ""); err != nil || f.Name != path.Clean(f.Name) || f.By == "" || seen[f.Name] {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
		name := strings.ReplaceAll(f.Name, "*", "x")
		if f.Folder {
			name += "/x"
		}
		for _, name := range []string{name, "/" + name, "/a/b/" + name, strings.ToUpper(name), strings.ToLower(name)} {
			if _, ok := all.Match(name); !ok {
				t.Errorf("%q is not matched", name)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	all, _ := obeyed.Closed()
	for name, want := range map[string]string{
		".kiro/settings/mcp.json": ".kiro", "/.roo/x": ".roo", ".amazonq": ".amazonq", "opencode.json": "opencode.json", "a/.zed/tasks.json": ".zed", ".devcontainer/devcontainer.json": ".devcontainer",
		".agents/x": ".agents", ".envrc": ".envrc", "a/.husky/pre-commit": ".husky", ".pre-commit-config.yaml": ".pre-commit-config.yaml", ".github/workflows/ci.yml": ".github/workflows",
		"a/.GitHub/WorkFlows/ci.yml": ".github/workflows", "x.code-workspace": "*.code-workspace", ".gitlab-ci-more.yml": ".gitlab-ci*.yml", "JENKINSFILE.release": "Jenkinsfile*", "head": "HEAD",
		// Other spellings.
		".env\u200drc": ".envrc", ".envrc. .": ".envrc", ".envrc::$DATA": ".envrc", "ENVRC~1": ".envrc", ".cur\u017for/x": ".cursor", ".\u212airo/x": ".kiro", "GITMOD~1": ".gitmodules", "GI7EB5~1": ".git",
		"OPENCO~1.JSO": ".opencode", "GITHUB~1/WORKFL~1/x": ".github/workflows", "MCP~1.JSO": ".mcp.json", "LEFTHO~1.YML": ".lefthook", "JENKIN~1": "Jenkinsfile*",
		// Ordinary files.
		"": "", "/": "", ".github": "", ".github/CODEOWNERS": "", "workflows/x": "", ".github/workflow": "", "docs/.github.md": "", "src/head/head.tsx": "", "Head/x": "", "git/x": "", "a~1": "", "x.md~": "", "cli~x": "",
		"Makefile": "", "package.json": "", "AGENTS.md": "", ".gitignore": "", ".gitattributes": "", ".env": "", ".editorconfig": "", ".clauderc": "", "Jenkins": "", ".mcp.json/x": "", "ab12cd~1": "",
	} {
		if f, ok := all.Match(name); f.Name != want || ok != (want != "") {
			t.Errorf("%q is %q, not %q", name, f.Name, want)
		}
	}
}

func TestClosed(t *testing.T) {
	l, unknown := obeyed.Closed(".github/workflows/", ".envrc", ".git", "nothing", ".github/workflows/ci.yml")
	if strings.Join(unknown, " ") != ".git nothing .github/workflows/ci.yml" {
		t.Errorf("%q", unknown)
	}
	for name, want := range map[string]bool{".github/workflows/ci.yml": false, "a/.envrc": false, ".github/actions/x": true, ".git/config": true} {
		if _, ok := l.Match(name); ok != want {
			t.Errorf("%s: %v", name, ok)
		}
	}
}

func TestState(t *testing.T) {
	l, _ := obeyed.Closed(".npmrc")
	tree := fstest.MapFS{
		".git/hooks/x": {}, ".bmad-task/x": {}, "a.go": {}, "web/node_modules/x/.envrc": {}, ".envrc": {Data: []byte("a")}, ".github/workflows/ci.yml": {}, ".npmrc": {},
		".claude/specs/x.md": {},
	}
	own := func(name string) bool { return strings.HasPrefix(name, ".claude/specs/") }
	before := l.In(tree, own)
	if len(before) != 3 {
		t.Fatalf("%v", before)
	}
	for name, want := range map[string]string{
		"b.go": "", ".npmrc": "", ".git/config": "", "web/node_modules/x/.npmrc": "", ".envrc": ".envrc", "web/.vscode/tasks.json": "web/.vscode/tasks.json", "HEAD": "HEAD", ".husky/a/b": ".husky/a/b",
		".claude/specs/x.md": "", ".claude/specs/y/z.md": "", ".claude/specs.md": ".claude/specs.md", "sub/.git/config": "sub/.git",
	} {
		after := maps.Clone(tree)
		after[name] = &fstest.MapFile{Data: []byte("more")}
		if got := l.In(after, own).Since(before); got != want {
			t.Errorf("%s: %q", name, got)
		}
		if got := l.In(after, own).Since(nil); got != "" {
			t.Errorf("%s: %q since an unknown state", name, got)
		}
	}
	for name, change := range map[string]func(fstest.MapFS){
		"one that goes":               func(tree fstest.MapFS) { delete(tree, ".envrc") },
		"one of the same size":        func(tree fstest.MapFS) { tree[".envrc"] = &fstest.MapFile{Data: []byte("b")} },
		"one that becomes executable": func(tree fstest.MapFS) { tree[".envrc"] = &fstest.MapFile{Data: []byte("a"), Mode: 0o700} },
	} {
		after := maps.Clone(tree)
		change(after)
		if got := l.In(after, own).Since(before); got != ".envrc" {
			t.Errorf("%s: %q", name, got)
		}
	}
	after := maps.Clone(tree)
	after[".envrc"] = &fstest.MapFile{Data: []byte("a"), ModTime: time.Now()}
	if got := l.In(after, own).Since(before); got != "" {
		t.Errorf("written again as it was: %q", got)
	}
}

func FuzzMatch(f *testing.F) {
	for _, name := range []string{".git/config", "GIT~1", ".github/workflows/x", "\xff~1", "a:b/c"} {
		f.Add(name)
	}
	all, _ := obeyed.Closed()
	f.Fuzz(func(t *testing.T, name string) {
		_, before := all.Match(name)
		_, below := all.Match("deep/" + name)
		if _, folder := all.Match(name + "/x"); before != below || folder && !before {
			t.Errorf("%q: %v, below a folder %v, as a folder %v", name, before, below, folder)
		}
	})
}
