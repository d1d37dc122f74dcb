//go:build unix

package codebase_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/codebase"
)

// sh runs a script in the project.
func (w *tree) sh(t testing.TB, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir = w.path
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// TestFiles: a search reads the files that git tracks or would track, or all without git; each file here has the word.
func TestFiles(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: needs git")
	}
	for name, c := range map[string]struct {
		script, want string
		left         codebase.LeftOut
	}{
		"tracked and new": {"git init -q; echo widget >a.go; git add a.go; echo widget >b.go", "a.go b.go", codebase.LeftOut{}},
		"ignored":         {"git init -q; echo left.go >.gitignore; echo widget >left.go; echo widget >a.go", "a.go", codebase.LeftOut{}},
		"deleted":         {"git init -q; echo widget >a.go; git add a.go; rm a.go", "", codebase.LeftOut{}},
		"without git": {"mkdir -p sub .hidden node_modules/x; for f in a.go sub/b.go .hidden/c.go node_modules/x/d.js .env; do echo widget >$f; done",
			"a.go sub/b.go", codebase.LeftOut{}},
		"a broken index": {"git init -q; echo rubbish >.git/index; echo widget >a.go", "a.go", codebase.LeftOut{}},
		"one within":     {"git init -q; git init -q in; echo widget >in/a.go; echo b.go >in/.gitignore; echo widget >in/b.go", "in/a.go", codebase.LeftOut{}},
		"several below":  {"git init -q one; git init -q two; echo widget >one/a.go; echo a.go >two/.gitignore; echo widget >two/a.go", "one/a.go", codebase.LeftOut{}},
		"a submodule": {"git init -q; git init -q in; echo widget >in/a.go; cd in; git add .; git commit -qm in; cd ..; git add in 2>/dev/null; echo widget >in/b.go",
			"in/a.go in/b.go", codebase.LeftOut{}},
		"one that is away": {"git init -q; git init -q in; cd in; git commit -qm in --allow-empty; cd ..; git add in 2>/dev/null; rm -rf in; mkdir in; echo widget >a.go",
			"a.go", codebase.LeftOut{}},
		"in each other": {"d=.; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do git init -q $d; mkdir $d/in; d=$d/in; done; echo widget >a.go; echo widget >$d/deep.go",
			"a.go", codebase.LeftOut{}},
		"closed":         {"git init -q; mkdir -p keys/.ssh ok; echo widget >keys/.ssh/a; echo widget >ok/b.go", "ok/b.go", codebase.LeftOut{}},
		"closed, no git": {"mkdir -p keys/.ssh/x .ssh; echo widget >keys/.ssh/x/a; echo widget >.ssh/b.go; echo widget >c.go", "c.go", codebase.LeftOut{}},
		"a link instead": {"git init -q; mkdir .ssh docs; echo widget >.ssh/a; echo widget >docs/a; echo widget >b.go; git add docs; rm -r docs; ln -s .ssh docs",
			"b.go", codebase.LeftOut{}},
		"links": {"git init -q; echo widget >../outside; ln -s ../outside a.go; ln -s .. up; ln -s nowhere b.go; echo widget >c.go; ln -s c.go d.go",
			"c.go", codebase.LeftOut{}},
		"kinds":          {"mkfifo pipe; mkdir folder.go; echo widget >a.go", "a.go", codebase.LeftOut{}},
		"a tracked pipe": {"git init -q; echo widget >pipe; git add pipe; rm pipe; mkfifo pipe; echo widget >a.go", "a.go", codebase.LeftOut{}},
		"too large":      {"git init -q; head -c 1100000 /dev/zero | tr '\\0' 'w' >big.txt; echo widget >a.go", "a.go", codebase.LeftOut{TooLarge: 1}},
		"not text":       {"git init -q; printf 'widget\\000' >a.bin; printf 'widget \\377\\n' >latin.txt; echo widget >a.go", "a.go", codebase.LeftOut{NotText: 2}},
		"a late zero":    {"git init -q; (head -c 9000 /dev/zero | tr '\\0' '\\n'; echo widget; printf '\\000') >a.go", "a.go", codebase.LeftOut{}},
		"names": {"git init -q; mkdir -p \"$(printf 'x\\ny')\"; echo widget >\"$(printf 'x\\ny/\\033[31mred.go')\"; echo widget >\"-rf\"; echo widget >'a b.go'",
			`-rf a b.go x y/\u001b[31mred.go`, codebase.LeftOut{}},
		"a name of bytes":   {"git init -q; echo widget >\"$(printf 'a\\377.go')\"; echo widget >b.go", "b.go", codebase.LeftOut{Unreadable: 1}},
		"bytes without git": {"echo widget >\"$(printf 'a\\377.go')\"; echo widget >b.go", "b.go", codebase.LeftOut{Unreadable: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTree(t, nil)
			w.sh(t, c.script)
			w.IsClosed = func(folder string) bool { return strings.Contains(folder, "/.ssh") }
			for range 2 { // as a new index and as a known one
				found := w.find(t, "widget")
				files := map[string]bool{}
				for _, p := range found.Results {
					files[p.File] = true
				}
				if got := strings.Join(slices.Sorted(maps.Keys(files)), " "); got != c.want || found.LeftOut != c.left {
					t.Errorf("got %q, %+v; want %q, %+v", got, found.LeftOut, c.want, c.left)
				}
				if degraded := found.Degraded != ""; degraded != (name == "a broken index") {
					t.Errorf("got %s", found.Degraded)
				}
			}
		})
	}
}

