//go:build unix

package git_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

func every(string) bool { return true }

// openHistory opens the history of a folder of the place.
func (p *place) openHistory(folder string) *git.History {
	p.t.Helper()
	h, err := git.OpenHistory(p.t.Context(), filepath.Join(p.project, folder))
	if err != nil || h == nil {
		p.t.Fatalf("%v, %v", h, err)
	}
	p.t.Cleanup(h.Close)
	return h
}

// TestHistoryIsThatOfGit checks that commits, files and changes are those that git names.
func TestHistoryIsThatOfGit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.sh(`cd project; git checkout -qb work; echo c >sub/c.txt; ln -s b.txt sub/link; git add sub; git commit -qm two; git tag -a -m x v1; git pack-refs --all
		git checkout -q main; git checkout -q work; git branch x/y; git update-ref refs/remotes/origin/main main; git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main; git gc -q`)
	h := p.openHistory("sub")
	commit := func(name string) string {
		got, err := h.Resolve(t.Context(), name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return got
	}
	for _, name := range []string{"HEAD", "main", "work", "v1", "x/y", "origin/main", "origin", "refs/heads/main", "heads/main", strings.TrimSpace(p.sh(`cd project; git rev-parse --short=9 main`))} {
		if want := strings.TrimSpace(p.sh(`cd project; git rev-parse ` + name + `^{commit}`)); commit(name) != want {
			t.Errorf("%s: got %q, want %q", name, commit(name), want)
		}
	}
	for _, name := range []string{"", "nothing", "../../../canary", "refs/../../x", "-h", "main^", "HEAD~1", strings.Repeat("0", 40), p.root} {
		if got := commit(name); got != "" {
			t.Errorf("%q: got %q", name, got)
		}
	}
	if got := h.DefaultBranch(); got != "refs/remotes/origin/main" {
		t.Errorf("got %q", got)
	}
	p.sh(`cd project; git tag origin/main work; git tag same main; git branch same main`)
	if got, err := h.Resolve(t.Context(), "origin/main"); got != "" || !fault.Is(err, fault.Conflict) {
		t.Errorf("a tag with the name of a branch: got %q, %v", got, err)
	}
	if full := "refs/remotes/origin/main"; commit(full) != commit("main") || commit("same") != commit("main") {
		t.Errorf("got %q and %q, want %q", commit(full), commit("same"), commit("main"))
	}
	roots, err := h.Roots(t.Context(), commit("HEAD"))
	if want := strings.TrimSpace(p.sh(`cd project; git rev-parse main`)); err != nil || !slices.Equal(roots, []string{want}) {
		t.Errorf("%v, %v, want %s", roots, err, want)
	}
	files, err := h.Read(t.Context(), commit("work"), func(path string) bool { return path != "b.txt" }, "b.txt", "c.txt", "link", "none")
	if err != nil || len(files) != 1 || string(files["c.txt"]) != "c\n" {
		t.Errorf("%q, %v", files, err)
	}
	changed, ok, err := h.Changed(t.Context(), commit("main"), commit("work"))
	if err != nil || !ok || !slices.Equal(changed, []string{"c.txt", "link", "new.txt"}) {
		t.Errorf("%v, %v, %v", changed, ok, err)
	}
	if _, ok, err = h.Changed(t.Context(), strings.Repeat("1", 40), commit("work")); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

// TestHistoryOfAShallowClone checks that what is not there is said, and not guessed.
func TestHistoryOfAShallowClone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.sh(`git -C project commit -qam two; git clone -q --depth 1 file://$PWD/project other; rm -rf project; mv other project`)
	h := p.openHistory("")
	head, err := h.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Roots(t.Context(), head); !h.IsShallow() || !fault.Is(err, fault.NotAllowed) || !strings.Contains(err.Error(), "shallow") {
		t.Errorf("got %v", err)
	}
	if files, err := h.Read(t.Context(), head, every, "a.txt"); err != nil || string(files["a.txt"]) != "a\nmore\n" {
		t.Errorf("%q, %v", files, err)
	}
}

// TestHistoryOfAPartialClone checks that a file which the clone lacks is not fetched.
func TestHistoryOfAPartialClone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.sh(`git -C project config uploadpack.allowFilter true; git -C project commit -qam two; git clone -q --filter=blob:none --no-checkout file://$PWD/project other; rm -rf project; mv other project`)
	h := p.openHistory("")
	head, err := h.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if files, err := h.Read(t.Context(), head, every, "a.txt"); err == nil {
		t.Errorf("got %q", files)
	}
}

