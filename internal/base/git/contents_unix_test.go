//go:build unix

package git_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// TestContents checks the files of repositories in many states, and that reading them writes nothing.
func TestContents(t *testing.T) {
	const blobA, blobB = "78981922613b2afb6025042ff6bd878ac1994e85", "61780798228d17af2d34fce4cfbdf35556832472" // of "a\n" and "b\n"
	for name, c := range map[string]struct{ script, want string }{
		"as the place is":   {"", "a.txt: sub/b.txt:" + blobB + " sub/new.txt:"},
		"staged":            {"git add .", "a.txt:d49c2e72 sub/b.txt:" + blobB + " sub/new.txt:3e757656"},
		"deleted":           {"rm a.txt; git rm -q --cached sub/b.txt", "a.txt: sub/b.txt: sub/new.txt:"},
		"without commits":   {"rm -rf .git; git init -q; git add a.txt", "a.txt:d49c2e72 sub/b.txt: sub/new.txt:"},
		"left out":          {"echo c >sub/left.txt", "a.txt: sub/b.txt:" + blobB + " sub/new.txt:"},
		"a merge":           {"git add .; git commit -qm two; git checkout -qb side HEAD~1; echo other >>a.txt; git commit -qam three; git merge -q main >/dev/null || :", "a.txt: sub/b.txt:" + blobB + " sub/new.txt:3e757656"},
		"another within":    {"git init -q in; echo a >in/a.txt; cd in; git add .; git commit -qm in", "a.txt: in/a.txt:" + blobA + " sub/b.txt:" + blobB + " sub/new.txt:"},
		"a submodule":       {"git init -q in; echo a >in/a.txt; cd in; git add .; git commit -qm in; cd ..; git add in 2>/dev/null; echo n >in/n.txt", "a.txt: in/a.txt:" + blobA + " in/n.txt: sub/b.txt:" + blobB + " sub/new.txt:"},
		"one that is away":  {"git init -q in; cd in; git commit -qm in --allow-empty; cd ..; git add in 2>/dev/null; rm -rf in", "a.txt: in: sub/b.txt:" + blobB + " sub/new.txt:"},
		"no repository":     {"rm -rf .git", "none"},
		"a broken index":    {"echo rubbish >.git/index", "an error"},
		"objects elsewhere": {"mkdir -p .git/objects/info; echo /elsewhere >.git/objects/info/alternates", "an error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.sh("cd project; " + c.script)
			before := p.sh("cd project; find . -newermt '1970-01-02' -printf '%p %T@ %s\n' | sort")
			got, err := git.Contents(t.Context(), p.project, func(name string) bool { return strings.HasSuffix(name, "left.txt") })
			said := ""
			for _, file := range slices.Sorted(maps.Keys(got)) {
				id := got[file]
				if id != blobA && id != blobB {
					id = id[:min(len(id), 8)]
				}
				if file == "in" {
					id = ""
				}
				said += fmt.Sprintf(" %s:%s", file, id)
			}
			switch {
			case err != nil:
				said = "an error"
			case got == nil:
				said = "none"
			}
			if said = strings.TrimSpace(said); said != c.want {
				t.Errorf("got %s (%v), want %s", said, err, c.want)
			}
			if after := p.sh("cd project; find . -newermt '1970-01-02' -printf '%p %T@ %s\n' | sort"); after != before {
				t.Errorf("something was written:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// TestContentsOfAPart checks a folder below the top, and that a trap in the settings is not sprung.
func TestContentsOfAPart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.sh(`cd project; git config core.fsmonitor "$TRAP"; git config filter.x.clean "$TRAP"; echo '* filter=x' >.gitattributes`)
	got, err := git.Contents(t.Context(), filepath.Join(p.project, "sub"), func(string) bool { return false })
	if err != nil || !slices.Equal(slices.Sorted(maps.Keys(got)), []string{"b.txt", "new.txt"}) {
		t.Errorf("got %v, %v", got, err)
	}
	if p.sprung() {
		t.Error("a program named by the repository was run")
	}
	if none, err := git.Contents(t.Context(), os.TempDir(), func(string) bool { return true }); none != nil || err != nil {
		t.Skipf("SKIPPED: the temporary folder is in a repository: %v", err)
	}
}

// TestFiles checks the list of files in many states, and that reading it runs nothing.
func TestFiles(t *testing.T) {
	for name, c := range map[string]struct{ script, folder, want string }{
		"as the place is": {"", ".", "a.txt sub/b.txt sub/new.txt"},
		"ignored":         {"echo left.txt >.gitignore; echo c >left.txt; echo d >a.bak", ".", ".gitignore a.txt sub/b.txt sub/new.txt"},
		"a subfolder":     {"", "sub", "b.txt new.txt"},
		"deleted":         {"rm a.txt", ".", "a.txt sub/b.txt sub/new.txt"},
		"empty":           {"rm -rf * .git; git init -q", ".", ""},
		"another within":  {"git init -q in; echo a >in/a.txt", ".", "a.txt in/ sub/b.txt sub/new.txt"},
		"a submodule":     {"git init -q in; cd in; git commit -qm in --allow-empty; cd ..; git add in 2>/dev/null", ".", "a.txt in sub/b.txt sub/new.txt"},
		"a line break":    {"mv a.txt \"$(printf 'a\\nb')\"", ".", "a\nb a.txt sub/b.txt sub/new.txt"},
		"a hostile folder": {"git config core.fsmonitor \"$PWD/../trap\"; git config filter.x.clean \"$PWD/../trap\"; echo '* filter=x' >.gitattributes; echo more >>a.txt", ".",
			".gitattributes a.txt sub/b.txt sub/new.txt"},
		"no repository":  {"rm -rf .git", ".", "none"},
		"a broken index": {"echo rubbish >.git/index", ".", "an error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.sh("cd project; " + c.script)
			names, err := git.Files(t.Context(), filepath.Join(p.project, c.folder))
			slices.Sort(names)
			got := strings.Join(slices.Compact(names), " ")
			switch {
			case err != nil:
				got = "an error"
			case names == nil:
				got = "none"
			}
			if got != c.want {
				t.Errorf("got %q (%v), want %q", got, err, c.want)
			}
			if data, _ := os.ReadFile(p.canary); len(data) > 0 {
				t.Errorf("a program of the repository ran: %s", data)
			}
		})
	}
}