// TestFilesThatMove: files grow, shrink, vanish and become other things while a search reads them.
func TestFilesThatMove(t *testing.T) {
	t.Parallel()
	w := newTree(t, nil)
	for i := range 40 {
		w.write(t, fmt.Sprintf("f%d.go", i), "package widget\n")
	}
	path := filepath.Join(w.path, "f7.go")
	steps := []func() error{
		func() error { return os.Remove(path) },
		func() error { return os.Mkdir(path, 0o755) },
		func() error { return os.Remove(path) },
		func() error { return syscall.Mkfifo(path, 0o600) },
		func() error { return os.Remove(path) },
		func() error { return os.Symlink("/etc/passwd", path) },
		func() error { return os.Remove(path) },
		func() error { return os.WriteFile(path, []byte(strings.Repeat("widget\n", 300_000)), 0o600) },
		func() error { return os.WriteFile(path, []byte("w"), 0o600) },
		func() error { return os.WriteFile(path, []byte("package widget\n"), 0o600) },
	}
	n := 0
	w.Now = func() time.Time { // it is asked before each file
		if n++; n%13 == 0 {
			if err := steps[n/13%len(steps)](); err != nil && !os.IsExist(err) && !os.IsNotExist(err) {
				t.Error(err)
			}
		}
		return time.Unix(1_700_000_000, 0)
	}
	for range 30 {
		w.Cache = t.TempDir()
		found := w.find(t, "widget passwd root")
		for _, p := range found.Results {
			if strings.Contains(p.Text, "root:") || len(p.Text) > 3000 {
				t.Fatalf("got %+v", p)
			}
		}
	}
}

// TestLongLine: of a line of 900 kB the part around the word is shown, without the credential in it.
func TestLongLine(t *testing.T) {
	t.Parallel()
	w := newTree(t, map[string]string{
		"min.js": strings.Repeat("var a=1;", 60_000) + "flywheel(); password = 'hunter2hunter2';" + strings.Repeat("var b=2;", 50_000),
		"key.go": strings.Repeat("// line\n", 50) + "const key = `-----BEGIN RSA PRIVATE KEY-----\n" +
			strings.Repeat("MIIEflywheelpAIBAAKCAQEA\n", 60) + "-----END RSA PRIVATE KEY-----`\n\n// dynamo\n",
		"cut.go":   strings.Repeat("\n", 20) + "// centrifuge \u202e\u0000x\n",
		"two.json": "{}\n",
	})
	found := w.find(t, "flywheel")
	if len(found.Results) == 0 {
		t.Fatalf("got %+v", found)
	}
	for _, p := range found.Results {
		if p.File == "min.js" && !strings.Contains(p.Text, "flywheel()") || len(p.Text) > 500 || strings.Contains(p.Text, "hunter2") || strings.Contains(p.Text, "MIIE") {
			t.Errorf("got %d bytes: %+v", len(p.Text), p)
		}
	}
	for _, p := range w.find(t, "dynamo").Results {
		if strings.Contains(p.Text, "MIIE") {
			t.Errorf("got %+v", p)
		}
	}
	for _, p := range w.find(t, "centrifuge").Results {
		if strings.ContainsAny(p.Text, "\u202e\u0000") {
			t.Errorf("got %q", p.Text)
		}
	}
}

// TestWithoutGit: without the program all files are read.
func TestWithoutGit(t *testing.T) {
	w := newTree(t, shop)
	t.Setenv("PATH", t.TempDir())
	if found := w.find(t, "attempts"); found.Searched != 7 || found.Degraded != "" {
		t.Errorf("got %+v", found)
	}
}

// TestUnreadableFile: a file that cannot be read has no part in the index, and does not have it written again.
func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	w := newTree(t, shop)
	n := 0
	w.Now = func() time.Time { // after the list, before the files
		if n++; n%2 == 0 {
			_ = os.Remove(filepath.Join(w.path, "net/retry.go"))
			w.write(t, "net/retry.go/in", "")
		}
		return time.Unix(1_700_000_000, 0)
	}
	if found := w.find(t, "password"); found.LeftOut.Unreadable != 1 {
		t.Fatalf("got %+v", found)
	}
	before, _ := os.Stat(w.index(t))
	if err := os.RemoveAll(filepath.Join(w.path, "net/retry.go")); err != nil {
		t.Fatal(err)
	}
	w.write(t, "net/retry.go", shop["net/retry.go"])
	n = 0
	found := w.find(t, "password")
	if after, _ := os.Stat(w.index(t)); !os.SameFile(before, after) || found.LeftOut.Unreadable != 1 {
		t.Errorf("the index is written again, and the answer is %+v", found)
	}
}

// TestReadOnlyCache: an index that cannot be written is said, and costs only time.
func TestReadOnlyCache(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("SKIPPED: root may write everywhere")
	}
	w := newTree(t, shop)
	if err := os.Mkdir(w.Cache, 0o500); err != nil {
		t.Fatal(err)
	}
	if found := w.find(t, "attempts"); len(found.Results) == 0 || found.Degraded == "" {
		t.Errorf("got %+v", found)
	}
}