// TestHistoryRunsNothing checks that git runs nothing that the repository names while its commits are read.
func TestHistoryRunsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		prepare, live string
		refused       string
	}{
		"monitor":     {prepare: `cd project; git config core.fsmonitor $TRAP`, live: "git status"},
		"differences": {prepare: `cd project; git config diff.external $TRAP; git config diff.x.textconv $TRAP; echo '* diff=x' >.gitattributes; git stash -q; git add .; git commit -q --allow-empty -m two; git stash pop -q; git add a.txt; git commit -qm three; git show HEAD^:a.txt >a.txt; git commit -qam four`, live: "git diff HEAD^ HEAD"},
		"filter":      {prepare: `cd project; git config filter.x.smudge $TRAP; echo '* filter=x' >.git/info/attributes; git config diff.x.textconv $TRAP`, live: "git cat-file --filters HEAD:a.txt"},
		"pager":       {prepare: `cd project; git config core.pager $TRAP; git config pager.rev-list true; git config alias.rev-list "!$TRAP"`},
		"replaced":    {prepare: `cd project; git commit -q --allow-empty -m two; git replace --graft HEAD`},
		"ssh":         {prepare: hollow + `git config remote.origin.url ssh://h/x; git config core.sshCommand $TRAP`, live: "git ls-tree HEAD", refused: "history"},
		"transport":   {prepare: hollow + `git config remote.origin.url "ext::$TRAP"; git config protocol.ext.allow always`, live: "git ls-tree HEAD", refused: "history"},
		"of another":  {prepare: `cd project; echo ../../../away >.git/objects/info/alternates`, refused: "takes objects from another"},
		"a pipe":      {prepare: `cd project; mkdir -p .git/refs/remotes/origin; mkfifo .git/refs/remotes/origin/HEAD .git/refs/remotes/origin/main`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.sh(c.prepare)
			if c.live != "" {
				p.sh(`cd project; ` + c.live + ` >/dev/null 2>&1 </dev/null || true`)
				if !p.sprung() {
					t.Fatal("the trap is none: git itself does not run it")
				}
			}
			err := func() error {
				h, err := git.OpenHistory(t.Context(), p.project)
				if err != nil {
					return err
				}
				defer h.Close()
				h.DefaultBranch()
				if got, err := h.Resolve(t.Context(), "origin/main"); got != "" || err != nil {
					t.Errorf("%q, %v", got, err)
				}
				head, err := h.Resolve(t.Context(), "HEAD")
				if err != nil {
					return err
				}
				if _, err = h.Roots(t.Context(), head); err != nil {
					return err
				}
				if _, _, err = h.Changed(t.Context(), head, head); err != nil {
					return err
				}
				files, err := h.Read(t.Context(), head, every, "a.txt")
				if err == nil && string(files["a.txt"]) != "a\n" {
					t.Errorf("got %q", files)
				}
				return err
			}()
			if p.sprung() {
				t.Error("the trap was run")
			}
			if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("got %v, want %q", err, c.refused)
			}
		})
	}
}

// TestRootAndHead: a repository is known by its first commit, in a clone and a fork of it too, and by nothing where that is not
// to be seen.
func TestRootAndHead(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.sh(`git clone -q project fork; cd fork; git commit -q --allow-empty -m two; git clone -q --depth 1 file://$PWD ../shallow; mkdir ../none; git init -q ../empty`)
	want := strings.TrimSpace(p.sh(`git -C project rev-parse HEAD`))
	for name, root := range map[string]string{"project": want, "project/sub": want, "fork": want, "shallow": "", "none": "", "empty": ""} {
		for range 2 { // the second time from memory
			if got, err := git.Root(t.Context(), filepath.Join(p.root, name)); got != root || err != nil {
				t.Errorf("%s: got %q, %v, want %q", name, got, err, root)
			}
		}
	}
	for name, head := range map[string]string{"project": want, "fork": strings.TrimSpace(p.sh(`git -C fork rev-parse HEAD`)), "none": "", "empty": ""} {
		if got, err := git.Head(filepath.Join(p.root, name)); got != head || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, head)
		}
	}
}
