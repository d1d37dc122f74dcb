package gitsource_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
)

// TestBrokenRecord has the record damaged in every way; the copy is served, is due, and
// the next update mends it.
func TestBrokenRecord(t *testing.T) {
	t.Parallel()
	edit := func(do func(m map[string]any)) func(t *testing.T, file string) {
		return func(t *testing.T, file string) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m := map[string]any{}
			if err := json.Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			do(m)
			if data, err = json.Marshal(m); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	text := func(text string) func(t *testing.T, file string) {
		return func(t *testing.T, file string) {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, harm := range map[string]func(t *testing.T, file string){
		"missing":              func(_ *testing.T, file string) { _ = os.Remove(file) },
		"empty":                text(""),
		"rubbish":              text("{\"version\": 1, \x00"),
		"huge":                 edit(func(m map[string]any) { m["problem"] = strings.Repeat("x", 1<<20) }),
		"no object":            text("[1]"),
		"newer":                edit(func(m map[string]any) { m["version"] = 2 }),
		"of another remote":    edit(func(m map[string]any) { m["url"] = "https://example.org/other" }),
		"of another ref":       edit(func(m map[string]any) { m["ref"] = "other" }),
		"leads elsewhere":      edit(func(m map[string]any) { m["commit"] = "../../.." }),
		"names the folder":     edit(func(m map[string]any) { m["commit"] = "." }),
		"names a missing copy": edit(func(m map[string]any) { m["commit"] = strings.Repeat("0", 40) }),
		"names no copy":        edit(func(m map[string]any) { delete(m, "commit") }),
		"is a folder":          func(_ *testing.T, file string) { _ = os.Remove(file); _ = os.MkdirAll(filepath.Join(file, "x"), 0o700) },
		"is a link to nowhere": func(_ *testing.T, file string) { _ = os.Remove(file); _ = os.Symlink("nowhere", file) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			c, at := newCache(t)
			s := r.spec("#main")
			first, _ := update(t, c, s)
			r.commit("main", map[string]string{"README.md": "second"})
			good, _ := update(t, c, s)
			// The clock of a disk may be coarse: make it certain which one is older.
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(first.Root, old, old); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(c.Folder, s.Key(), "source.json")
			harm(t, file)

			got := have(t, c, s)
			if got.Commit != good.Commit || got.Root != good.Root || files(t, got.Dir)["README.md"] != "second" || !got.CheckedAt.IsZero() || got.FetchedAt.IsZero() {
				t.Errorf("%+v", got)
			}
			if !c.Due(s) {
				t.Error("it is not due")
			}
			// Nothing is lost if the remote is away just then.
			away := r.dir + ".away"
			if err := os.Rename(r.dir, away); err != nil {
				t.Fatal(err)
			}
			if got, _, err := c.Update(t.Context(), s); err == nil || got.Commit != good.Commit {
				t.Errorf("%+v, %v", got, err)
			}
			if err := os.Rename(away, r.dir); err != nil {
				t.Fatal(err)
			}
			if got, changed := update(t, c, s); changed || got.Commit != good.Commit || !got.CheckedAt.Equal(at.now()) || got.Problem != "" {
				t.Errorf("mended: %+v, changed %t", got, changed)
			}
			if got := have(t, c, s); got.Commit != good.Commit || c.Due(s) {
				t.Errorf("mended: %+v", got)
			}
		})
	}
}

// TestLeftovers has the files that killed processes leave.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		served bool // there is a copy before
		fetch  int  // how many fetches the next update takes
		leave  func(t *testing.T, r repo, c *gitsource.Cache, s gitsource.Spec, dir string)
	}{
		"half a checkout": {true, 1, func(t *testing.T, _ repo, _ *gitsource.Cache, _ gitsource.Spec, dir string) {
			half := filepath.Join(dir, ".checkout.tmp-0011223344556677", "tree", "src")
			if err := os.MkdirAll(half, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(half, "x"), nil, 0o400); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, ".source.json.tmp-0011223344556677"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		"half of a removed remote": {true, 1, func(t *testing.T, _ repo, _ *gitsource.Cache, _ gitsource.Spec, dir string) {
			if err := os.MkdirAll(filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".tmp-0011223344556677", "x"), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		"a copy that no record names yet": {true, 0, complete},
		"the first copy, without record":  {false, 0, complete},
		"an emptied copy": {true, 1, func(t *testing.T, r repo, _ *gitsource.Cache, _ gitsource.Spec, dir string) {
			if err := os.MkdirAll(filepath.Join(dir, r.at("main")), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			cache, _ := newCache(t)
			s := r.spec("#main")
			var good gitsource.Copy
			if c.served {
				good, _ = update(t, cache, s)
				r.commit("main", map[string]string{"README.md": "second"})
			}
			c.leave(t, r, cache, s, filepath.Join(cache.Folder, s.Key()))
			if c.served {
				if got := have(t, cache, s); got != good {
					t.Errorf("served %+v, not %+v", got, good)
				}
			} else if got := have(t, cache, s); got.Commit != r.at("main") || !cache.Due(s) {
				t.Errorf("served %+v", got)
			}
			program, asked := recorder(t)
			cache.Git = program
			got, changed := update(t, cache, s)
			want := git(t, r.dir, "", "show", "main:README.md")
			if changed != c.served || got.Commit != r.at("main") || files(t, got.Dir)["README.md"] != want || asked("fetch") != c.fetch {
				t.Errorf("%+v, changed %t, %d fetches", got, changed, asked("fetch"))
			}
			for _, dir := range []string{cache.Folder, filepath.Join(cache.Folder, s.Key())} {
				if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) != 0 {
					t.Errorf("left: %q, %v", left, err)
				}
			}
		})
	}
}

// TestOthersAreLeftAlone has another remote removed just now.
func TestOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, _ := newCache(t)
	under := filepath.Join(c.Folder, "."+r.spec("#other").Key()+".tmp-0011223344556677", "x")
	if err := os.MkdirAll(under, 0o700); err != nil {
		t.Fatal(err)
	}
	s := r.spec("#main")
	update(t, c, s)
	if err := c.Remove(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(under); err != nil {
		t.Errorf("what another process does was removed: %v", err)
	}
}

// complete leaves a copy as it is when its process was killed before the record was written.
func complete(t *testing.T, r repo, _ *gitsource.Cache, s gitsource.Spec, dir string) {
	other, _ := newCache(t)
	got, _ := update(t, other, s)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(got.Root, filepath.Join(dir, r.at("main"))); err != nil {
		t.Fatal(err)
	}
}
