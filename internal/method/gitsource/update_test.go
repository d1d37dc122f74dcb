package gitsource_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
)

func TestEveryKindOfRef(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	first := r.at("main")
	r.commit("main", map[string]string{"README.md": "second"})
	r.commit("feature/x", map[string]string{"README.md": "on a branch"})
	r.commit("both", map[string]string{"README.md": "the branch"})
	git(t, r.dir, "", "tag", "both", "main")
	git(t, r.dir, "", "tag", "light", first)
	git(t, r.dir, "", "-c", "user.name=T", "-c", "user.email=t@example.org", "tag", "-a", "-m", "x", "heavy", first)
	git(t, r.dir, "", "update-ref", "refs/pull/1/head", first)
	for fragment, want := range map[string]struct{ commit, text string }{
		"":                                {r.at("main"), "second"},
		"#HEAD":                           {r.at("main"), "second"},
		"#main":                           {r.at("main"), "second"},
		"#refs/heads/main":                {r.at("main"), "second"},
		"#feature/x":                      {r.at("feature/x"), "on a branch"},
		"#both":                           {r.at("refs/heads/both"), "the branch"},
		"#refs/tags/both":                 {r.at("refs/tags/both"), "second"},
		"#light":                          {first, "first"},
		"#heavy":                          {first, "first"},
		"#refs/tags/heavy":                {first, "first"},
		"#refs/pull/1/head":               {first, "first"},
		"#" + first:                       {first, "first"},
		"#" + strings.ToUpper(first):      {first, "first"},
		"#" + first[:10]:                  {first, "first"},
		"#" + strings.ToUpper(first)[:12]: {first, "first"},
	} {
		t.Run(fragment, func(t *testing.T) {
			t.Parallel()
			c, at := newCache(t)
			s := r.spec(fragment)
			got, changed, err := c.Update(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if got.Commit != want.commit || !changed || files(t, got.Dir)["README.md"] != want.text {
				t.Errorf("%+v, changed %t, %q", got, changed, files(t, got.Dir))
			}
			if got.Dir != got.Root || !filepath.IsAbs(got.Dir) || filepath.Base(got.Root) != want.commit {
				t.Errorf("dir %s, root %s", got.Dir, got.Root)
			}
			if !got.FetchedAt.Equal(at.now()) || !got.CheckedAt.Equal(at.now()) || !got.TriedAt.Equal(at.now()) || got.Problem != "" {
				t.Errorf("%+v", got)
			}
			if on := have(t, c, s); on != got {
				t.Errorf("on disk %+v, returned %+v", on, got)
			}
			if _, err := os.Lstat(filepath.Join(got.Root, ".git")); !os.IsNotExist(err) {
				t.Errorf("there is a .git: %v", err)
			}
			if again, changed := update(t, c, s); changed || again.Commit != want.commit {
				t.Errorf("again: %+v, changed %t", again, changed)
			}
			if names := inPlace(t, c, s); !slices.Equal(names, []string{want.commit, "source.json"}) {
				t.Errorf("in the cache: %q", names)
			}
		})
	}
}

// TestWhatIsAsked counts the requests to git: few if nothing is new, and no more of
// the history than is needed.
func TestWhatIsAsked(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, _ := newCache(t)
	program, asked := recorder(t)
	c.Git = program
	s := r.spec("#main")
	update(t, c, s)
	update(t, c, s)
	if asked("ls-remote") != 2 || asked("fetch") != 1 || asked("--depth=1") != 1 || asked("read-tree") != 1 {
		t.Errorf("ls-remote %d, fetch %d, shallow %d", asked("ls-remote"), asked("fetch"), asked("--depth=1"))
	}
	git(t, r.dir, "", "-c", "user.name=T", "-c", "user.email=t@example.org", "tag", "-a", "-m", "x", "heavy")
	tagged := r.spec("#heavy")
	update(t, c, tagged)
	update(t, c, tagged)
	if asked("ls-remote") != 4 || asked("fetch") != 2 {
		t.Errorf("a tag: ls-remote %d, fetch %d", asked("ls-remote"), asked("fetch"))
	}
	pinned := r.spec("#" + r.at("main"))
	update(t, c, pinned)
	update(t, c, pinned)
	if asked("ls-remote") != 4 || asked("fetch") != 3 || asked("--depth=1") != 3 {
		t.Errorf("a commit: ls-remote %d, fetch %d", asked("ls-remote"), asked("fetch"))
	}
}

// TestServerGivesNoSingleCommit has a server of the old protocol, which gives only commits with a name.
func TestServerGivesNoSingleCommit(t *testing.T) {
	t.Setenv("GIT_CONFIG_COUNT", "2")
	t.Setenv("GIT_CONFIG_KEY_0", "protocol.version")
	t.Setenv("GIT_CONFIG_VALUE_0", "0")
	t.Setenv("GIT_CONFIG_KEY_1", "user.name")
	t.Setenv("GIT_CONFIG_VALUE_1", "T")
	r := newRepo(t)
	first := r.at("main")
	r.commit("main", map[string]string{"README.md": "second"})
	c, _ := newCache(t)
	program, asked := recorder(t)
	c.Git = program
	got, _ := update(t, c, r.spec("#"+first))
	if got.Commit != first || files(t, got.Dir)["README.md"] != "first" {
		t.Errorf("%+v", got)
	}
	if asked("fetch") != 2 {
		t.Errorf("%d fetches: the server did give it, so nothing was shown", asked("fetch"))
	}
	_, _, err := c.Update(t.Context(), r.spec("#"+strings.Repeat("12", 20)))
	if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "has no commit 1212") {
		t.Error(err)
	}
}

