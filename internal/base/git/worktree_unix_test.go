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

// line runs a script in the project and returns its output without the white space around it.
func (p *place) line(script string) string {
	p.t.Helper()
	return strings.TrimSpace(p.sh("cd project; " + script))
}

// state returns all references, work trees and files of the repository that a refused call must leave as they are.
func (p *place) state() string {
	p.t.Helper()
	return p.sh(`cd project; git for-each-ref; git worktree list; git status --porcelain -uall --ignored
		cksum "$(git rev-parse --git-dir)/index" 2>/dev/null || true
		cd ..; find . -path '*/objects' -prune -o -path ./canary -prune -o -print | sort`)
}

// TestAddWorktree makes work trees of repositories in many shapes, and removes them.
func TestAddWorktree(t *testing.T) {
	for name, c := range map[string]struct {
		prepare, main string
		more          string // a check in the new work tree, with the output "yes"
	}{
		"plain":             {},
		"from below":        {main: "sub"},
		"a branch there is": {prepare: `git branch task/one; git commit -qam two`, more: `test "$(git rev-parse HEAD)" = "$(git rev-parse main~1)" && echo yes`},
		"from a linked one": {prepare: `git worktree add -q ../linked`, main: "../linked"},
		"packed":            {prepare: `git pack-refs --all; git gc -q`},
		"of a submodule":    {prepare: `git clone -q . ../other; git submodule --quiet add ../other lib`, main: "lib"},
		"with a submodule":  {prepare: `git clone -q . ../other; git submodule --quiet add ../other lib; git commit -qm two lib .gitmodules`},
		"sparse":            {prepare: `git add .; git commit -qm two; git sparse-checkout set --cone sub`, more: `test -f a.txt && echo yes`},
		"sparse by folder":  {prepare: `git add .; mkdir far; echo x >far/x; git add .; git commit -qm two; git sparse-checkout set --cone sub`, more: `test -f far/x && echo yes`},
		"ends of lines": {prepare: `printf '*.bat text eol=crlf\n' >.gitattributes; printf 'a\r\n' >x.bat; git add .; git commit -qm two`,
			more: `grep -q "$(printf '\r')" x.bat && echo yes`},
		"ends by settings": {prepare: `git config core.autocrlf true; printf 'a\n' >x.txt; git add .; git commit -qm two`,
			more: `grep -q "$(printf '\r')" x.txt && echo yes`},
		"names": {prepare: `printf x >"a b"; printf x >"$(printf 'a\nb')"; printf x >ü; printf x >-n; printf x >:x; git add .; git commit -qm two`,
			more: `test -f ./-n && test -f ü && echo yes`},
		"links and modes": {prepare: `ln -s a.txt link; printf x >run; chmod +x run; git add .; git commit -qm two`,
			more: `test -L link && test -x run && echo yes`},
		"person's filter": {prepare: `echo '*.bin filter=lfs' >.gitattributes; echo large >x.bin; git add .; git commit -qm two`,
			more: `test "$(cat x.bin)" = large && echo yes`},
		"sha256":            {prepare: `rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm one`},
		"shallow":           {prepare: `git commit -qam two; cd ..; git clone -q --depth 1 file://$PWD/project other; rm -rf project; mv other project; cd project`},
		"settings per tree": {prepare: `git config extensions.worktreeConfig true; git config --worktree user.name x`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.line(c.prepare)
			main, folder := filepath.Join(p.project, c.main), filepath.Join(p.root, "trees", "deep", "one")
			commit := strings.TrimSpace(p.sh("cd project/" + c.main + "; git rev-parse HEAD"))
			if err := git.AddWorktree(t.Context(), main, folder, "task/one", commit); err != nil {
				t.Fatal(err)
			}
			at := "cd '" + folder + "'; "
			if got := p.sh(at + "git status --porcelain -uall; git rev-parse --abbrev-ref HEAD"); got != "task/one\n" {
				t.Errorf("git says %q", got)
			}
			if got := p.sh(at + "cat ../.gitignore"); got != "*\n" {
				t.Errorf("ignored is %q", got)
			}
			if c.more != "" && p.sh(at+c.more) != "yes\n" {
				t.Error("it is not as git makes it")
			}
			if got, err := git.BranchCommit(main, "task/one"); err != nil || got != strings.TrimSpace(p.sh(at+"git rev-parse HEAD")) {
				t.Errorf("the branch is at %q, %v", got, err)
			}
			if got := git.RecordedWorktrees(main); !slices.Contains(got, folder) {
				t.Errorf("recorded are %q", got)
			}
			if c.main != "lib" {
				if got := git.WorktreeOf(filepath.Join(folder, "sub")); got != p.project {
					t.Errorf("it is of %q", got)
				}
			}
			p.sh(at + "echo x >new")
			if err := git.RemoveWorktree(t.Context(), main, folder); !fault.Is(err, fault.NotAllowed) || !strings.Contains(err.Error(), "?? new") {
				t.Errorf("with a new file: %v", err)
			}
			p.sh(at + "mv new new.bak")
			if err := git.RemoveWorktree(t.Context(), main, folder); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(folder); err == nil || slices.Contains(git.RecordedWorktrees(main), folder) {
				t.Error("it is still there")
			}
			if err := git.AddWorktree(t.Context(), main, folder, "task/one", ""); err != nil {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

// TestAddWorktreeLeavesNothing has each reason for which a work tree cannot be made.
func TestAddWorktreeLeavesNothing(t *testing.T) {
	none := strings.Repeat("1", 40)
	for name, c := range map[string]struct {
		prepare, folder, branch, commit string
		code                            fault.Code
	}{
		"folder exists":         {prepare: "mkdir ../tree", code: fault.Conflict},
		"folder is a dead link": {prepare: "ln -s nowhere ../tree", code: fault.Conflict},
		"branch of main":        {branch: "main", code: fault.Conflict},
		"branch of another":     {prepare: "git worktree add -q -b other ../other", branch: "other", code: fault.Conflict},
		"below a branch":        {branch: "main/x", code: fault.Conflict},
		"above a branch":        {prepare: "git branch task/one/two", code: fault.Storage},
		"no commit":             {commit: none, code: fault.NotFound},
		"no commit at all":      {commit: "", branch: "x", code: fault.NotFound},
		"option for a commit":   {commit: "--all", code: fault.NotFound},
		"option for a branch":   {branch: "-f", code: fault.InvalidArgument},
		"path for a branch":     {branch: "../../x", code: fault.InvalidArgument},
		"parent is a file":      {folder: "project/a.txt/x/y", code: fault.Storage},
		"recorded and gone":     {prepare: "git worktree add -q -b other ../tree; rm -rf ../tree", code: fault.Conflict},
		"missing files":         {prepare: "rm -f .git/objects/$(git rev-parse HEAD:sub/b.txt | sed 's,^..,&/,')", folder: "x/y/tree", code: fault.Storage},
		"a branch, not files":   {prepare: "git branch old; rm -f .git/objects/$(git rev-parse HEAD:sub/b.txt | sed 's,^..,&/,')", branch: "old", code: fault.Storage},
		"objects of another":    {prepare: "mkdir ../away; echo $PWD/../away >.git/objects/info/alternates", code: fault.NotAllowed},
		"somebody else's":       {prepare: `mkdir ../away; mv .git ../away; echo "gitdir: $PWD/../away/.git" >.git`, code: fault.NotAllowed},
		"no repository":         {prepare: "rm -rf .git", code: fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			head := p.line("git rev-parse HEAD")
			p.line(c.prepare)
			state := p.state
			if name == "no repository" || name == "objects of another" {
				state = func() string { return p.sh("find . | sort") }
			}
			before := state()
			commit, branch, folder := head, "task/one", "tree"
			if c.commit != "" || name == "no commit at all" {
				commit = c.commit
			}
			if c.branch != "" {
				branch = c.branch
			}
			if c.folder != "" {
				folder = c.folder
			}
			err := git.AddWorktree(t.Context(), p.project, filepath.Join(p.root, folder), branch, commit)
			if !fault.Is(err, c.code) || fault.From(err).Hint == "" {
				t.Errorf("%v, want %s", err, c.code)
			}
			if after := state(); after != before {
				t.Errorf("something is left:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// TestCheckWorktree has repositories of which no work tree can be made, or none that is known as theirs.
func TestCheckWorktree(t *testing.T) {
	p := newPlace(t)
	p.line(`git stash -qu; git config uploadpack.allowFilter true; cd ..; git clone -q --filter=blob:none --no-checkout file://$PWD/project partial
		git clone -q --filter=blob:none file://$PWD/project filled; git -C partial sparse-checkout init --cone; git -C partial checkout -q
		git clone -q --separate-git-dir apart.git project apart; git -C apart config core.worktree $PWD/apart
		git clone -q project whole; git -C whole -c protocol.file.allow=always submodule --quiet add ../project lib
		git clone -q project blocked; git -C blocked checkout -q -b task`)
	commit := p.line("git rev-parse HEAD")
	for folder, want := range map[string]fault.Code{
		"project": "", "whole": "", "filled": "", "whole/lib": fault.NotAllowed, "apart": fault.NotAllowed, "partial": fault.NotAllowed, "blocked": fault.Conflict,
	} {
		folder = filepath.Join(p.root, folder)
		before := p.sh("cd '" + folder + "'; git for-each-ref; ls -a . ..; git count-objects")
		err := git.CheckWorktree(t.Context(), folder, "task/one", commit)
		isRefused := fault.Is(err, want) && fault.From(err).Hint != ""
		if isRefused != (want != "") || (err != nil) != isRefused {
			t.Errorf("%s: %v, want %s", folder, err, want)
		}
		if after := p.sh("cd '" + folder + "'; git for-each-ref; ls -a . ..; git count-objects"); after != before {
			t.Errorf("%s: it is\n%s\nwas\n%s", folder, after, before)
		}
		if made := git.AddWorktree(t.Context(), folder, folder+".one", "task/one", commit); want == "" && made != nil {
			t.Errorf("%s: %v", folder, made)
		}
	}
}

// TestRemoveWorktree has the states of a work tree in which it is kept, and those in which it goes.
func TestRemoveWorktree(t *testing.T) {
	for name, c := range map[string]struct {
		prepare string // in the work tree
		code    fault.Code
	}{
		"clean":           {prepare: "true"},
		"ignored":         {prepare: "touch x.bak"},
		"gone":            {prepare: "rm -rf ../tree"},
		"changed":         {prepare: "echo x >>a.txt", code: fault.NotAllowed},
		"staged":          {prepare: "echo x >n; git add n; rm n", code: fault.NotAllowed},
		"new":             {prepare: "touch n", code: fault.NotAllowed},
		"detached":        {prepare: "git checkout -q --detach; git commit -q --allow-empty -m x", code: fault.NotAllowed},
		"locked":          {prepare: "git worktree lock .", code: fault.NotAllowed},
		"of a submodule":  {prepare: "git clone -q . ../other; git submodule --quiet add ../other lib; git commit -qm x", code: fault.NotAllowed},
		"something else":  {prepare: "rm -rf ../tree; mkdir ../tree; cd ../tree; echo x >y", code: fault.NotAllowed},
		"another's place": {prepare: "rm -rf ../tree; cd ..; git clone -q project tree", code: fault.NotAllowed},
		"moved":           {prepare: "git -C ../project worktree move ../tree ../new", code: fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.sh("git -C project worktree add -q -b task ../tree; git -C project worktree add -q -b gone ../gone; rm -rf gone; cd tree; " + c.prepare)
			folder := filepath.Join(p.root, "tree")
			before := p.state()
			err := git.RemoveWorktree(t.Context(), p.project, folder)
			if c.code == "" {
				want := []string{filepath.Join(p.root, "gone")}
				_, there := os.Stat(folder)
				if got := git.RecordedWorktrees(p.project); err != nil || there == nil || !slices.Equal(got, want) {
					t.Errorf("%v; recorded are %q", err, got)
				}
				return
			}
			if !fault.Is(err, c.code) || fault.From(err).Hint == "" {
				t.Errorf("%v, want %s", err, c.code)
			}
			if after := p.state(); after != before {
				t.Errorf("it is\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// TestWorktreeOf takes only the word of both sides.
func TestWorktreeOf(t *testing.T) {
	p := newPlace(t)
	p.sh(`git -C project worktree add -q ../tree; mkdir toy; cp tree/.git toy; git clone -q --bare project bare; git -C bare worktree add -q ../ofbare
		git clone -q project other; git -C project submodule --quiet add ../other lib; mkdir alone`)
	for folder, want := range map[string]string{
		"tree": p.project, "tree/sub": p.project, "toy": "", "project": "", "ofbare": "", "project/lib": "", "alone": "", "nowhere": "",
	} {
		if got := git.WorktreeOf(filepath.Join(p.root, folder)); got != want {
			t.Errorf("%s is of %q, want %q", folder, got, want)
		}
	}
}

// TestBranches compares the names taken for branches with those that git takes.
func TestBranches(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{
		"a", "a/b", "ü", "v1.2", "a@b", "x-", "a.b/c", "", "-a", "a b", "a..b", "a/", "/a", "a//b",
		".a", "a/.b", "a.lock", "a.lock/b", "a.", "@", "a@{1}", "HEAD", "a:b", "a^", "a~1", "a?", "a*", "a[b", `a\b`, "a\nb", "a\x7f", "refs/heads/../x", "\xff",
	} {
		_, err := git.BranchCommit(p.project, name)
		git := p.sh(`git check-ref-format --branch "` + strings.ReplaceAll(name, `\`, `\\`) + `" >/dev/null 2>&1 && echo yes || true`)
		isTaken := git == "yes\n" && name != "\xff" && name != "@" // any bytes are good enough for git, and @ is HEAD
		if isTaken != (err == nil) {
			t.Errorf("%q: %v, and git says %q", name, err, git)
		}
	}
}
