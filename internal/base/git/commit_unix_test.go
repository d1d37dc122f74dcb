//go:build unix

package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// when is the time of the commits.
var when = time.Date(2024, 5, 6, 7, 8, 9, 0, time.FixedZone("", 2*3600))

// TestCommitFiles commits files in repositories of many shapes. left is what git status says then, committed what the
// commit has, by git's letters, leftOut the sentences about paths that cannot be committed.
func TestCommitFiles(t *testing.T) {
	for name, c := range map[string]struct {
		prepare, folder string
		files           []string
		committed, left string
		leftOut         []string
	}{
		"one of two":          {files: []string{"a.txt"}, committed: "M a.txt", left: "?? sub/new.txt"},
		"a new one":           {files: []string{"sub/new.txt"}, committed: "A sub/new.txt", left: " M a.txt"},
		"both, twice":         {files: []string{"a.txt", "sub/new.txt", "a.txt"}, committed: "M a.txt|A sub/new.txt"},
		"from a folder":       {folder: "sub", files: []string{"new.txt"}, committed: "A sub/new.txt", left: " M a.txt"},
		"deleted":             {prepare: "rm a.txt", files: []string{"a.txt"}, committed: "D a.txt", left: "?? sub/new.txt"},
		"renamed":             {prepare: "git checkout -q a.txt; mv a.txt c.txt", files: []string{"a.txt", "c.txt"}, committed: "D a.txt|A c.txt", left: "?? sub/new.txt"},
		"a folder for a file": {prepare: "rm a.txt; mkdir a.txt; echo x >a.txt/x", files: []string{"a.txt/x"}, committed: "D a.txt|A a.txt/x", left: "?? sub/new.txt"},
		"a file for a folder": {prepare: "rm -r sub; echo x >sub", files: []string{"sub", "sub/b.txt"}, committed: "A sub|D sub/b.txt", left: " M a.txt"},
		"unchanged":           {files: []string{"sub/b.txt"}, left: " M a.txt|?? sub/new.txt"},
		"not there":           {files: []string{"nothing", "no/thing"}, left: " M a.txt|?? sub/new.txt"},
		"none":                {left: " M a.txt|?? sub/new.txt"},
		"others staged": {
			prepare: "echo s >staged; git add staged; echo more >>staged; git rm -q --cached sub/b.txt", files: []string{"a.txt"},
			committed: "M a.txt", left: "AM staged|D  sub/b.txt|?? sub/b.txt|?? sub/new.txt",
		},
		"staged otherwise":  {prepare: "git add a.txt; echo third >>a.txt", files: []string{"a.txt"}, committed: "M a.txt", left: "?? sub/new.txt"},
		"staged and undone": {prepare: "git add a.txt; git show HEAD:a.txt >a.txt", files: []string{"a.txt"}, left: "MM a.txt|?? sub/new.txt"},
		"intended":          {prepare: "git add -N sub/new.txt", files: []string{"sub/new.txt"}, committed: "A sub/new.txt", left: " M a.txt"},
		"ignored": {
			prepare: "echo x >x.bak; mkdir n; echo n/ >.git/info/exclude; echo x >n/x",
			files:   []string{"x.bak", "n/x", "a.txt"}, committed: "M a.txt", left: "?? sub/new.txt",
		},
		"ignored, known": {
			prepare: "echo x >x.bak; git add -f x.bak; git commit -qm two; echo y >x.bak",
			files:   []string{"x.bak"}, committed: "M x.bak", left: " M a.txt|?? sub/new.txt",
		},
		"ignored, a star": {prepare: "echo x >'*'; echo '\\*' >.gitignore", files: []string{"*"}, left: " M a.txt|?? .gitignore|?? sub/new.txt"},
		"no patterns": {
			prepare: `printf x >'*'; printf x >':x'; printf x >'-n'; printf x >':(glob)**'; printf x >'a?txt'`, files: []string{"*", ":x", "-n", ":(glob)**", "a?txt"},
			committed: "A *|A -n|A :(glob)**|A :x|A a?txt", left: " M a.txt|?? sub/new.txt",
		},
		"names": {
			prepare: `printf x >"a b"; printf x >"$(printf 'a\nb')"; printf x >ü; printf x >'"'`,
			files:   []string{"a b", "a\nb", "ü", "\""}, committed: "A \"|A a\nb|A a b|A ü", left: " M a.txt|?? sub/new.txt",
		},
		"a link": {
			prepare: `ln -s sub link; rm sub/b.txt; ln -s nowhere sub/b.txt`,
			files:   []string{"link", "sub/b.txt"}, committed: "A link|T sub/b.txt", left: " M a.txt|?? sub/new.txt",
		},
		"a link for a folder": {
			prepare: `mv sub real; ln -s real sub`, files: []string{"a.txt", "sub", "sub/b.txt", "real/b.txt"},
			committed: "M a.txt|A real/b.txt|A sub|D sub/b.txt", left: "?? real/new.txt",
		},
		"a link for a folder, not named": {
			prepare: `mv sub real; ln -s real sub`, files: []string{"a.txt", "sub/b.txt"},
			committed: "M a.txt", left: " D sub/b.txt|?? real/b.txt|?? real/new.txt|?? sub",
			leftOut: []string{"sub is a link, so that no file behind it is in this repository"},
		},
		"another repository": {
			prepare: `git init -q in; echo x >in/x`, files: []string{"a.txt", "in/", "in/x"},
			committed: "M a.txt", left: "?? in/|?? sub/new.txt", leftOut: []string{"in is a repository of its own"},
		},
		"another repository with commits": {
			prepare: `git clone -q . in; rm sub/b.txt`, files: []string{"in/", "sub/b.txt"},
			committed: "D sub/b.txt", left: " M a.txt|?? in/|?? sub/new.txt", leftOut: []string{"in is a repository of its own"},
		},
		"another repository for a folder": {
			prepare: `rm -r sub; git init -q sub`, files: []string{"a.txt", "sub/", "sub/b.txt"},
			committed: "M a.txt", left: " D sub/b.txt", leftOut: []string{"sub is a repository of its own"},
		},
		"odd paths": {
			prepare: "mkfifo pipe; ln -s sub link; mkdir ../out; echo x >../out/x; ln -s ../out away",
			files: []string{
				"a.txt", "../a.txt", "sub/../a.txt", "/etc/passwd", "", "a\x00b", ".git/config", "sub/.GIT/config", "GIT~1/config", ".git. /config",
				"sub", "sub/", "pipe", "link/b.txt", "away/x",
			},
			committed: "M a.txt", left: "?? away|?? link|?? sub/new.txt",
			leftOut: []string{
				"../a.txt is not a path of a file", "sub/../a.txt is not a path of a file", "/etc/passwd is not a path of a file", " is not a path of a file",
				"a\\u0000b is not a path of a file", ".git/config is not a path of a file", "sub/.GIT/config is not a path of a file",
				"GIT~1/config is not a path of a file", ".git. /config is not a path of a file",
				"away is a link, so that no file behind it is in this repository", "link is a link, so that no file behind it is in this repository",
				"pipe is not a file", "sub is not a file",
			},
		},
		"odd paths alone": {files: []string{"../a.txt"}, left: " M a.txt|?? sub/new.txt", leftOut: []string{"../a.txt is not a path of a file"}},
		"executable":      {prepare: `chmod +x sub/b.txt`, files: []string{"sub/b.txt"}, committed: "M sub/b.txt", left: " M a.txt|?? sub/new.txt"},
		"modes ignored":   {prepare: `git config core.fileMode false; chmod +x sub/b.txt`, files: []string{"sub/b.txt"}, left: " M a.txt|?? sub/new.txt"},
		"ends of lines": {
			prepare: `git config core.autocrlf true; printf 'b\r\n' >sub/b.txt; printf 'a\r\nz\r\n' >a.txt`,
			files:   []string{"a.txt", "sub/b.txt"}, committed: "M a.txt", left: " M sub/b.txt|?? sub/new.txt",
		},
		"ends of lines, attributes": {
			prepare: `git config core.autocrlf true; echo '*.dat -text' >.git/info/attributes; printf 'x\r\n' >x.dat`,
			files:   []string{"x.dat"}, committed: "A x.dat", left: " M a.txt|?? sub/new.txt",
		},
		"ignored by the repository's settings": {
			prepare: `git config core.excludesFile ../rules; printf '*.log\n!keep.log\n' >../rules; echo '!b.log' >.git/info/exclude; touch a.log b.log keep.log x.bak`,
			files:   []string{"a.log", "b.log", "keep.log", "x.bak"}, committed: "A b.log|A keep.log|A x.bak", left: " M a.txt|?? sub/new.txt",
		},
		"ignored by nothing": {prepare: `git config core.excludesFile nothing; touch x.bak`, files: []string{"x.bak"}, committed: "A x.bak", left: " M a.txt|?? sub/new.txt"},
		"person's": {
			prepare: `echo '*.bin filter=lfs' >.gitattributes; echo large >x.bin`,
			files:   []string{"x.bin", ".gitattributes"}, committed: "A .gitattributes|A x.bin", left: " M a.txt|?? sub/new.txt",
		},
		"no commit yet":  {prepare: `rm -rf .git; git init -q`, files: []string{"a.txt"}, committed: "A a.txt", left: "?? sub/b.txt|?? sub/new.txt"},
		"nothing at all": {prepare: `rm -rf .git; git init -q`, files: []string{"z"}, left: "?? a.txt|?? sub/b.txt|?? sub/new.txt"},
		"linked": {
			prepare: `git worktree add -q ../other; mv ../project ../moved; mv ../other ../project
				cd ../project; git -C ../moved worktree repair ../project; echo x >>a.txt; touch z`,
			files: []string{"a.txt"}, committed: "M a.txt", left: "?? z",
		},
		"submodule": {
			prepare: `git clone -q . ../other; git submodule --quiet add ../other lib; echo x >>lib/a.txt`,
			files:   []string{"a.txt"}, committed: "M a.txt", left: "A  .gitmodules|AM lib|?? sub/new.txt",
		},
		"a later submodule": {
			prepare: `git clone -q . ../other; git submodule --quiet add ../other lib; git commit -qm lib
				git -C lib commit -qm two --allow-empty; echo x >>lib/a.txt; touch lib/z`,
			files: []string{"a.txt", "lib", "lib/a.txt", "lib/z"}, committed: "M a.txt|M lib", left: " M lib|?? sub/new.txt",
			leftOut: []string{"lib is a repository of its own"},
		},
		"a new submodule": {
			prepare: `git clone -q . ../other; git submodule --quiet add ../other lib`,
			files:   []string{".gitmodules", "lib"}, committed: "A .gitmodules|A lib", left: " M a.txt|?? sub/new.txt",
		},
		"no submodule": {
			prepare: `git clone -q . ../other; git submodule --quiet add ../other lib; git commit -qm lib; git submodule --quiet deinit -f lib; git rm -q --cached lib; rmdir lib`,
			files:   []string{"lib"}, committed: "D lib", left: " M a.txt|?? sub/new.txt",
		},
		"in a submodule": {
			prepare: `git clone -q . ../other; git submodule --quiet add ../other lib; git -C lib switch -qc x; echo x >>lib/a.txt`, folder: "lib",
			files: []string{"a.txt"}, committed: "M a.txt",
		},
		"sparse": {
			prepare: `git stash -qu; mkdir far; echo x >far/x; git add .; git commit -qm two; git sparse-checkout set --cone sub; echo x >>a.txt`,
			files:   []string{"a.txt", "far/x"}, committed: "M a.txt",
		},
		"sparse index": {
			prepare: `git stash -qu; mkdir far; echo x >far/x; git add .; git commit -qm two; git sparse-checkout set --cone --sparse-index sub; echo x >>a.txt`,
			files:   []string{"a.txt", "far/x"}, committed: "M a.txt",
		},
		"index in parts": {
			prepare: `git update-index --split-index; git config core.splitIndex true; git add sub; git config core.untrackedCache true; git status >/dev/null`,
			files:   []string{"a.txt"}, committed: "M a.txt", left: "A  sub/new.txt",
		},
		"sha256": {
			prepare: `rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm one; echo x >>a.txt; touch z`,
			files:   []string{"a.txt"}, committed: "M a.txt", left: "?? z",
		},
		"shallow": {
			prepare: `git commit -qam two; cd ..; git clone -q --depth 1 file://$PWD/project other; rm -rf project; mv other project; echo x >>project/a.txt`,
			files:   []string{"a.txt"}, committed: "M a.txt",
		},
		"partial clone": {
			prepare: `git config uploadpack.allowFilter true; cd ..
				git clone -q --filter=blob:none file://$PWD/project other; rm -rf project; mv other project; echo x >>project/a.txt`,
			files: []string{"a.txt"}, committed: "M a.txt",
		},
		"packed branch": {prepare: `git switch -qc feature/x; git pack-refs --all`, files: []string{"a.txt"}, committed: "M a.txt", left: "?? sub/new.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.line(c.prepare)
			folder := filepath.Join(p.project, c.folder)
			at := "cd '" + folder + "'; cd \"$(git rev-parse --show-toplevel)\"; "
			before := strings.TrimSpace(p.sh(at + "git rev-parse -q --verify HEAD || true"))
			hash, leftOut, err := git.CommitFiles(t.Context(), folder, git.Commit{Files: c.files, Message: " one\n\ntwo \x1b[2J\n", Author: "Ann <ann@example.org>", At: when})
			if err != nil {
				t.Fatal(err)
			}
			if got := lang.English.SayAll(leftOut); !slices.Equal(got, c.leftOut) {
				t.Errorf("left out are %q, want %q", got, c.leftOut)
			}
			head := strings.TrimSpace(p.sh(at + "git rev-parse -q --verify HEAD || true"))
			show := func(script string) string {
				text := strings.TrimSuffix(strings.ReplaceAll(p.sh(at+script), "\x00", "|"), "|")
				return text
			}
			if left := show("git status --porcelain -z --no-renames -uall"); left != c.left {
				t.Errorf("git status says %q, want %q", left, c.left)
			}
			if c.committed == "" {
				if hash != "" || head != before {
					t.Errorf("there is a commit %q", hash)
				}
				return
			}
			if hash != head || head == before {
				t.Errorf("got %q, HEAD is %q", hash, head)
			}
			parts := strings.Split(show("git diff-tree --root -r -z --no-commit-id --name-status --no-renames HEAD"), "|")
			var committed []string
			for i := 0; i+1 < len(parts); i += 2 {
				committed = append(committed, parts[i]+" "+parts[i+1])
			}
			if got := strings.Join(committed, "|"); got != c.committed {
				t.Errorf("it has %q, want %q", got, c.committed)
			}
			about := show(`git log -1 --format='%an %ae %cn %ce %at %cI %P|%B'`)
			want := "Ann ann@example.org Ann ann@example.org 1714972089 2024-05-06T07:08:09+02:00 " + before + "|one\n\ntwo \\u001b[2J"
			if strings.TrimSpace(about) != want {
				t.Errorf("git log says %q, want %q", about, want)
			}
			p.sh(at + "git fsck --strict 2>&1")
			if log := show("git reflog -1 --format=%gs HEAD"); log != "commit: one\n" {
				t.Errorf("the reflog says %q", log)
			}
		})
	}
}

