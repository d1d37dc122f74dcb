//go:build unix

package git_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// writing has every call that writes to a repository or to its remote, in an order in which each has something to do.
func writing(p *place) []struct {
	name   string
	remote bool
	call   func(ctx context.Context) error
} {
	main, task, old := p.line("git rev-parse main"), p.line("git rev-parse task"), p.line("git rev-parse old")
	linked := filepath.Join(p.root, "trees", "one")
	var data []byte
	type row = struct {
		name   string
		remote bool
		call   func(ctx context.Context) error
	}
	commit := func(ctx context.Context, folder string) error {
		_, _, err := git.CommitFiles(ctx, folder, git.Commit{Files: []string{"a.txt", "sub/new.txt"}, Message: "x"})
		return err
	}
	return []row{
		{"AddWorktree", false, func(ctx context.Context) error { return git.AddWorktree(ctx, p.project, linked, "new/one", task) }},
		{"AddWorktree of a branch", false, func(ctx context.Context) error { return git.AddWorktree(ctx, p.project, linked+"b", "task", "") }},
		{"CommitFiles", false, func(ctx context.Context) error { return commit(ctx, p.project) }},
		{"CommitFiles in a linked one", false, func(ctx context.Context) error {
			p.sh("test ! -d trees/one || echo z >>trees/one/a.txt")
			return commit(ctx, linked)
		}},
		{"Merge", false, func(ctx context.Context) error {
			_, _, err := git.Merge(ctx, p.project, "other", "task", "x", "", when)
			return err
		}},
		{"Merge of a linked one", false, func(ctx context.Context) error {
			_, _, err := git.Merge(ctx, linked, "target", "task", "x", "", when)
			return err
		}},
		{"IsMerged", false, func(ctx context.Context) error { _, err := git.IsMerged(ctx, p.project, main, "task"); return err }},
		{"HasCommit", false, func(ctx context.Context) error { _, err := git.HasCommit(ctx, p.project, main); return err }},
		{"IsOnRemote", false, func(ctx context.Context) error { _, err := git.IsOnRemote(ctx, p.project, main); return err }},
		{"Bundle", false, func(ctx context.Context) (err error) { data, err = git.Bundle(ctx, p.project, old, task); return err }},
		{"Unbundle", false, func(ctx context.Context) error { _, err := git.Unbundle(ctx, p.project, data); return err }},
		{"SetBranch", false, func(ctx context.Context) error { return git.SetBranch(ctx, p.project, "set", task, "") }},
		{"RemoteBranch", true, func(ctx context.Context) error { _, err := git.RemoteBranch(ctx, p.project, "main"); return err }},
		{"Fetch", true, func(ctx context.Context) error {
			return git.Fetch(ctx, p.project, strings.TrimSpace(p.sh("cat theirs")))
		}},
		{"Push", true, func(ctx context.Context) error { return git.Push(ctx, p.project, "pushed", task, "") }},
		{"Push to a branch", true, func(ctx context.Context) error { return git.Push(ctx, p.project, "main", task, old) }},
		{"RemoveWorktree", false, func(ctx context.Context) error { return git.RemoveWorktree(ctx, p.project, linked) }},
		{"pure ones", false, func(context.Context) error {
			_, err := git.BranchCommit(p.project, "task")
			_, _ = git.WorktreeOf(linked+"b"), git.RecordedWorktrees(p.project)
			return err
		}},
	}
}

