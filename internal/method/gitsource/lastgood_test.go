package gitsource_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
)

// overwrite fills every file of a folder with rubbish.
func overwrite(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.WriteFile(path, []byte("rubbish\x00\xff\x1b[31m"), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// damage lists accidents of a remote; a new commit is there before each.
var damage = map[string]struct {
	do   func(r repo)
	told string
}{
	"deleted":             {func(r repo) { _ = os.RemoveAll(r.dir) }, "does not appear to be a git repository"},
	"moved":               {func(r repo) { _ = os.Rename(r.dir, r.dir+"2") }, "does not appear to be a git repository"},
	"all rubbish":         {func(r repo) { overwrite(r.t, r.dir) }, ""},
	"objects are rubbish": {func(r repo) { overwrite(r.t, filepath.Join(r.dir, "objects")) }, ""},
	"a file now": {func(r repo) {
		_ = os.RemoveAll(r.dir)
		_ = os.WriteFile(r.dir, []byte("x"), 0o600)
	}, ""},
	"empty now": {func(r repo) {
		_ = os.RemoveAll(r.dir)
		git(r.t, "", "", "init", "--quiet", "--bare", r.dir)
	}, "no branch or tag main"},
	"the branch is gone": {func(r repo) { git(r.t, r.dir, "", "branch", "-m", "main", "trunk") }, "no branch or tag main"},
	"the branch is no commit": {func(r repo) {
		blob := git(r.t, r.dir, "x", "hash-object", "-w", "--stdin")
		_ = os.Remove(filepath.Join(r.dir, "packed-refs"))
		if err := os.WriteFile(filepath.Join(r.dir, "refs", "heads", "main"), []byte(blob+"\n"), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}, ""},
}

// TestDamagedCopy: a copy that differs from the fetched one is fetched again when the remote is
// asked, also for a commit, which needs no asking; files of Python in it are no damage.
func TestDamagedCopy(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		harm   func(dir string) error
		mended bool
	}{
		"a file is gone":   {func(dir string) error { return os.Remove(filepath.Join(dir, "agents", "po.md")) }, true},
		"a folder is gone": {func(dir string) error { return os.RemoveAll(filepath.Join(dir, "agents")) }, true},
		"a file is another": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "agents", "po.md"), []byte("broken!"), 0o600)
		}, true},
		"a script was run":    {func(dir string) error { return os.MkdirAll(filepath.Join(dir, "__pycache__"), 0o700) }, false},
		"nothing is the case": {func(string) error { return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.commit("main", map[string]string{"src/agents/po.md": "po", "src/agents/sm.md": "sm", "README.md": "x"})
			for _, fragment := range []string{"#main:/src", "#" + r.at("main") + ":/src"} {
				c, at := newCache(t)
				s := r.spec(fragment)
				good, _ := update(t, c, s)
				want := files(t, good.Dir)
				if err := tt.harm(good.Dir); err != nil {
					t.Fatal(err)
				}
				at.move(time.Hour)
				again, changed := update(t, c, s)
				if got := files(t, again.Dir); changed != tt.mended || !maps.Equal(got, want) || again.Dir != good.Dir {
					t.Errorf("%s: changed %v, now %v", fragment, changed, got)
				}
				if _, changed = update(t, c, s); changed {
					t.Errorf("%s: it is fetched once more", fragment)
				}
			}
		})
	}
}

