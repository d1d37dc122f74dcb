//go:build unix

package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// TestMerge merges branches of many shapes: task into target, which is not checked out.
func TestMerge(t *testing.T) {
	const fork = `git stash -qu; git branch target; git switch -qc task; echo t >t.txt; git add .; git commit -qm task; `
	const both = fork + `git switch -q target; echo o >o.txt; git add .; git commit -qm target; git switch -q main; `
	for name, c := range map[string]struct {
		prepare   string
		parents   int // of the new commit, 0 if the branch is at one of those that are there
		at        string
		conflicts string
		code      fault.Code
	}{
		"both changed":  {prepare: both, parents: 2},
		"ahead":         {prepare: fork, at: "task"},
		"nothing to do": {prepare: fork + "git switch -q main; git branch -f target task; git branch -f task main", at: "target"},
		"the same":      {prepare: fork + "git switch -q main; git branch -f target task", at: "target"},
		"packed":        {prepare: both + "git pack-refs --all; git gc -q", parents: 2},
		"from a linked": {prepare: both + "git worktree add -q ../linked; mv ../project ../old; mv ../linked ../project; git -C ../old worktree repair ../project", parents: 2},
		"from the task": {prepare: both + "git switch -q task", parents: 2},
		"sha256":        {prepare: "rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm one; touch x; " + both, parents: 2},
		"shallow": {
			prepare: both + "cd ..; git clone -q --no-single-branch --depth 2 file://$PWD/project other\n" +
				"rm -rf project; mv other project; cd project\ngit branch task origin/task; git branch target origin/target",
			parents: 2,
		},
		"with a module": {prepare: `git clone -q . ../other; git submodule --quiet add ../other lib; git commit -qm two lib .gitmodules; ` + both, parents: 2},
		"renamed": {
			prepare: both + "git switch -q task; git mv sub/b.txt c.txt; git commit -qm r; git switch -q target; echo z >>sub/b.txt; git commit -qam z; git switch -q main",
			parents: 2,
		},
		"a conflict": {
			prepare:   both + "git switch -q task; echo 1 >a.txt; git commit -qam 1; git switch -q target; echo 2 >a.txt; git commit -qam 2; git switch -q main",
			conflicts: "a.txt",
		},
		"odd conflicts": {
			prepare: both + "n=$(printf 'a\\nü \"')\n" +
				"for b in task target; do git switch -q $b; echo $b >\"$n\"; git rm -q a.txt; echo $b >sub/b.txt; git add .; git commit -qm 1; done; git switch -q main",
			conflicts: "a\nü \"|sub/b.txt",
		},
		// Attributes are those of the folder.
		"union": {
			prepare: both +
				"for b in task target; do git switch -q $b; echo '* merge=union' >.gitattributes; echo $b >a.txt; git add .; git commit -qm 1; done; git switch -q main",
			conflicts: "a.txt",
		},
		"checked out":  {prepare: both + "git switch -q target", code: fault.NotAllowed},
		"in a linked":  {prepare: both + "git worktree add -q ../linked target", code: fault.NotAllowed},
		"no target":    {prepare: both + "git branch -D -q target", code: fault.NotFound},
		"no task":      {prepare: both + "git branch -D -q task", code: fault.NotFound},
		"unrelated":    {prepare: both + "git switch -q --orphan z; git commit -q --allow-empty -m z; git branch -f task; git switch -q main", code: fault.Storage},
		"objects gone": {prepare: both + "rm -f .git/objects/$(git rev-parse task | sed 's,^..,&/,')", code: fault.NotFound},
		"locked":       {prepare: both + "touch .git/refs/heads/target.lock", code: fault.Storage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.line(c.prepare)
			refs := func() string {
				return p.line("find \"$(git rev-parse --git-common-dir)/refs\" -type f -exec cat {} +; git status --porcelain")
			}
			before, target := refs(), p.line("git rev-parse -q --verify target || true")
			got, conflicts, err := git.Merge(t.Context(), p.project, "target", "task", "merge it", "Ann <a@x>", when)
			switch {
			case c.code != "":
				if !fault.Is(err, c.code) || fault.From(err).Hint == "" || got != "" || refs() != before {
					t.Errorf("got %q, %v, want %s", got, err, c.code)
				}
				return
			case err != nil:
				t.Fatal(err)
			case c.conflicts != "":
				slices.Sort(conflicts)
				if strings.Join(conflicts, "|") != c.conflicts || got != "" || refs() != before {
					t.Errorf("got %q with %q", got, conflicts)
				}
				return
			}
			if now := p.line("git rev-parse target"); now != got || conflicts != nil {
				t.Errorf("target is at %s, got %s, %q", now, got, conflicts)
			}
			if c.at != "" && got != p.line("git rev-parse "+c.at) {
				t.Errorf("it is not that of %s", c.at)
			}
			if c.parents > 0 {
				if want := target + " " + p.line("git rev-parse task"); p.line("git log -1 --format=%P target") != want {
					t.Errorf("its parents are not %s", want)
				}
				if about := p.line("git log -1 --format='%an %cn %at %s' target"); about != "Ann Ann 1714972089 merge it" {
					t.Errorf("git log says %q", about)
				}
				p.line("git switch -q --detach target; test -f t.txt; test -f o.txt")
				want := p.line("git checkout -q $(git rev-parse target^1); git -c user.name=x merge -q -m x task; git rev-parse HEAD^{tree}")
				if got := p.line("git rev-parse target^{tree}"); got != want {
					t.Errorf("the tree is %s, git makes %s", got, want)
				}
			}
			for commit, want := range map[string]bool{"task": true, "target": true, "main": true} {
				if is, err := git.IsMerged(t.Context(), p.project, p.line("git rev-parse "+commit), "target"); is != want || err != nil {
					t.Errorf("%s is in target: %v, %v", commit, is, err)
				}
			}
		})
	}
}

