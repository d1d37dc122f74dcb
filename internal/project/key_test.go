package project_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

func TestRemoteKey(t *testing.T) {
	for address, want := range map[string]string{
		"git@Git.Example.COM:Owner/name.git":                     "git.example.com/Owner/name",
		"https://git.example.com/Owner/name":                     "git.example.com/Owner/name",
		"https://me:s3cret@git.example.com/Owner/name.git/":      "git.example.com/Owner/name",
		"ssh://git@git.example.com:2222/Owner/name.git":          "git.example.com/Owner/name",
		"git.example.com:Owner/name":                             "git.example.com/Owner/name",
		"git://git.example.com//Owner/./name.git":                "git.example.com/Owner/name",
		"https://git.example.com/a/b/c.git":                      "git.example.com/a/b/c",
		"https://[2001:db8::1]:8443/o/n.git":                     "2001:db8::1/o/n",
		"https://git.example.com/o/n.git?token=s3cret#x":         "git.example.com/o/n",
		"https://git.example.com":                                "",
		"https://git.example.com/" + strings.Repeat("long/", 99): "",
		"file:///srv/git/name.git":                               "",
		"/srv/git/name.git":                                      "",
		"../name.git":                                            "",
		`C:\git\name`:                                            "",
		"C:/git/name":                                            "",
		"https://git example.com/o/n":                            "",
		"host:o/n\nx":                                            "",
		"":                                                       "",
	} {
		if got := project.RemoteKey(address, "."); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
	if got := project.RemoteKey("git@host:o/n.git", "services/api"); got != "host/o/n//services/api" {
		t.Errorf("in a folder of the repository: %q", got)
	}
}

func FuzzRemoteKey(f *testing.F) {
	for _, seed := range []string{"git@host:o/n.git", "https://u:p@host:1/o/n/", "ssh://git@h/o/../n", "C:/x", "::", "a@b@c:d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		key := project.RemoteKey(address, ".")
		if key == "" {
			return
		}
		if host, repository, ok := strings.Cut(key, "/"); !ok || !config.IsProjectName(key) || host != strings.ToLower(host) || repository == "" || strings.HasSuffix(repository, "/") {
			t.Errorf("%q gives %q", address, key)
		}
	})
}

// TestStoreRequired: a project that demands a store shows no files in its place.
func TestStoreRequired(t *testing.T) {
	dir := t.TempDir()
	name, inside := filepath.Join(dir, filepath.FromSlash(config.ProjectFile)), filepath.Join(dir, "services", "api")
	for _, folder := range []string{filepath.Dir(name), filepath.Join(dir, ".git"), inside} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, []byte("store: required\nproject: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for environ, want := range map[string]string{"": "store: required in " + config.ProjectFile, "BMAD_STORE=": "store: required", "BMAD_STORE=postgres://db/x": ""} {
		f := project.New(project.Options{Backend: storetest.At, Settings: config.Source{Environ: []string{environ, "BMAD_PROJECT=x"}}})
		for _, folder := range []string{dir, inside} {
			p, err := f.Open(folder)
			if err == nil {
				p.Close()
			}
			if (err == nil) != (want == "") || err != nil && (!fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), want) || !strings.Contains(fault.From(err).Hint, "BMAD_STORE")) {
				t.Errorf("%q in %s: %v", environ, folder, err)
			}
		}
	}
}

// TestClonesShareTheirKey has two clones, a work tree and a folder of one of them, and a folder without a remote.
func TestClonesShareTheirKey(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	root := t.TempDir()
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x", "-C", dir}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	folder := func(name string) string {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
		return name
	}
	one, two, alone := folder("one"), folder("two"), folder("alone")
	git(one, "init", "-q")
	git(one, "remote", "add", "origin", "https://me:s3cret@Host.example/o/n.git")
	git(one, "remote", "add", "other", "https://other.example/o/n.git")
	git(one, "commit", "-q", "--allow-empty", "-m", "x")
	git(one, "worktree", "add", "-q", filepath.Join(root, "tree"))
	git(two, "init", "-q")
	git(two, "remote", "add", "upstream", "git@host.example:o/n")
	inside := folder("one/services/api")

	key := func(cwd string, environ ...string) string {
		t.Helper()
		var at store.Place
		f := project.New(project.Options{
			Backend:  func(place store.Place) (store.Backend, error) { at = place; return storetest.At(place) },
			Settings: config.Source{Environ: append(environ, "BMAD_STORE=postgres://db/x")},
		})
		p, err := f.Open(cwd)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if id, err := p.EnsureID(context.Background(), "of the machine"); err != nil || id != at.Key || p.ID() != at.Key {
			t.Errorf("%s: the id is %q, %v, want the key %q", cwd, id, err, at.Key)
		}
		return at.Key
	}
	const shared = "host.example/o/n"
	for cwd, want := range map[string]string{one: shared, two: shared, filepath.Join(root, "tree"): shared, inside: shared + "//services/api"} {
		if got := key(cwd); got != want {
			t.Errorf("%s: got %q, want %q", cwd, got, want)
		}
	}
	if got := key(one, "BMAD_PROJECT=mine"); got != "mine" {
		t.Errorf("named by the person: %q", got)
	}
	if first := key(alone); !strings.HasPrefix(first, "local:") || key(alone) != first {
		t.Errorf("without a remote: %q, then %q", first, key(alone))
	}
	if err := os.WriteFile(filepath.Join(two, ".git", "config"), []byte("[remote\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := project.New(project.Options{Backend: storetest.At, Settings: config.Source{Environ: []string{"BMAD_STORE=postgres://db/x"}}})
	if _, err := f.Open(two); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("with settings of git that cannot be read: %v", err)
	}
}

// TestStoreThatCannotBeOpened: every way to a project returns the error, also the search by a task's name.
func TestStoreThatCannotBeOpened(t *testing.T) {
	broken := fault.New(fault.Storage, "no store")
	f := project.New(project.Options{Backend: func(store.Place) (store.Backend, error) { return nil, broken }})
	cwd := t.TempDir()
	for _, at := range []project.Address{{Cwd: cwd}, {Cwd: cwd, Session: "x"}, {Places: []string{cwd}, Session: "x"}} {
		if _, _, err := f.Find(context.Background(), at); !fault.Is(err, fault.Storage) {
			t.Errorf("%+v: got %v", at, err)
		}
	}
}
