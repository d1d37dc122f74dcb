//go:build unix

package git_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// TestOrders writes in every place that git obeys, and in some that it does not.
func TestOrders(t *testing.T) {
	for name, c := range map[string]struct {
		before, run string // from the project
		want        string // the beginnings of the names that differ, from the folder of the project
	}{
		"nothing":                  {"", "true", ""},
		"work":                     {"", "echo x > a.txt; git add -A; git commit -qm x; git tag v1; git stash list; git gc -q", ""},
		"a hook":                   {"", "echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
		"a hook that becomes one":  {"echo x > .git/hooks/pre-push; chmod 600 .git/hooks/pre-push", "chmod +x .git/hooks/pre-push", ".git/hooks/pre-push"},
		"a hook that goes":         {"echo x > .git/hooks/pre-push", "rm .git/hooks/pre-push", ".git/hooks/pre-push"},
		"a hook of the same time":  {"echo x > .git/hooks/pre-push", "touch -r .git/hooks/pre-push t; echo y > .git/hooks/pre-push; touch -r t .git/hooks/pre-push", ".git/hooks/pre-push"},
		"a setting":                {"", "git config core.fsmonitor ./evil", ".git/config"},
		"a setting of a tree":      {"git config extensions.worktreeConfig true", "git config --worktree core.pager ./evil", ".git/config.worktree"},
		"attributes":               {"", "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes", ".git/info/attributes"},
		"a rebase":                 {"", "mkdir .git/rebase-merge; echo exec evil > .git/rebase-merge/git-rebase-todo", ".git/rebase-merge/git-rebase-todo"},
		"a file that nobody names": {"echo > watch", "echo x > watch", ""},
		"a submodule":              {"git init -q ../o; git -C ../o commit -q --allow-empty -m o; git submodule --quiet add ../o other; mkdir -p .git/modules/other/hooks", "echo x > .git/modules/other/hooks/post-checkout; git -C other config core.pager evil", ".git/modules/other/config .git/modules/other/hooks/post-checkout"},
		"a link to the directory":  {"mv .git ../away; ln -s ../away .git", "git config core.pager evil", "../away/config"},
		"a linked tree that comes": {"", "git worktree add -q ../linked", ""},
		"one that moves":           {"git worktree add -q ../linked", "git worktree move ../linked ../moved", ""},
		"one that goes":            {"git worktree add -q ../linked", "git worktree remove ../linked", ""},
		"one led elsewhere":        {"git worktree add -q ../linked", "echo ../../../evil > .git/worktrees/linked/commondir", ".git/worktrees/linked/commondir"},
		"a setting of another one": {"git config extensions.worktreeConfig true; git worktree add -q ../linked",
			"git -C ../linked config --worktree core.pager x", ".git/worktrees/linked/config.worktree"},
		"a linked tree": {"git worktree add -q ../linked", "git -C ../linked config core.pager evil", ".git/config"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.sh("cd project; mkdir -p .git/hooks; " + c.before)
			before := git.Orders(p.project)
			p.sh("cd project; " + c.run)
			after := git.Orders(p.project)
			var got []string
			all := maps.Clone(before)
			maps.Copy(all, after)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				if rel, _ := filepath.Rel(p.project, name); before[name] != after[name] {
					got = append(got, filepath.ToSlash(rel))
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("it finds %q; want %q", got, c.want)
			}
		})
	}
}

// TestOrdersOfMoved looks from a linked tree that has moved, and from one that was led elsewhere.
func TestOrdersOfMoved(t *testing.T) {
	p := newPlace(t)
	p.sh("cd project; git worktree add -q ../linked")
	before := git.Orders(filepath.Join(p.project, "../linked"))
	p.sh("cd project; git worktree move ../linked ../moved")
	moved := filepath.Join(p.project, "../moved")
	if after := git.Orders(moved); !maps.Equal(before, after) || len(after) == 0 {
		t.Errorf("before %v, after %v", before, after)
	}
	for _, name := range []string{"commondir", "gitdir"} {
		p.sh("cd project; cp .git/worktrees/linked/" + name + " keep; echo /elsewhere > .git/worktrees/linked/" + name)
		if after := git.Orders(moved); name == "gitdir" && maps.Equal(before, after) {
			t.Errorf("%s was led elsewhere: %v", name, after)
		}
		p.sh("cd project; cp keep .git/worktrees/linked/" + name)
	}
}

// TestOrdersFromWithin looks from a folder below, from a linked tree and from a submodule.
func TestOrdersFromWithin(t *testing.T) {
	p := newPlace(t)
	p.sh("cd project; mkdir -p .git/hooks below/deep; git worktree add -q ../linked; git init -q ../o; git -C ../o commit -q --allow-empty -m o; git submodule --quiet add ../o other; mkdir -p .git/modules/other/hooks")
	for _, at := range []string{"below/deep", "../linked", "other"} {
		folder := filepath.Join(p.project, at)
		before := git.Orders(folder)
		hooks := filepath.Join(p.project, ".git/hooks")
		if at == "other" {
			hooks = filepath.Join(p.project, ".git/modules/other/hooks")
		}
		if err := os.WriteFile(filepath.Join(hooks, "post-checkout"), []byte(at), 0o600); err != nil {
			t.Fatal(err)
		}
		if after := git.Orders(folder); maps.Equal(before, after) {
			t.Errorf("%s: nothing has changed", at)
		}
	}
	if got := git.Orders(t.TempDir()); len(got) > 0 {
		t.Errorf("outside: %v", got)
	}
}

// TestMoves looks before and after each way to move a branch or another reference.
func TestMoves(t *testing.T) {
	for name, c := range map[string]struct {
		run                      string
		head, branch, refs, tags bool
	}{
		"work":        {"echo x > b.txt; git add b.txt", false, false, false, false},
		"a commit":    {"git commit -qam x", true, false, false, false},
		"a branch":    {"git checkout -qb other", false, true, true, false},
		"no branch":   {"git checkout -q --detach", false, true, true, false},
		"a reset":     {"git commit -qam x; git reset -q --hard HEAD~1; git commit -q --allow-empty -m y", true, false, false, false},
		"a stash":     {"git stash -q", false, false, true, true},
		"a tag":       {"git tag v1", false, false, true, true},
		"other heads": {"git branch other", false, false, true, false},
		"packed":      {"git pack-refs --all", false, false, false, false},
		"a fetch":     {"git init -q ../o; git -C ../o commit -q --allow-empty -m o; git fetch -q ../o main:refs/remotes/o/main", false, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.sh("cd project; git branch old; git tag v0")
			before, err := git.Look(t.Context(), p.project)
			if err != nil || before.Branch != "main" {
				t.Fatal(before, err)
			}
			p.sh("cd project; " + c.run)
			after, err := git.Look(t.Context(), p.project)
			if err != nil {
				t.Fatal(err)
			}
			if head, branch := after.Head != before.Head, after.Branch != before.Branch; head != c.head || branch != c.branch {
				t.Errorf("head %v, branch %v", head, branch)
			}
			if refs, tags := after.Refs != before.Refs, after.Tags != before.Tags; refs != c.refs || tags != c.tags {
				t.Errorf("references %v, tags %v", refs, tags)
			}
		})
	}
}