// TestCheckMerge has gits of many versions.
func TestCheckMerge(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	if err := git.CheckMerge(t.Context()); !fault.Is(err, fault.NotFound) {
		t.Errorf("without git: %v", err)
	}
	for said, want := range map[string]string{
		"git version 2.34.1": "2.34.1", "git version 1.99": "1.99", "git version 2.37.1 (Apple Git-137.1)": "2.37.1", "git version 2.9.0.windows.1": "2.9.0.windows.1",
		"git version 2.38.0": "", "git version 2.39.5 (Apple Git-154)": "", "git version 2.100.0.rc1": "", "git version 3.0": "", "something else": "",
	} {
		if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho '"+said+"'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		err := git.CheckMerge(t.Context())
		isRefused := fault.Is(err, fault.NotAllowed) && strings.Contains(err.Error(), want) && strings.Contains(fault.From(err).Hint, "2.38")
		if isRefused != (want != "") || (err != nil) != isRefused {
			t.Errorf("%s: %v", said, err)
		}
	}
}

// TestSetBranch moves branches, and asks what the clone has.
func TestSetBranch(t *testing.T) {
	p := newPlace(t)
	p.line("git commit -qam two; git tag -a -m x tagged")
	one, two, none := p.line("git rev-parse HEAD~1"), p.line("git rev-parse HEAD"), strings.Repeat("1", 40)
	for _, c := range []struct {
		branch, commit, old string
		code                fault.Code
	}{
		{"x/y", one, "", ""}, {"x/y", two, "", fault.Conflict}, {"x/y", two, two, fault.Conflict}, {"x/y", two, one, ""}, {"x/y", one, two, ""}, {"x", one, "", fault.Storage},
		{"z", two, one, fault.Conflict}, {"z", none, "", fault.NotFound}, {"z", "HEAD", "", fault.NotFound}, {"z", one[:10], "", fault.NotFound}, {"z", "", "", fault.NotFound},
		{"-z", one, "", fault.InvalidArgument}, {"../z", one, "", fault.InvalidArgument}, {"z", one, "HEAD", fault.InvalidArgument}, {"z", one, "--stdin", fault.InvalidArgument},
		{"z", p.line("git rev-parse HEAD:a.txt"), "", fault.NotFound}, {"z", p.line("git rev-parse HEAD^{tree}"), "", fault.NotFound},
	} {
		before, _ := git.BranchCommit(p.project, c.branch)
		err := git.SetBranch(t.Context(), p.project, c.branch, c.commit, c.old)
		after, _ := git.BranchCommit(p.project, c.branch)
		if c.code == "" && (err != nil || after != c.commit) {
			t.Errorf("%+v: %v, it is at %q", c, err, after)
		}
		if c.code != "" && (!fault.Is(err, c.code) || fault.From(err).Hint == "" || after != before) {
			t.Errorf("%+v: %v, it is at %q", c, err, after)
		}
	}
	for commit, want := range map[string]bool{one: true, two: true, none: false, "HEAD": false, "": false, "--all": false} {
		if has, err := git.HasCommit(t.Context(), p.project, commit); has != want || err != nil {
			t.Errorf("%q: %v, %v", commit, has, err)
		}
		if is, err := git.IsMerged(t.Context(), p.project, commit, "x/y"); is != (commit == one) || err != nil {
			t.Errorf("%q in x/y: %v, %v", commit, is, err)
		}
		if is, err := git.IsMerged(t.Context(), p.project, commit, two); is != want || err != nil {
			t.Errorf("%q in two: %v, %v", commit, is, err)
		}
	}
	if _, err := git.IsMerged(t.Context(), p.project, one, "nothing"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	p.line("rm -f .git/objects/$(git rev-parse HEAD~1 | sed 's,^..,&/,')")
	if has, err := git.HasCommit(t.Context(), p.project, two); has || err != nil {
		t.Errorf("without its parent: %v, %v", has, err)
	}
}
