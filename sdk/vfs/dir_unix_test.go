//go:build unix

package vfs_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// hostile returns a folder with everything that must not be reached, and the folder beside it.
func hostile(t *testing.T) (in, out string) {
	t.Helper()
	top := t.TempDir()
	in, out = filepath.Join(top, "in"), filepath.Join(top, "out")
	err := errors.Join(os.MkdirAll(filepath.Join(in, ".git/hooks"), 0o755), os.MkdirAll(filepath.Join(in, "sub/.git"), 0o755), os.MkdirAll(filepath.Join(in, "docs"), 0o755),
		os.MkdirAll(filepath.Join(in, ".claude"), 0o755), os.Mkdir(out, 0o755))
	for name, text := range map[string]string{
		"in/.git/config": "needle", "in/.git/hooks/pre-commit": "needle", "in/sub/.git/config": "needle", "in/docs/a.md": "plain", "in/.claude/settings.json": "readable", "out/secret": "needle",
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(top, name), []byte(text), 0o600))
	}
	for name, target := range map[string]string{
		"file": "../out/secret", "abs": filepath.Join(out, "secret"), "folder": "../out", "up": "..", "chain": "file", "dangling": "nowhere", "outdangling": "../out/new",
		"git": ".git", "gitfile": ".git/config", "gitchain": "git", "gitup": "hooks/../config", "hooks": ".git/hooks", "docs/deep": "../sub/.git", "loop": "loop", "ping": "pong", "pong": "ping",
		"good": "docs/a.md", "gooddir": "docs", "settings": ".claude", "settingsfile": ".claude/settings.json",
	} {
		err = errors.Join(err, os.Symlink(target, filepath.Join(in, name)))
	}
	err = errors.Join(err, syscall.Mkfifo(filepath.Join(in, "pipe"), 0o600), os.Symlink("/dev/zero", filepath.Join(in, "zero")))
	if err != nil {
		t.Fatal(err)
	}
	return in, out
}

// tree returns the content of all files below a folder, by their paths; links stand for themselves.
func tree(t testing.TB, top string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(top, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, name)
		if err != nil || !e.Type().IsRegular() {
			out[rel] = e.Type().String()
			return err
		}
		data, err := os.ReadFile(name)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name, text := range after {
		if was, ok := before[name]; !ok || was != text {
			t.Errorf("%s was %.40q, and is %.40q", name, was, text)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			t.Errorf("%s is gone", name)
		}
	}
}

func TestNoPathLeadsOutOrToGit(t *testing.T) {
	in, _ := hostile(t)
	d := openDir(t, in)
	before := tree(t, filepath.Dir(in))
	for _, name := range []string{
		"/file", "/abs", "/folder/secret", "/up/out/secret", "/chain", "/dangling", "/outdangling", "/loop", "/ping", "/pipe", "/zero",
		"/git/config", "/gitfile", "/gitchain/config", "/gitup", "/hooks/pre-commit", "/docs/deep/config", "/gooddir/deep/config",
		"/.git/config", "/.GIT/config", "/.git./config", "/.git /config", "/.git . ./config", "/.g\u200dit/config", "/.git::$INDEX_ALLOCATION/config", "/.git:x/config", "/GIT~1/config", "/git~2/config",
		"/.gi\ufeffT/config", "/.g\u034fit/config", "/.git\ufe0f/config", "/sub/.git/config", "/.\u00adgit",
	} {
		for _, fsys := range map[string]vfs.FS{"dir": d, "overlay": vfs.NewOverlay(d, nil)} {
			if data, err := fsys.Read(name); err == nil {
				t.Errorf("%q is read: %.40q", name, data)
			} else if strings.Contains(err.Error(), filepath.Dir(in)) {
				t.Errorf("%q shows where the folder lies: %v", name, err)
			}
			if err := fsys.Write(name, []byte("x")); err == nil {
				t.Errorf("%q is written", name)
			}
		}
	}
	for _, name := range []string{"/folder", "/up", "/git", "/gitchain", "/.git", "/docs/deep", "/sub/.git", "/loop", "/hooks"} {
		if infos, err := d.List(name); err == nil {
			t.Errorf("%q is listed: %v", name, infos)
		}
		if info, err := d.Stat(name); err == nil {
			t.Errorf("%q is described: %v", name, info)
		}
		if err := d.Mkdir(name + "/made"); err == nil {
			t.Errorf("a folder is made in %q", name)
		}
	}
	same(t, before, tree(t, filepath.Dir(in)))
	for _, name := range []string{"/../out/secret", "/docs/../../out/secret", "/hooks/../../out/secret"} {
		write(t, d, name, "a file like any other, inside")
		if got := read(t, d, "/out/secret"); got != "a file like any other, inside" {
			t.Errorf("%q", got)
		}
	}
}

