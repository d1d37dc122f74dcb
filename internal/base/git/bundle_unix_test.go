//go:build unix

package git_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// work has a commit with files of every kind on the branch task.
const work = `git stash -qu; git switch -qc task; ln -s a.txt link; printf x >run; chmod +x run
	printf y >"$(printf 'a\nü')"; git mv sub/b.txt c.txt; echo t >>a.txt; git add .; git commit -qm t; git switch -q main`

// TestBundle brings commits from one clone into another.
func TestBundle(t *testing.T) {
	const clone = `; git clone -q -b main --single-branch file://$PWD ../other`
	for name, c := range map[string]struct {
		prepare, from, to, folder string
	}{
		"one commit":   {prepare: work + clone},
		"several":      {prepare: work + "; git switch -q task; git rm -q a.txt; git commit -qm u; git commit -q --allow-empty -m v; git switch -q main" + clone},
		"a merge":      {prepare: work + clone + "; git switch -q task; git merge -q --no-ff -m m $(git commit-tree -p main -m side main^{tree})"},
		"forked":       {prepare: work + "; git commit -q --allow-empty -m two" + clone},
		"all of it":    {prepare: work + "; git init -q ../other", from: "-"},
		"into shallow": {prepare: "git commit -qam two; " + work + "; git clone -q -b main --depth 1 file://$PWD ../other"},
		"from shallow": {prepare: "git commit -qam two; git clone -q file://$PWD ../other; git clone -q --depth 1 file://$PWD ../x\n" +
			"rm -rf ../project; mv ../x ../project; cd ../project; touch z; " + work},
		"into a linked":  {prepare: work + clone + "; git -C ../other worktree add -q ../more", folder: "more"},
		"from a linked":  {prepare: work + clone + "; " + linkedNow},
		"packed":         {prepare: work + clone + "; git gc -q"},
		"sha256":         {prepare: "rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm one; touch z; " + work + clone},
		"with a module":  {prepare: `git clone -q . ../lib; git submodule --quiet add ../lib lib; git commit -qm two lib .gitmodules; ` + work + clone},
		"once more":      {prepare: work + clone + "; git -C ../other fetch -q origin task"},
		"person's":       {prepare: "echo '*.bin filter=lfs' >.gitattributes; echo large >x.bin; " + work + clone},
		"ends of lines":  {prepare: "git config core.autocrlf true; printf 'a\\r\\n' >x; " + work + clone},
		"an annotation?": {prepare: work + "; git tag -a -m x task2 task" + clone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.line(c.prepare)
			from, to := p.line("git rev-parse main"), p.line("git rev-parse task")
			if c.from == "-" {
				from = ""
			}
			data, err := git.Bundle(t.Context(), p.project, from, to)
			if err != nil || len(data) == 0 {
				t.Fatalf("%d bytes, %v", len(data), err)
			}
			folder := filepath.Join(p.root, "other")
			if c.folder != "" {
				folder = filepath.Join(p.root, c.folder)
			}
			at := "cd '" + folder + "'; "
			before := p.sh(at + "git for-each-ref; git status --porcelain")
			for range 2 {
				if head, err := git.Unbundle(t.Context(), folder, data); head != to || err != nil {
					t.Fatalf("got %q, %v", head, err)
				}
			}
			if after := p.sh(at + "git for-each-ref; git status --porcelain"); after != before {
				t.Errorf("it is\n%s\nwas\n%s", after, before)
			}
			if got, want := p.sh(at+"git ls-tree -r "+to), p.sh("cd project; git ls-tree -r "+to); got != want {
				t.Errorf("files are\n%s\nwant\n%s", got, want)
			}
			p.sh(at + "git branch got " + to + "; git fsck --strict 2>&1; git cat-file --batch-check --batch-all-objects >/dev/null")
			if err := git.SetBranch(t.Context(), folder, "set", to, ""); err != nil {
				t.Error(err)
			}
			for _, same := range []string{from, to} {
				if none, err := git.Bundle(t.Context(), p.project, to, same); same != "" && (none != nil || err != nil) && name != "forked" {
					t.Errorf("of the same: %d bytes, %v", len(none), err)
				}
			}
		})
	}
}