// TestNothingOfARepositoryIsRunByWriting checks that no call runs what a repository, or a remote on this disk, names in
// its settings and hooks. live runs the trap by git itself, to prove that it is one.
func TestNothingOfARepositoryIsRunByWriting(t *testing.T) {
	asking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(asking.Close)
	const hooks = "for h in pre-commit prepare-commit-msg commit-msg post-commit post-checkout post-merge pre-push pre-merge-commit reference-transaction post-index-change " +
		"pre-auto-gc post-rewrite pre-receive update post-receive post-update proc-receive push-to-checkout; do cp $TRAP $at/$h; done\n"
	fixture := newPlace(t)
	fixture.sh(`cd project; echo o >o.txt; git add o.txt; git commit -qm zero; git branch old; git branch target; git branch other; git clone -q --bare . ../remote.git
		git remote add origin x
		git switch -qc task; echo t >>o.txt; git add o.txt; git commit -qm task
		git switch -q other; echo u >o.txt; git commit -qm other o.txt; git switch -q main
		cd ../remote.git; git commit-tree -p main -m far main^{tree} >../theirs; git update-ref refs/heads/far $(cat ../theirs)`)
	const begin = "cd project; git config remote.origin.url $PWD/../remote.git; "
	const (
		works   = iota // all calls do what they are for
		offline        // no remote is reached
		refused        // none does anything
	)
	type row struct {
		prepare, live string
		result        int
		joins         bool // its trap is one of many in one repository, for the calls
		later         bool // git runs it since 2.54
	}
	rows := map[string]row{
		"filter": {prepare: `echo '* filter=x' >.gitattributes; git config filter.x.clean $TRAP; git config filter.x.smudge $TRAP`, live: "git add a.txt"},
		"filter, committed": {
			prepare: `git switch -q task; echo '* filter=x' >.gitattributes; git add .gitattributes
				 git commit -qm filter; git switch -q main; git config filter.x.smudge $TRAP; git config filter.x.clean $TRAP`,
			live: "git worktree add -q ../live task~0",
		},
		"filtering server": {prepare: `echo '* filter=x' >.git/info/attributes; git config filter.x.process $TRAP; git config filter.x.required true`, live: "git add a.txt"},
		"macro": {
			prepare: `printf '[attr]odd filter=x\n* odd\n' >.gitattributes; git config filter.x.clean $TRAP; git config filter.x.required true`,
			live:    "git add a.txt",
		},
		"hooks":           {prepare: `mkdir -p .git/hooks; at=.git/hooks; ` + hooks, live: "git commit -qm x a.txt", joins: true},
		"hooks elsewhere": {prepare: `mkdir -p ../h; at=../h; ` + hooks + `git config core.hooksPath ../h`, live: "git update-ref refs/heads/live main"},
		"hooks of settings": {
			prepare: `git config extensions.worktreeConfig true; git config include.path more
				for name in b.c 'D "=\ x' ''; do for event in post-checkout reference-transaction; do git config -f .git/more --add "hook.$name.event" $event; done
				git config -f .git/more "hook.$name.command" $TRAP; done
				git config --worktree hook.own.event reference-transaction; git config --worktree hook.own.command $TRAP`,
			live: "git update-ref refs/heads/live main", later: true,
		},
		"remote's hooks of settings": {
			prepare: `cd ../remote.git; git config include.path more; printf "[hook \"x\"]\nevent = post-receive\nevent = reference-transaction\ncommand = $TRAP\n" >more`,
			live:    "git push -q origin main:live", result: offline, later: true,
		},
		"monitor": {prepare: `git config core.fsmonitor $TRAP`, live: "git status", joins: true},
		"its own settings": {
			prepare: `git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $TRAP; git config --worktree filter.x.clean $TRAP; 
				echo '* filter=x' >.gitattributes`,
			live: "git status",
		},
		"signing": {
			prepare: `git config commit.gpgSign true; git config gpg.program $TRAP; git config user.signingKey x; git config push.gpgSign if-asked; 
				git config tag.gpgSign true`,
			live: "git commit -qam x", joins: true,
		},
		"signing by ssh": {
			prepare: `git config commit.gpgSign true; git config gpg.format ssh; git config gpg.ssh.program $TRAP; git config gpg.ssh.defaultKeyCommand $TRAP`,
			live:    "git commit -qam x", joins: true,
		},
		"included": {
			prepare: `git config include.path ../more; printf "[core]\nfsmonitor = $TRAP\nhooksPath = $PWD/../h\n[filter \"x\"]\nclean = $TRAP\n" >more; 
				echo '* filter=x' >.gitattributes; mkdir ../h; at=../h; ` + hooks,
			live: "git add a.txt",
		},
		"included if": {prepare: `git config includeIf.gitdir:$PWD/.path more; printf "[core]\nfsmonitor = $TRAP\n" >.git/more`, live: "git status", joins: true},
		"differences": {
			prepare: `git config diff.external $TRAP; git config diff.x.textconv $TRAP; git config diff.x.command $TRAP; echo '* diff=x' >.git/info/attributes`,
			live:    "git diff", joins: true,
		},
		"merging": {
			prepare: `git config merge.x.driver $TRAP; git config merge.default x; echo '* merge=x' >.gitattributes`,
			live:    "git switch -q other; git merge -q task",
		},
		"programs": {
			prepare: `for key in core.pager core.editor sequence.editor interactive.diffFilter core.askPass browser.x.cmd trailer.x.command gc.recentObjectsHook; 
				do git config $key $TRAP; done; git config alias.update-index "!$TRAP"; git config alias.co "!$TRAP"`,
			live: "git co", joins: true,
		},
		"other sides":      {prepare: `git config remote.origin.uploadpack $TRAP; git config remote.origin.receivepack $TRAP`, live: "git fetch", joins: true},
		"transport helper": {prepare: `git config remote.origin.url "ext::$TRAP"; git config protocol.ext.allow always`, live: "git fetch", result: offline},
		"address": {
			prepare: `git config "url.ext::$TRAP .insteadOf" "$PWD/.."; git config "url.ext::$TRAP .pushInsteadOf" "$PWD/.."; git config protocol.allow always`,
			live:    "git fetch",
		},
		"ssh":   {prepare: `git config remote.origin.url ssh://127.0.0.1:1/x; git config core.sshCommand $TRAP`, live: "git fetch", result: offline},
		"proxy": {prepare: `git config remote.origin.url git://127.0.0.1:1/x; git config core.gitProxy $TRAP`, live: "git fetch", result: offline},
		"credentials": {
			prepare: `git config remote.origin.url ` + asking.URL + `/x; git config credential.helper "!$TRAP"; git config core.askPass $TRAP`,
			live:    "git fetch", result: offline,
		},
		"submodule": {
			prepare: `git clone -q . ../lib; git submodule --quiet add ../lib lib; git commit -qm lib lib .gitmodules; git config submodule.lib.update "!$TRAP"; 
				git config submodule.recurse true; git -C lib config core.fsmonitor $TRAP`,
			live: "git status",
		},
		"fetching": {
			prepare: `git config core.repositoryformatversion 1; git config extensions.partialClone origin; git config remote.origin.promisor true; 
				git config remote.origin.uploadpack $TRAP`,
			live: "git cat-file -p 1111111111111111111111111111111111111111",
		},
		"objects": {
			prepare: `echo "$PWD/../remote.git/objects" >.git/objects/info/alternates; git config core.alternateRefsCommand $TRAP`,
			live:    "git fetch ../remote.git far", result: refused,
		},
		"another folder":    {prepare: `mkdir ../away; git config core.worktree ../../away; git config core.fsmonitor $TRAP`, live: "git status", result: refused},
		"remote's settings": {prepare: `for key in core.fsmonitor core.sshCommand uploadpack.packObjectsHook credential.helper; do git -C ../remote.git config $key $TRAP; done`, joins: true},
		"remote's fetching": {
			prepare: `cd ../remote.git; git config core.repositoryformatversion 1; git config extensions.partialClone o; git config remote.o.promisor true
				git config remote.o.url ../project; git config remote.o.uploadpack $TRAP`,
			live: "git -C ../remote.git cat-file -p 1111111111111111111111111111111111111111",
		},
		"remote's objects": {
			prepare: `git clone -q --bare . ../third.git; echo "$PWD/../third.git/objects" >../remote.git/objects/info/alternates
				git -C ../remote.git config core.alternateRefsCommand $TRAP`,
			live: "git push -q origin main:live",
		},
		"remote's hooks": {prepare: `mkdir -p ../remote.git/hooks; at=../remote.git/hooks; ` + hooks, live: "git push -q origin main:live", result: offline},
		"remote's work": {
			prepare: `git clone -q -b main ../remote.git ../work; cd ../work; mkdir -p .git/info; echo '* filter=x' >.git/info/attributes; git config filter.x.smudge $TRAP
				git config receive.denyCurrentBranch updateInstead
				git config remote.origin.url ../work; cd ../project; git config remote.origin.url ../work; git -C ../work fetch -q ../remote.git far:far`,
			live: "git push -q origin task:main", result: offline,
		},
	}
	var joint []string
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if rows[name].joins {
			joint = append(joint, "("+rows[name].prepare+")")
		}
	}
	rows["many"] = row{prepare: strings.Join(joint, "\n")}
	knowsHooks := !strings.Contains(fixture.sh("git -C project hook list update 2>&1 || true"), "usage:")
	for name, c := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.later && !knowsHooks {
				t.Skip("SKIPPED: git is older than 2.54")
			}
			if c.live != "" {
				p := fixture.copy(t)
				p.sh(begin + c.prepare)
				_ = exec.Command("sh", "-c", "cd "+p.project+"; ("+c.live+") >/dev/null 2>&1 </dev/null").Run() // it may fail for the trap
				if !p.sprung() {
					t.Fatal("the trap is none: git itself does not run it")
				}
			}
			if c.joins {
				return
			}
			p := fixture.copy(t)
			p.sh(begin + c.prepare)
			calls := writing(p)
			p.sprung()
			for _, call := range calls {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				err := call.call(ctx)
				cancel()
				if p.sprung() {
					t.Errorf("%s: the trap was run", call.name)
				}
				isOn := c.result == works || c.result == offline && !call.remote
				if isOn && err != nil {
					t.Errorf("%s: %v", call.name, err)
				}
			}
		})
	}
}