func TestLinksInsideAreReadAndNotWritten(t *testing.T) {
	in, _ := hostile(t)
	d := openDir(t, in)
	if got := read(t, d, "/good") + read(t, d, "/gooddir/a.md") + read(t, d, "/settings/settings.json"); got != "plainplainreadable" {
		t.Errorf("%q", got)
	}
	if got := listPaths(t, d, "/"); got != "/.claude/ /docs/ /good /settingsfile /sub/" {
		t.Errorf("%q", got)
	}
	before := tree(t, in)
	for _, name := range []string{"/good", "/gooddir/a.md", "/gooddir/new/x.md", "/settings/settings.json", "/dangling", "/outdangling"} {
		over := vfs.NewOverlay(d, nil)
		if err := errors.Join(d.Write(name, []byte("x"))); err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("%s: %v", name, err)
		}
		if err := over.Write(name, []byte("x")); err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("an overlay takes %s, which it could never apply: %v", name, err)
		}
	}
	same(t, before, tree(t, in))
}

func TestNoToolReachesOut(t *testing.T) {
	in, _ := hostile(t)
	b := vfs.NewToolbox(openDir(t, in), vfs.ToolOptions{})
	before := tree(t, filepath.Dir(in))
	for _, at := range []string{"/", "/file", "/folder", "/folder/secret", "/up", "/git", "/gitfile", "/gitchain", "/gitup", "/hooks", "/.git", "/.GIT/config", "/sub/.git", "/docs/deep", "/pipe", "/zero", "/loop"} {
		for _, c := range []call{
			{"read_file", with("file_path", at), ""}, {"list_files", with("path", at), ""}, {"grep_search", with("pattern", "needle", "path", at), ""},
			{"glob_pattern", with("pattern", "**/*", "path", at), ""}, {"glob_pattern", with("pattern", at+"/**"), ""}, {"grep_search", with("pattern", "needle", "glob", at+"/**"), ""},
			{"bash_command", with("command", "cat "+at), ""}, {"bash_command", with("command", "ls "+at), ""}, {"edit_file", with("file_path", at, "old_string", "needle", "new_string", "x"), ""},
			{"write_file", with("file_path", at, "content", "x"), ""}, {"bash_command", with("command", "mkdir "+at), ""},
		} {
			got := use(b, c.tool, c.args...)
			for _, line := range strings.Split(got, "\n") {
				if !strings.HasPrefix(got, "ERROR") && !strings.HasPrefix(got, "No ") && (strings.HasSuffix(line, ": needle") || line == "needle" || strings.Contains(line, "secret") || strings.Contains(line, "pre-commit") || strings.Contains(line, ".git/")) {
					t.Errorf("%s %v: %q", c.tool, c.args, got)
				}
			}
		}
	}
	same(t, before, tree(t, filepath.Dir(in)))
}

