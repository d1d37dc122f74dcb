//go:build unix

package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// newRemote returns a place whose project is a clone of a bare repository, called remote.git, by an address. Over ssh the
// other machine is this one.
func newRemote(t *testing.T, address string) *place {
	t.Helper()
	p := newPlace(t)
	p.sh(`printf '#!/bin/sh\nfor last; do true; done\nexec env -u GIT_CONFIG_GLOBAL sh -c "$last"\n' >ssh; chmod +x ssh; git clone -q --bare project remote.git
		cd project; git remote add -- origin "$(echo '` + address + `' | sed "s,ROOT,` + p.root + `,")"; git update-ref refs/remotes/origin/main main`)
	t.Setenv("GIT_SSH_COMMAND", filepath.Join(p.root, "ssh"))
	return p
}

// linkedNow makes the project a linked work tree.
const linkedNow = "git worktree add -q ../linked; mv ../project ../old; mv ../linked ../project; git -C ../old worktree repair ../project"

// TestPush pushes to remotes with each transport that works without a network, and fetches from them.
func TestPush(t *testing.T) {
	for name, c := range map[string]struct{ address, prepare string }{
		"path":      {address: "ROOT/remote.git", prepare: "mkdir -p ../remote.git/hooks; echo x >../remote.git/hooks/pre-receive.sample"},
		"beside":    {address: "../remote.git"},
		"file":      {address: "file://ROOT/remote.git"},
		"ssh":       {address: "ssh://git@host/ROOT/remote.git"},
		"scp":       {address: "git@host:ROOT/remote.git"},
		"work tree": {address: "ROOT/remote", prepare: "git clone -q ../project ../remote"},
		"linked":    {address: "ROOT/remote.git", prepare: linkedNow},
		"shallow": {address: "ROOT/remote.git", prepare: "git push -q origin main; cd ..; git clone -q --depth 1 file://$PWD/remote.git x\n" +
			"rm -rf project; mv x project; cd project; git switch -qC main"},
		"only one": {address: "ROOT/remote.git", prepare: "git remote rename origin other"},
		"by a condition": {address: "ssh://git@host/ROOT/remote.git", prepare: `unset GIT_SSH_COMMAND; git config -f ~/.gitconfig "includeIf.gitdir:$PWD/.path" more
			git config -f ~/more core.sshCommand $PWD/../ssh`},
		"push by a rule": {address: "https://127.0.0.1:1/remote.git", prepare: `git config -f ~/.gitconfig "url.ssh://git@host/$PWD/../.pushInsteadOf" https://127.0.0.1:1/
			git config -f ~/.gitconfig url.https://127.0.0.1:1/.insteadOf "ssh://git@host/$PWD/../"`},
		"push address": {address: "https://127.0.0.1:1/x", prepare: `git config remote.origin.pushUrl $PWD/../remote.git`},
		"push default": {address: "https://127.0.0.1:1/x", prepare: `git remote add fork ../remote.git; git remote add a x; git config -f ~/.gitconfig remote.pushDefault fork`},
		"by a rule":    {address: "https://example.org/remote.git", prepare: `git config -f ~/.gitconfig url.$PWD/../.insteadOf https://example.org/`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newRemote(t, c.address)
			if strings.Contains(c.prepare, "~/.gitconfig") {
				home := t.TempDir()
				if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(person), 0o600); err != nil {
					t.Fatal(err)
				}
				t.Setenv("HOME", home)
			}
			if strings.Contains(c.prepare, "GIT_SSH_COMMAND") {
				t.Setenv("GIT_SSH_COMMAND", "")
			}
			p.line("git commit -qam two; " + c.prepare)
			one, two := p.line("git rev-parse -q --verify origin/main || git rev-parse main~1"), p.line("git rev-parse main")
			at := func(want string) {
				t.Helper()
				if got, err := git.RemoteBranch(t.Context(), p.project, "task/one"); got != want || err != nil {
					t.Errorf("the remote has it at %q, %v, want %q", got, err, want)
				}
			}
			push := func(commit, expected string) error {
				return git.Push(t.Context(), p.project, "task/one", commit, expected)
			}
			at("")
			if err := push(two, ""); err != nil {
				t.Fatal(err)
			}
			at(two)
			refs := p.line("git for-each-ref")
			if err := push(two, ""); err != nil {
				t.Errorf("once more: %v", err)
			}
			next := p.line("git commit-tree -p " + two + " -m next HEAD^{tree}")
			for _, expected := range []string{"", one, next} {
				if expected == two { // of a clone that was pushed to
					continue
				}
				if err := push(next, expected); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "task/one was moved on the remote, to "+two) {
					t.Errorf("expected at %q: %v", expected, err)
				}
			}
			at(two)
			if err := push(next, two); err != nil {
				t.Error(err)
			}
			at(next)
			if one != two {
				if err := push(two, next); err != nil { // back, as after a rebase
					t.Error(err)
				}
			}
			theirs := p.theirs("task/two")
			if has, err := git.HasCommit(t.Context(), p.project, theirs); has || err != nil {
				t.Fatalf("%v, %v", has, err)
			}
			if err := git.Fetch(t.Context(), p.project, theirs); err != nil {
				t.Error(err)
			}
			if has, err := git.HasCommit(t.Context(), p.project, theirs); !has || err != nil {
				t.Errorf("%v, %v", has, err)
			}
			if got := p.line("git for-each-ref"); got != refs {
				t.Errorf("references are\n%s\nwere\n%s", got, refs)
			}
			if err := git.Fetch(t.Context(), p.project, strings.Repeat("1", 40)); !fault.Is(err, fault.NotFound) || fault.From(err).Hint == "" {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(p.project, ".git", "FETCH_HEAD")); err == nil {
				t.Error("there is a FETCH_HEAD")
			}
		})
	}
}