// TestUnreadableFile has a file that this program may not read, such as one of a container, beside another.
func TestUnreadableFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("SKIPPED: root may read everything")
	}
	p := newPlace(t)
	p.line("chmod 000 sub/new.txt")
	hash, leftOut, err := git.CommitFiles(t.Context(), p.project, git.Commit{Files: []string{"a.txt", "sub/new.txt"}, Message: "x"})
	if told := lang.English.SayAll(leftOut); err != nil || !slices.Equal(told, []string{"sub/new.txt cannot be read"}) {
		t.Errorf("left out are %q, %v", told, err)
	}
	if got := p.line("git diff-tree -r --no-commit-id --name-only " + hash); got != "a.txt" {
		t.Errorf("it has %q", got)
	}
}

// TestCommitIsRefused has what cannot be committed; nothing changes then.
func TestCommitIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		prepare, message string
		code             fault.Code
	}{
		"no message":         {message: " \n", code: fault.InvalidArgument},
		"no branch":          {prepare: "git checkout -q --detach", code: fault.NotAllowed},
		"in a merge":         {prepare: "git commit -qam two; git checkout -qb x HEAD^; echo y >a.txt; git commit -qam x; ! git merge -q main >/dev/null", code: fault.NotAllowed},
		"locked":             {prepare: "touch .git/index.lock", code: fault.Conflict},
		"branch locked":      {prepare: "touch .git/refs/heads/main.lock", code: fault.Storage},
		"objects of another": {prepare: "mkdir ../away; echo $PWD/../away >.git/objects/info/alternates", code: fault.NotAllowed},
		"somebody else's":    {prepare: `mkdir ../away; mv .git ../away; echo "gitdir: $PWD/../away/.git" >.git`, code: fault.NotAllowed},
		"an unknown format":  {prepare: `git config extensions.odd yes`, code: fault.NotAllowed},
		"a broken index":     {prepare: `echo x >.git/index`, code: fault.Storage},
		"no repository":      {prepare: `rm -rf .git`, code: fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.line(c.prepare)
			message := c.message
			if message == "" {
				message = "x"
			}
			const all = `cd project; find . -path '*/objects/*' -prune -o -type f -print | sort | tr '\n' '\0' | xargs -0 cksum`
			before := p.sh(all)
			hash, _, err := git.CommitFiles(t.Context(), p.project, git.Commit{Files: []string{"a.txt"}, Message: message})
			if !fault.Is(err, c.code) || fault.From(err).Hint == "" || hash != "" {
				t.Errorf("%q, %v, want %s", hash, err, c.code)
			}
			if after := p.sh(all); after != before {
				t.Errorf("something has changed:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// TestCommitOfSomebodyElse checks that a commit made meanwhile is kept, and the person's index too. The filter of the
// person makes it.
func TestCommitOfSomebodyElse(t *testing.T) {
	p := newPlace(t)
	p.sh(`printf '#!/bin/sh\ncat\ncd "$(dirname "$0")/project"
unset $(git rev-parse --local-env-vars); git update-ref HEAD $(git commit-tree -p HEAD -m theirs "HEAD^{tree}")\n' >meanwhile; 
		chmod +x meanwhile
		cd project; echo 'a.txt filter=mine' >.gitattributes; git add sub`)
	settings := filepath.Join(p.root, "gitconfig")
	if err := os.WriteFile(settings, []byte(person+"[filter \"mine\"]\n\tclean = "+p.root+"/meanwhile\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", settings)
	hash, _, err := git.CommitFiles(t.Context(), p.project, git.Commit{Files: []string{"a.txt"}, Message: "ours"})
	if hash != "" || !fault.Is(err, fault.Conflict) {
		t.Errorf("got %q, %v", hash, err)
	}
	if got := p.line("git log --format=%s; git -c filter.mine.clean=cat status --porcelain"); !strings.HasPrefix(got, "theirs\n") ||
		strings.Contains(got, "ours") || !strings.Contains(got, "A  sub/new.txt") {
		t.Errorf("git says %q", got)
	}
}

// TestBusyIndex has another git hold the index, and write it, while a commit is made: it waits, and gives up at last.
func TestBusyIndex(t *testing.T) {
	p := newPlace(t)
	for name, c := range map[string]struct {
		last  int // the wait after which the index is free, 0 if it never is
		wait  error
		waits int
		code  fault.Code // of the error
	}{
		"for a while": {last: 3, waits: 3},
		"for good":    {waits: 39, code: fault.Conflict},
		"given up":    {wait: context.Canceled, waits: 1, code: fault.Internal},
	} {
		p.line("rm -f .git/index.lock; git reset -q --hard; echo more >>a.txt; echo new >sub/new.txt; touch .git/index.lock")
		waits := 0
		hash, _, err := git.CommitFiles(t.Context(), p.project, git.Commit{Files: []string{"a.txt"}, Message: "x", Wait: func(context.Context, time.Duration) error {
			if waits++; waits == c.last {
				p.line("rm .git/index.lock; git add sub")
			}
			return c.wait
		}})
		isRight := err == nil
		if c.code != "" {
			isRight = fault.Is(err, c.code) || errors.Is(err, c.wait)
		}
		if isMade := hash != ""; !isRight || waits != c.waits || isMade != (c.code == "") {
			t.Errorf("%s: %q, %v after %d waits", name, hash, err, waits)
		}
		want := " M a.txt\n?? sub/new.txt"
		if c.code == "" {
			want = "A  sub/new.txt"
		}
		if got := p.line("git status --porcelain"); got != strings.TrimSpace(want) {
			t.Errorf("%s: git status says %q", name, got)
		}
	}
}

// TestAuthor checks whom a commit names, by all that a person can be called.
func TestAuthor(t *testing.T) {
	p := newPlace(t)
	for author, want := range map[string]string{
		"": "bmad-mcp <bmad-mcp@localhost>", "Ann": "Ann <>", "Ann <ann@x.org>": "Ann <ann@x.org>",
		"<ann@x.org>": "ann@x.org <>", "... <x@y>": "bmad-mcp <bmad-mcp@localhost>",
		"A\nx parent 1 <x\n@y>": "Ax parent 1 <x@y>", "A <b> <c@d>": "A <b c@d>",
		"Ann <ann@x.org…": "Ann <ann@x.org…>", "\xff <x>": "bmad-mcp <bmad-mcp@localhost>", "Ä. Ö. <ä@x>": "Ä. Ö <ä@x>",
	} {
		p.line("echo x >>a.txt")
		hash, _, err := git.CommitFiles(t.Context(), p.project, git.Commit{Files: []string{"a.txt"}, Message: "x", Author: author})
		if err != nil {
			t.Errorf("%q: %v", author, err)
			continue
		}
		if got := p.line("git log -1 --format='%an <%ae>' " + hash); got != want {
			t.Errorf("%q: got %q, want %q", author, got, want)
		}
	}
}