// TestUnbundleByOldGit takes a bundle over by a git before 2.36, which knows no format of git ls-tree.
func TestUnbundleByOldGit(t *testing.T) {
	p := newPlace(t)
	p.line(work + "; git clone -q -b main --single-branch file://$PWD ../other")
	to := p.line("git rev-parse task")
	data, err := git.Bundle(t.Context(), p.project, p.line("git rev-parse main"), to)
	if err != nil {
		t.Fatal(err)
	}
	p.sh("mkdir bin; printf '#!/bin/sh\\nfor a; do case $a in --format=*) exit 129;; esac; done\\nexec '$(command -v git)' \"$@\"\\n' >bin/git; chmod +x bin/git")
	t.Setenv("PATH", filepath.Join(p.root, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if head, err := git.Unbundle(t.Context(), filepath.Join(p.root, "other"), data); head != to || err != nil {
		t.Errorf("got %q, %v", head, err)
	}
}

// TestBundleIsRefused has bundles that cannot be made.
func TestBundleIsRefused(t *testing.T) {
	p := newPlace(t)
	head, none := p.line("git rev-parse HEAD"), strings.Repeat("1", 40)
	large := p.line("head -c 34000000 /dev/urandom >large; git -c core.compression=0 add large; git commit -qm large; git rev-parse HEAD")
	for name, c := range map[string]struct {
		from, to string
		code     fault.Code
	}{
		"no start": {none, head, fault.NotFound}, "no end": {head, none, fault.NotFound}, "a name": {head, "HEAD", fault.NotFound}, "an option": {"", "--all", fault.NotFound},
		"a range": {head + ".." + head, head, fault.NotFound}, "too large": {head, large, fault.NotAllowed},
	} {
		if data, err := git.Bundle(t.Context(), p.project, c.from, c.to); !fault.Is(err, c.code) || fault.From(err).Hint == "" || data != nil {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

// TestUnbundleIsRefused has bundles that others made, with every fault. Nothing is taken over then.
func TestUnbundleIsRefused(t *testing.T) {
	p := newPlace(t)
	p.line(work + "; git clone -q -b main --single-branch file://$PWD ../other; git init -q ../empty; git init -q --object-format=sha256 ../sha256")
	from, to := p.line("git rev-parse main"), p.line("git rev-parse task")
	good, err := git.Bundle(t.Context(), p.project, from, to)
	if err != nil {
		t.Fatal(err)
	}
	header, pack, _ := bytes.Cut(good, []byte("\n\n"))
	begin := string(header)
	join := func(header string, pack []byte) []byte { return append([]byte(header+"\n\n"), pack...) }
	flip := func(at int) []byte {
		out := bytes.Clone(good)
		out[len(out)-at] ^= 1
		return out
	}
	made := func(script string) []byte {
		return []byte(p.sh("cd project; rm -f ../b; " + script + "; cat ../b"))
	}
	bundled := func(script string) []byte { // a commit of the script, printed by its hash, on the branch main
		return made("c=$(" + script + "); git update-ref refs/heads/bad $c; git bundle create -q ../b bad ^main; git update-ref -d refs/heads/bad")
	}
	missing := made(`t=$(printf '100644 blob %s\tx\n' 2222222222222222222222222222222222222222 | git mktree --missing); c=$(git commit-tree -p main -m x $t)
		printf '# v2 git bundle\n-%s x\n%s refs/heads/x\n\n' $(git rev-parse main) $c >../b; printf '%s\n%s\n' $c $t | git pack-objects -q --stdout >>../b`)
	unrelated := made(`c=$(git commit-tree -p main -m y main^{tree}); d=$(git commit-tree -p $c -m z main^{tree})
		printf '# v2 git bundle\n%s refs/heads/x\n\n' $d >../b; echo $d | git pack-objects -q --stdout >>../b`)
	state := func() string {
		return p.sh("cd other; find . -type f | sort | tr '\\n' '\\0' | xargs -0 cksum; find ../empty")
	}
	before := state()
	for name, c := range map[string]struct {
		data   []byte
		folder string
		code   fault.Code
	}{
		"nothing":              {nil, "other", fault.InvalidArgument},
		"text":                 {[]byte("hello\n\nPACK"), "other", fault.InvalidArgument},
		"only its header":      {header, "other", fault.InvalidArgument},
		"no pack":              {join(begin, nil), "other", fault.InvalidArgument},
		"half":                 {good[:len(good)-30], "other", fault.InvalidArgument},
		"damaged":              {flip(60), "other", fault.InvalidArgument},
		"damaged sum":          {flip(1), "other", fault.InvalidArgument},
		"a later version":      {join(strings.Replace(begin, "v2", "v9", 1), pack), "other", fault.InvalidArgument},
		"without files":        {join("# v3 git bundle\n@filter=blob:none\n"+strings.SplitN(begin, "\n", 2)[1], pack), "other", fault.InvalidArgument},
		"an option for a base": {join("# v2 git bundle\n---all\n"+to+" refs/heads/x", pack), "other", fault.InvalidArgument},
		"no head":              {join("# v2 git bundle\n-"+from+" x", pack), "other", fault.InvalidArgument},
		"several heads":        {join(begin+"\n"+from+" refs/heads/x", pack), "other", fault.InvalidArgument},
		"another head":         {join(strings.ReplaceAll(begin, to, strings.Repeat("3", 40)), pack), "other", fault.InvalidArgument},
		"a blob for a head":    {join(strings.ReplaceAll(begin, to, p.line("git rev-parse task:run")), pack), "other", fault.InvalidArgument},
		"base not told":        {join("# v2 git bundle\n"+to+" refs/heads/x", pack), "empty", fault.InvalidArgument},
		"lacks its base":       {good, "empty", fault.NotFound},
		"other hashes":         {good, "sha256", fault.NotFound},
		"a missing file":       {missing, "other", fault.InvalidArgument},
		"a missing commit":     {unrelated, "other", fault.InvalidArgument},
		"a file .git": {bundled(`t=$(printf '100644 blob %s\t.git\n' $(git rev-parse main:a.txt) |
			git mktree); git commit-tree -p main -m x $t`), "other", fault.InvalidArgument},
		"a file ..": {bundled(`t=$(printf '100644 blob %s\t..\n' $(git rev-parse main:a.txt) |
			git mktree); git commit-tree -p main -m x $t`), "other", fault.InvalidArgument},
		"no author": {bundled(`printf 'tree %s\nparent %s\n\nx\n' $(git rev-parse main^{tree} main) |
			git hash-object -t commit -w --stdin --literally`), "other", fault.InvalidArgument},
		"a module that runs": {bundled(`printf '[submodule "x"]\n\tpath = x\n\turl = -uevil\n' >m
			t=$(printf '100644 blob %s\t.gitmodules\n' $(git hash-object -w m) | git mktree); git commit-tree -p main -m x $t`), "other", fault.InvalidArgument},
		"a few bytes for many large files": {bundled(`b=$(head -c 50000000 /dev/zero | git hash-object -w --stdin)
			t=$(for i in $(seq 100); do printf '100644 blob %s\tx%d\n' $b $i; done | git mktree); git commit-tree -p main -m x $t`), "other", fault.InvalidArgument},
		"a few bytes for many folders": {bundled(`t=$(printf '100644 blob %s\ta\n' $(git rev-parse main:a.txt) | git mktree)
			for depth in 1 2 3 4 5 6 7 8; do t=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\t%s\n' $t $i; done | git mktree); done
			git commit-tree -p main -m x $t`), "other", fault.InvalidArgument},
		"no repository":         {good, "nowhere", fault.Storage},
		"too large":             {make([]byte, 33<<20), "other", fault.NotAllowed},
		"an endless first line": {bytes.Repeat([]byte("#"), 1<<20), "other", fault.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			head, err := git.Unbundle(t.Context(), filepath.Join(p.root, c.folder), c.data)
			if !fault.Is(err, c.code) || fault.From(err).Hint == "" || head != "" || len(fault.From(err).Message) > 3000 {
				t.Errorf("%q, %v, want %s", head, err, c.code)
			}
			if after := state(); after != before {
				t.Errorf("it is\n%s\nwas\n%s", after, before)
			}
		})
	}
}