// theirs has somebody else commit on a branch of the remote.
func (p *place) theirs(branch string) string {
	p.t.Helper()
	return strings.TrimSpace(p.sh(`cd remote.git 2>/dev/null && test -d refs || cd ../remote
		c=$(git commit-tree -p HEAD -m ` + branch + ` "HEAD^{tree}"); git update-ref refs/heads/` + branch + ` $c
		if test -d ../remote; then git --git-dir=../remote/.git fetch -q ../remote.git ` + branch + `:` + branch + `; fi; echo $c`))
}

// TestFetchWithoutHashes has a server that gives only branches, as servers do over the oldest protocol.
func TestFetchWithoutHashes(t *testing.T) {
	p := newRemote(t, "ssh://host/ROOT/remote.git")
	settings := filepath.Join(p.root, "gitconfig")
	if err := os.WriteFile(settings, []byte(person+"[protocol]\n\tversion = 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", settings)
	below := p.theirs("task")
	p.sh("cd remote.git; git update-ref refs/heads/task $(git commit-tree -p " + below + " -m above HEAD^{tree})")
	if err := git.Fetch(t.Context(), p.project, below); err != nil {
		t.Error(err)
	}
	if has, err := git.HasCommit(t.Context(), p.project, below); !has || err != nil {
		t.Errorf("%v, %v", has, err)
	}
}

// TestFetchBringsOnlyNewObjects fetches from a remote with a long history that the clone has.
func TestFetchBringsOnlyNewObjects(t *testing.T) {
	p := newRemote(t, "ssh://host/ROOT/remote.git")
	p.line("for i in 1 2 3 4 5 6 7 8; do git commit -q --allow-empty -m $i; done; git push -q origin main; git update-ref refs/remotes/origin/main main")
	p.line("git switch -q --detach main~8; git branch -qD main; echo " + strings.Repeat("1", 40) + " >.git/refs/remotes/origin/gone; git config -f ../gitconfig fetch.unpackLimit 1")
	p.line("git config -f ../gitconfig include.path ~/.gitconfig")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(p.root, "gitconfig"))
	if err := git.Fetch(t.Context(), p.project, p.theirs("task")); err != nil {
		t.Fatal(err)
	}
	if got := p.line("git count-objects -v | grep in-pack"); got != "in-pack: 1" {
		t.Errorf("it brought %s", got)
	}
}

