package gitsource_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
)

// TestFilesComeAsTheyAre has a repository and a person that both want files changed.
func TestFilesComeAsTheyAre(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs links and a shell")
	}
	outside := t.TempDir()
	ran := filepath.Join(outside, "ran")
	hooks := filepath.Join(outside, "template", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho hook >>" + ran + "\n"
	for _, name := range []string{"post-checkout", "post-index-change", "reference-transaction"} {
		if err := os.WriteFile(filepath.Join(hooks, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	settings := filepath.Join(outside, "gitconfig")
	text := fmt.Sprintf("[filter \"lfs\"]\n\tsmudge = echo filter >>%[1]s\n\trequired = true\n[core]\n\tautocrlf = true\n\thooksPath = %[2]s\n"+
		"\tfsmonitor = echo monitor >>%[1]s\n[init]\n\ttemplateDir = %[3]s\n[submodule]\n\trecurse = true\n", ran, hooks, filepath.Dir(hooks))
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", settings)

	r := newRepo(t)
	want := map[string]string{
		".gitattributes": "*.bin filter=lfs\n*.txt text eol=crlf\n*.id ident\n*.utf text working-tree-encoding=UTF-16\n",
		".gitmodules":    "[submodule \"m\"]\n\tpath = m\n\turl = " + r.dir + "\n",
		"a.bin":          "version https://git-lfs.github.com/spec/v1\n",
		"a.txt":          "one\ntwo\r\n",
		"a.id":           "$Id$",
		"a.utf":          "text\n",
		"etc":            link + "/etc",
		"up":             link + "../../x",
		"dead":           link + "nowhere",
		"ü/deep/x":       "x",
	}
	r.commit("main", want)
	git(t, r.dir, "reset refs/heads/with\nfrom refs/heads/main\n\ncommit refs/heads/with\ncommitter T <t@example.org> 1700000000 +0000\ndata 1\nx\n"+
		"M 160000 "+r.at("main")+" m\n", "fast-import", "--quiet")
	_ = os.Remove(ran) // of the test's own git

	c, _ := newCache(t)
	got, _ := update(t, c, r.spec("#with"))
	if on := files(t, got.Dir); !maps.Equal(on, want) {
		t.Errorf("%q\nwant %q", on, want)
	}
	if entries, err := os.ReadDir(filepath.Join(got.Dir, "m")); err != nil || len(entries) != 0 {
		t.Errorf("the submodule: %v, %v", entries, err)
	}
	if data, err := os.ReadFile(ran); err == nil {
		t.Errorf("it was run: %s", data)
	}
}

func TestTooMuch(t *testing.T) {
	t.Parallel()
	tree := func(r repo, entries string) string { return git(r.t, r.dir, entries, "mktree") }
	blob := func(r repo, text string) string { return git(r.t, r.dir, text, "hash-object", "-w", "--stdin") }
	list := func(n int, entry string) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, entry, i)
		}
		return s.String()
	}
	for name, make := range map[string]func(r repo) string{
		"one file more than it may have": func(r repo) string {
			inner := tree(r, list(200, "100644 blob "+blob(r, "x")+"\t%d\n"))
			return tree(r, list(100, "040000 tree "+inner+"\td%d\n")+"100644 blob "+blob(r, "x")+"\tz\n")
		},
		"too large": func(r repo) string {
			return tree(r, list(201, "100644 blob "+blob(r, strings.Repeat("x", 1<<20))+"\t%d\n"))
		},
		"a small pack of 10^12 files": func(r repo) string {
			at := tree(r, list(10, "100644 blob "+blob(r, "x")+"\t%d\n"))
			for range 11 {
				at = tree(r, list(10, "040000 tree "+at+"\t%d\n"))
			}
			return at
		},
		"nothing": func(r repo) string { return tree(r, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			cache, _ := newCache(t)
			s := r.spec("#main")
			old, _ := update(t, cache, s)
			commit := git(t, r.dir, "", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit-tree", "-m", "x", make(r))
			git(t, r.dir, "", "update-ref", "refs/heads/main", commit)
			got, changed, err := cache.Update(t.Context(), s)
			if !fault.Is(err, fault.NotFound) || changed || got.Commit != old.Commit || files(t, got.Dir)["README.md"] != "first" {
				t.Errorf("%+v, %v", got, err)
			}
			if names := inPlace(t, cache, s); !slices.Equal(names, []string{old.Commit, "source.json"}) {
				t.Errorf("in the cache: %q", names)
			}
			want := fmt.Sprintf("more than %d files or %d MB", gitsource.MaxFiles, gitsource.MaxBytes>>20)
			if name == "nothing" {
				want = "has no files"
			}
			if !strings.Contains(got.Problem, want) || !strings.Contains(err.Error(), want) {
				t.Errorf("problem %q, error %v", got.Problem, err)
			}
		})
	}
}

// TestSHA256 has a repository of the other kind of hashes.
func TestSHA256(t *testing.T) {
	t.Parallel()
	r := repo{t, filepath.Join(t.TempDir(), "remote.git")}
	git(t, "", "", "init", "--quiet", "--bare", "--initial-branch=main", "--object-format=sha256", r.dir)
	commit := r.commit("main", map[string]string{"README.md": "first"})
	for _, fragment := range []string{"", "#" + commit} {
		c, _ := newCache(t)
		if got, _ := update(t, c, r.spec(fragment)); got.Commit != commit || len(commit) != 64 || files(t, got.Dir)["README.md"] != "first" {
			t.Errorf("%q: %+v", fragment, got)
		}
	}
}

// TestHostileServer: a repository on this disk is served by git itself, which reads the settings
// there. They have nothing run, and objects that are missing are not fetched from elsewhere.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	trap := fake(t, "echo run >>\"$0.run\"\n")
	for _, setting := range [][2]string{
		{"core.fsmonitor", trap}, {"core.sshCommand", trap}, {"uploadpack.packObjectsHook", trap}, {"core.alternateRefsCommand", trap}, {"credential.helper", trap}, {"core.hooksPath", filepath.Dir(trap)},
		{"core.repositoryformatversion", "1"}, {"extensions.partialClone", "o"}, {"remote.o.promisor", "true"}, {"remote.o.url", "ssh://h/x"}, {"remote.o.uploadpack", trap},
	} {
		git(t, r.dir, "", "config", setting[0], setting[1])
	}
	c, _ := newCache(t)
	program, asked := recorder(t)
	c.Git = program
	if got, _ := update(t, c, r.spec("")); got.Commit != r.at("main") {
		t.Errorf("%+v", got)
	}
	if n := asked("--upload-pack=GIT_ALLOW_PROTOCOL=none git-upload-pack"); n != 2 {
		t.Errorf("%d of its calls keep the server from fetching", n)
	}
	objects := filepath.Join(r.dir, "objects")
	if err := errors.Join(os.RemoveAll(objects), os.Mkdir(objects, 0o700)); err != nil {
		t.Fatal(err)
	}
	other, _ := newCache(t)
	if got, _, err := other.Update(t.Context(), r.spec("")); err == nil {
		t.Errorf("%+v of a repository without objects", got)
	}
	if _, err := os.Stat(trap + ".run"); err == nil {
		t.Error("a command of the repository was run")
	}
}