// TestDamagedBefore: the copy of a commit that a branch goes back to is looked at as well, and
// one of which nothing was counted is counted when the remote is asked next.
func TestDamagedBefore(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, at := newCache(t)
	s := r.spec("#main:/src")
	first := r.commit("main", map[string]string{"src/agents/po.md": "po 1", "src/agents/sm.md": "sm"})
	before, _ := update(t, c, s)
	want := files(t, before.Dir)
	r.commit("main", map[string]string{"src/agents/po.md": "po 2"})
	update(t, c, s)
	harm := func() {
		t.Helper()
		if err := os.Remove(filepath.Join(before.Dir, "agents", "sm.md")); err != nil {
			t.Fatal(err)
		}
	}
	harm()
	git(t, r.dir, "", "update-ref", "refs/heads/main", first)
	at.move(time.Hour)
	if back, _ := update(t, c, s); back.Commit != first || !maps.Equal(files(t, back.Dir), want) {
		t.Errorf("gone back to %s: %v", back.Commit, files(t, back.Dir))
	}
	// As an earlier version has left the record.
	name := filepath.Join(c.Folder, s.Key(), "source.json")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	record := map[string]any{}
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	delete(record, "held")
	if data, err = json.Marshal(record); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, changed := update(t, c, s); changed {
		t.Error("what is not known is taken for damage")
	}
	harm()
	at.move(time.Hour)
	if back, changed := update(t, c, s); !changed || !maps.Equal(files(t, back.Dir), want) {
		t.Errorf("changed %v: %v", changed, files(t, back.Dir))
	}
}

func TestLastGoodCopy(t *testing.T) {
	t.Parallel()
	for name, d := range damage {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			log, logged := logTo()
			c, at := newCache(t)
			c.Log = log
			s := r.spec("#main:/src")
			good, _ := update(t, c, s)
			r.commit("main", map[string]string{"src/agents/po.md": "po 2"})
			d.do(r)

			at.move(25 * time.Hour)
			got, changed, err := c.Update(t.Context(), s)
			if !fault.Is(err, fault.NotFound) || changed || fault.From(err).Hint == "" {
				t.Errorf("changed %t, %v", changed, err)
			}
			if !strings.HasPrefix(err.Error(), s.String()+" cannot be fetched: ") || !strings.Contains(err.Error(), got.Problem) || !strings.Contains(err.Error(), d.told) {
				t.Errorf("error %v", err)
			}
			if got.Problem == "" || strings.ContainsAny(got.Problem, "\n\x1b\x00") || len(got.Problem) > 1000 {
				t.Errorf("problem %q", got.Problem)
			}
			want := good
			want.Problem, want.TriedAt = got.Problem, at.now()
			if got != want {
				t.Errorf("%+v\nwant %+v", got, want)
			}
			if on := have(t, c, s); on != want || files(t, on.Dir)["agents/po.md"] != "po 1" {
				t.Errorf("on disk %+v", on)
			}
			for _, name := range inPlace(t, c, s) {
				if name != good.Commit && name != "source.json" {
					t.Errorf("left: %s", name)
				}
			}

			// In the background: nobody is told of a change, the log of the problem.
			at.move(time.Hour)
			told := make(chan bool, 1)
			c.Refresh(s, func(changed bool) { told <- changed })
			if <-told {
				t.Error("it has changed")
			}
			if !strings.Contains(logged(), "could not be updated") {
				t.Errorf("the log: %s", logged())
			}
		})
	}
}

func TestNeverFetched(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, at := newCache(t)
	s := r.spec("#nowhere")
	check := func(want string) {
		t.Helper()
		got, err := c.Copy(s)
		if !fault.Is(err, fault.NotFound) || got != (gitsource.Copy{}) || !strings.Contains(err.Error(), want) || fault.From(err).Hint == "" {
			t.Errorf("%+v, %v; want %q", got, err, want)
		}
	}
	check("it was never fetched")
	if _, err := os.Stat(c.Folder); !os.IsNotExist(err) {
		t.Errorf("looking has made a folder: %v", err)
	}
	if got, changed, err := c.Update(t.Context(), s); !fault.Is(err, fault.NotFound) || changed || got != (gitsource.Copy{}) {
		t.Errorf("%+v, %t, %v", got, changed, err)
	}
	check("the remote has no branch or tag nowhere")
	if c.Due(s) {
		t.Error("it is due at once again")
	}
	// It comes to be.
	at.move(gitsource.RetryAfter)
	commit := r.commit("nowhere", map[string]string{"x": "x"})
	if got, changed := update(t, c, s); !changed || got.Commit != commit || got.Problem != "" {
		t.Errorf("%+v, changed %t", got, changed)
	}
	if on := have(t, c, s); on.Problem != "" {
		t.Errorf("the problem stays: %q", on.Problem)
	}
}