// TestHostileRemote has remotes that refuse, wait, lie or lead elsewhere. TestTransportOf has more addresses.
func TestHostileRemote(t *testing.T) {
	const refusing = `mkdir -p ../remote.git/hooks; cd ../remote.git/hooks; touch pre-receive; chmod +x pre-receive; printf '#!/bin/sh\n`
	const hook = `; mkdir -p ../remote.git/hooks; cp $TRAP ../remote.git/hooks/pre-receive`
	for name, c := range map[string]struct {
		address, prepare string
		says             string // the error
		never            string
	}{
		"a hook that refuses": {
			address: "ssh://host/ROOT/remote.git", says: "no entry \\u001b[31m", never: "\x1b",
			prepare: refusing + `printf "no entry \\033[31m\\n" >&2; exit 1\n' >pre-receive`,
		},
		"a hook that talks": {
			address: "ssh://host/ROOT/remote.git", says: "git push failed", never: strings.Repeat("word ", 200),
			prepare: refusing + `yes word | head -c 1000000 >&2; exit 1\n' >pre-receive`,
		},
		"hooks of this disk":   {address: "ROOT/remote.git", prepare: "true" + hook, says: "with hooks"},
		"hooks behind a file":  {address: "file://ROOT/remote.git", prepare: "true" + hook, says: "with hooks"},
		"hooks beside":         {address: "../remote", prepare: "true" + hook, says: "with hooks"},
		"hooks of a work tree": {address: "ROOT/remote", prepare: "git clone -q . ../remote; cd ../remote/.git; mkdir -p hooks; cp $TRAP hooks/update", says: "with hooks"},
		"hooks of a linked":    {address: "ROOT/linked", prepare: "git -C ../remote.git worktree add -q ../linked" + hook, says: "with hooks"},
		"hooks elsewhere":      {address: "ROOT/remote.git", prepare: "mkdir ../h; cp $TRAP ../h/update; git -C ../remote.git config core.hooksPath ../h", says: "with hooks"},
		"hooks of settings": {
			address: "ROOT/remote.git", prepare: "cd ../remote.git; git config include.path more; git config -f more hook.x.y.command $TRAP; cd ../project",
			says: "with hooks",
		},
		"not there":               {address: "ROOT/nothing.git", says: "does not appear to be a git repository"},
		"no remote":               {address: "x", prepare: "git remote remove origin", says: "has no remote"},
		"two and no origin":       {address: "x", prepare: "git remote rename origin a; git remote add b x", says: "has no remote"},
		"program":                 {address: "ext::ROOT/trap", says: "names a program"},
		"program by scheme":       {address: "ext://ROOT/trap", says: "transport that is not used"},
		"program for pushes":      {address: "ROOT/remote.git", prepare: `git config remote.origin.pushUrl "ext::$TRAP"`, says: "names a program"},
		"option":                  {address: "--upload-pack=ROOT/trap", says: "malformed"},
		"control characters":      {address: "ssh://host/a\x1b[2Jb", says: "malformed", never: "\x1b"},
		"lines":                   {address: `ROOT/x`, prepare: `printf '[remote "origin"]\n\turl = "a\\nb"\n' >.git/config`, says: "malformed"},
		"token":                   {address: "https://user:hunter22@127.0.0.1:1/x", says: "127.0.0.1", never: "hunter22"},
		"token alone, of another": {address: "ext::https://hunter22@x/", says: "names a program", never: "hunter22"},
		"by an own rule": {address: "https://127.0.0.1:1/x", prepare: `git config "url.ext::$TRAP .insteadOf" https://127.0.0.1:1/; git config protocol.ext.allow always`,
			says: "127.0.0.1"},
		"branch of a lock": {address: "ROOT/remote.git", prepare: "touch ../remote.git/refs/heads/task.lock", says: "remote rejected"},
		"moved": {address: "ROOT/remote", prepare: "git clone -q . ../remote; cd ../remote; git switch -qc task; git commit --allow-empty -qm x",
			says: "moved on the remote"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newRemote(t, c.address)
			p.line("git commit -qam two; " + c.prepare)
			p.sprung()
			commit := p.line("git rev-parse main")
			err := git.Push(t.Context(), p.project, "task", commit, "")
			f := fault.From(err)
			if f == nil || !strings.Contains(err.Error(), c.says) || f.Hint == "" || f.Code == fault.Internal {
				t.Fatalf("%v", err)
			}
			said := f.Message + f.Hint
			if len(said) > 2000 || c.never != "" && strings.Contains(said, c.never) {
				t.Errorf("it says %q", said)
			}
			if p.sprung() {
				t.Error("the trap was run")
			}
		})
	}
}

// TestSilentRemote has a remote that never answers; the call ends with its context.
func TestSilentRemote(t *testing.T) {
	p := newRemote(t, "ssh://host/ROOT/remote.git")
	p.sh(`mkfifo pipe; printf '#!/bin/sh\necho run >>"` + p.canary + `"\ncat "` + p.root + `/pipe"\n' >ssh`)
	commit := p.line("git rev-parse main")
	for name, call := range map[string]func(ctx context.Context) error{
		"push":  func(ctx context.Context) error { return git.Push(ctx, p.project, "task", commit, "") },
		"fetch": func(ctx context.Context) error { return git.Fetch(ctx, p.project, strings.Repeat("1", 40)) },
		"ask":   func(ctx context.Context) error { _, err := git.RemoteBranch(ctx, p.project, "task"); return err },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- call(ctx) }()
		for {
			if _, err := os.Stat(p.canary); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		p.sprung()
	}
}

// TestIsOnRemote asks with references of every shape.
func TestIsOnRemote(t *testing.T) {
	p := newRemote(t, "ROOT/remote.git")
	p.line("git commit -qam two")
	one, two, none := p.line("git rev-parse main~1"), p.line("git rev-parse main"), strings.Repeat("1", 40)
	check := func(shape string, want map[string]bool) {
		t.Helper()
		for commit, want := range want {
			if is, err := git.IsOnRemote(t.Context(), p.project, commit); is != want || err != nil {
				t.Errorf("%s: %q: %v, %v", shape, commit, is, err)
			}
		}
	}
	check("loose", map[string]bool{one: true, two: false, none: false, "main": false})
	p.line("git pack-refs --all")
	check("packed", map[string]bool{one: true, two: false})
	p.line("git update-ref refs/remotes/origin/x/y main; git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/x/y")
	p.line("echo x >.git/refs/remotes/origin/odd; echo " + none + " >.git/refs/remotes/origin/gone")
	check("both", map[string]bool{one: true, two: true})
	p.line("git worktree add -q ../linked; rm -r .git/refs/remotes; git pack-refs --all; sed -i /remotes/d .git/packed-refs; git update-ref refs/tags/origin/main main")
	check("none", map[string]bool{one: false, two: false})
	p.line("rm -r .git/refs/remotes 2>/dev/null || true; mkdir -p .git/refs/remotes/o; mkfifo .git/refs/remotes/o/pipe; echo " + two + " >.git/refs/remotes/o/m")
	check("a pipe", map[string]bool{one: true, two: true})
}