func TestFolderInIt(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	outside := t.TempDir()
	commit := r.commit("main", map[string]string{
		"src/agents/po.md": "po", "file": "x", "in": link + "src", "out": link + outside, "up": link + "../..",
	})
	c, _ := newCache(t)
	whole, _ := update(t, c, r.spec("#main"))
	for sub, text := range map[string]string{"src": "agents/po.md", "src/agents": "po.md", "in/agents": "po.md"} {
		got := have(t, c, r.spec("#main:/"+sub)) // without another update: they share the copy
		if got.Root != whole.Root || got.Dir != filepath.Join(whole.Root, filepath.FromSlash(sub)) || got.Commit != commit {
			t.Errorf("%s: %+v", sub, got)
		}
		if _, err := os.Stat(filepath.Join(got.Dir, filepath.FromSlash(text))); err != nil {
			t.Error(err)
		}
	}
	for _, sub := range []string{"missing", "file", "src/missing", "out", "up", "file/x"} {
		got, err := c.Copy(r.spec("#main:/" + sub))
		if !fault.Is(err, fault.NotFound) || got != (gitsource.Copy{}) || !strings.Contains(err.Error(), "no folder "+sub) || fault.From(err).Hint == "" {
			t.Errorf("%s: %+v, %v", sub, got, err)
		}
		if got, changed, err := c.Update(t.Context(), r.spec("#main:/"+sub)); !fault.Is(err, fault.NotFound) || changed || got.Dir != "" {
			t.Errorf("%s: %+v, %t, %v", sub, got, changed, err)
		}
	}
}

func TestNewCommit(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, at := newCache(t)
	s := r.spec("#main:/src/agents")
	a, _ := update(t, c, s)
	start := at.now()

	at.move(time.Hour)
	if got, changed := update(t, c, s); changed || got.Commit != a.Commit || !got.FetchedAt.Equal(start) || !got.CheckedAt.Equal(at.now()) {
		t.Errorf("nothing new: %+v, changed %t", got, changed)
	}

	second := r.commit("main", map[string]string{"src/agents/po.md": "po 2"})
	at.move(time.Hour)
	b, changed := update(t, c, s)
	if !changed || b.Commit != second || !b.FetchedAt.Equal(at.now()) || files(t, b.Dir)["po.md"] != "po 2" {
		t.Errorf("%+v, changed %t", b, changed)
	}
	if files(t, a.Dir)["po.md"] != "po 1" {
		t.Error("who reads the copy before has lost it")
	}

	third := r.commit("main", map[string]string{"src/agents/po.md": "po 3"})
	update(t, c, s)
	if files(t, b.Dir)["po.md"] != "po 2" {
		t.Error("who reads the copy before has lost it")
	}
	want := []string{second, third, "source.json"}
	slices.Sort(want)
	if names := inPlace(t, c, s); !slices.Equal(names, want) {
		t.Errorf("in the cache: %q, want %q", names, want)
	}

	// Back to the one before, which needs no fetching.
	git(t, r.dir, "", "update-ref", "refs/heads/main", second)
	program, asked := recorder(t)
	c.Git = program
	back, changed := update(t, c, s)
	if !changed || back.Commit != second || files(t, back.Dir)["po.md"] != "po 2" || asked("fetch") != 0 {
		t.Errorf("%+v, changed %t, %d fetches", back, changed, asked("fetch"))
	}
	// Without its record, too, the one that was served last is.
	if err := os.Remove(filepath.Join(c.Folder, s.Key(), "source.json")); err != nil {
		t.Fatal(err)
	}
	if got := have(t, c, s); got.Commit != second {
		t.Errorf("served %s", got.Commit)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, _ := newCache(t)
	s, other := r.spec("#main"), r.spec("")
	if err := c.Remove(t.Context(), s); err != nil {
		t.Errorf("of nothing: %v", err)
	}
	update(t, c, s)
	kept, _ := update(t, c, other)
	for range 2 {
		if err := c.Remove(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Copy(s); !fault.Is(err, fault.NotFound) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	entries, err := os.ReadDir(c.Folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), s.Key()) && e.Name() != s.Key()+".lock" {
			t.Errorf("left: %s", e.Name())
		}
	}
	if got := have(t, c, other); got != kept {
		t.Errorf("the other one: %+v", got)
	}
	if got, changed := update(t, c, s); !changed || files(t, got.Dir)["README.md"] != "first" {
		t.Errorf("again: %+v, changed %t", got, changed)
	}
}