func TestOrdersForOtherProgramsAreNotWritten(t *testing.T) {
	in := t.TempDir()
	d := openDir(t, in)
	for _, name := range []string{
		"/.bmad-task/x", "/.mcp.json", "/.MCP.JSON", "/.mcp.json.", "/.mcp.json::$DATA", "/.mcp\u200b.json", "/MCP~1.JSO", "/sub/.mcp.json", "/.gitmodules", "/GITMOD~1", "/.claude/settings.json", "/.Claude/x",
		"/.CLAUDE /x", "/a/b/.claude/x", "/CLAUDE~1/x", "/.codex/config.toml", "/.cursor/mcp.json", "/.cur\u017for/mcp.json", "/.gemini/x", "/.vscode/tasks.json", "/.idea/x", "/.bmad-tas\u212a/x", "/BMAD-T~1/x",
		"/.kiro/settings/mcp.json", "/opencode.json", "/a/.envrc", "/.husky/pre-commit", "/.github/workflows/ci.yml", "/.npmrc", "/HEAD", "/a/HEAD", "/ENVRC~1",
	} {
		for what, err := range map[string]error{"write": d.Write(name, nil), "mkdir": d.Mkdir(name), "overlay": vfs.NewOverlay(d, nil).Write(name, nil), "overlay mkdir": vfs.NewOverlay(d, nil).Mkdir(name)} {
			if err == nil || !strings.Contains(err.Error(), "gives orders to other programs") {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	if got := tree(t, in); len(got) != 1 {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"/.github/x.yml", "/.gitignore", "/components/Head/x.tsx", "/Makefile", "/git/x", "/claude/x", "/mcp.json", "/a~1", "/backup.md~", "/.clauderc", "/cli~x"} {
		write(t, d, name, "fine")
	}
}

func TestWhatThePersonOpensIsWritten(t *testing.T) {
	in := t.TempDir()
	d, err := vfs.OpenDir(in, vfs.DirOptions{Open: []string{".github/workflows", ".npmrc"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	write(t, d, "/.github/workflows/ci.yml", "fine")
	write(t, d, "/web/.npmrc", "fine")
	if err := d.Write("/.github/actions/x/action.yml", nil); err == nil {
		t.Error("another one is written, too")
	}
	for _, name := range []string{".git", ".bmad-task", "docs", ""} {
		if d, err := vfs.OpenDir(in, vfs.DirOptions{Open: []string{name}}); err == nil {
			_ = d.Close()
			t.Errorf("%q is opened", name)
		}
	}
}

func TestAReadOnlyFolder(t *testing.T) {
	in := t.TempDir()
	if err := os.WriteFile(filepath.Join(in, "a.md"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := vfs.OpenDir(in, vfs.DirOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if d.Write("/a.md", nil) == nil || d.Mkdir("/d") == nil {
		t.Error("it is written")
	}
	over := vfs.NewOverlay(d, nil)
	write(t, over, "/a.md", "mine")
	if err := over.Apply(context.Background()); err == nil {
		t.Error("it is written by an overlay")
	}
	if got := read(t, over, "/a.md") + read(t, d, "/a.md") + listPaths(t, d, "/"); got != "minea/a.md" {
		t.Errorf("%q", got)
	}
}

func TestWhatAFileIsStays(t *testing.T) {
	in := t.TempDir()
	d := openDir(t, in)
	at := func(name string) string { return filepath.Join(in, name) }
	if err := errors.Join(os.WriteFile(at("run.sh"), []byte("old"), 0o755), os.WriteFile(at("key"), []byte("old"), 0o600), os.Chmod(at("run.sh"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"run.sh": 0o755, "key": 0o600, "new/file": 0o644} {
		write(t, d, "/"+name, "text")
		if info, err := os.Stat(at(name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestAFailedWriteLeavesNothing(t *testing.T) {
	in := t.TempDir()
	d := openDir(t, in)
	write(t, d, "/a.md", "old")
	before := tree(t, in)
	if err := d.Write("/"+strings.Repeat("x", 300), nil); err == nil {
		t.Error("a name of 300 bytes")
	}
	if err := d.Write("/new/"+strings.Repeat("x", 300), nil); err == nil {
		t.Error("a name of 300 bytes")
	}
	same(t, before, tree(t, in))
	write(t, d, "/"+strings.Repeat("x", 250), "a name that a disk can have")
}

func TestHugeFilesAreNotRead(t *testing.T) {
	in := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(in, "huge"), nil, 0o600), os.Truncate(filepath.Join(in, "huge"), 1<<40)); err != nil {
		t.Skip("this disk has no sparse files: ", err)
	}
	d := openDir(t, in)
	if _, err := d.Read("/huge"); err == nil || err.Error() != "/huge has more than 4194304 bytes, the limit" {
		t.Errorf("%v", err)
	}
	b := vfs.NewToolbox(d, vfs.ToolOptions{})
	call{"grep_search", with("pattern", "x"), "No matches found for pattern: x"}.check(t, b)
	call{"list_files", with(), "/huge (1099511627776 bytes)"}.check(t, b)
}

func TestNamesThatNoPathCanHave(t *testing.T) {
	in := t.TempDir()
	for _, name := range []string{"a\nb", `a\b`, "a\xffb", "fine"} {
		if err := os.WriteFile(filepath.Join(in, name), []byte("x"), 0o600); err != nil {
			t.Skip("this disk refuses such names: ", err)
		}
	}
	if got := listPaths(t, openDir(t, in), "/"); got != "/fine" {
		t.Errorf("%q", got)
	}
}

func TestAFolderThatBecomesALink(t *testing.T) {
	in, out := hostile(t)
	d := openDir(t, in)
	before := tree(t, out)
	docs, away := filepath.Join(in, "docs"), filepath.Join(in, "docs.away")
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_ = os.Rename(docs, away)
				_ = os.Symlink(out, docs)
				_ = os.Remove(docs)
				_ = os.Rename(away, docs)
			}
		}
	})
	for range 100 {
		_ = d.Write("/docs/secret", []byte("x"))
		_ = d.Write("/docs/new/x.md", []byte("x"))
		_ = d.Mkdir("/docs/made")
		if data, err := d.Read("/docs/secret"); err == nil && string(data) == "needle" {
			t.Error("a file outside is read")
		}
	}
	close(done)
	wg.Wait()
	same(t, before, tree(t, out))
}
