package headless_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// objective and task are those of the runs in repositories.
const (
	objective = "Build a to-do list"
	task      = "build-a-to-do-list"
)

// newRepository is newBench in a repository with one commit, for runs in worktrees.
func newRepository(t testing.TB, acts map[string][]act) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := newBench(t, acts)
	b.git(b.dir, "init", "-q", "-b", "main")
	b.git(b.dir, "add", ".")
	b.git(b.dir, "commit", "-q", "-m", "one")
	b.options.Flags = headless.Flags{Worktree: true}
	b.options.Look = func(ctx context.Context, folder string) (*headless.Tree, error) {
		tree, err := git.Look(ctx, folder)
		return (*headless.Tree)(tree), err
	}
	b.options.Wait = func(context.Context, time.Duration) error { return nil }
	return b
}

// git runs git in a folder and returns what it prints.
func (b *bench) git(folder string, args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// worktree is the folder of the worktree of the run.
func (b *bench) worktree() string { return filepath.Join(b.dir+".worktrees", task) }

// write writes a file of the worktree, as a person does.
func (b *bench) write(name, text string) func() {
	return func() {
		file := filepath.Join(b.worktree(), filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			b.t.Error(err)
		}
	}
}

// commits are the subjects of the commits of the run, the oldest first, each with its files except documents.
func (b *bench) commits() (out []string) {
	b.t.Helper()
	for _, hash := range strings.Fields(b.git(b.dir, "rev-list", "--reverse", "main..bmad/"+task)) {
		line := b.git(b.dir, "show", "-s", "--format=%s", hash) + ":"
		for _, name := range strings.Fields(b.git(b.dir, "show", "--format=", "--name-only", hash)) {
			if !strings.HasPrefix(name, ".claude/") {
				line += " " + name
			}
		}
		if got := b.git(b.dir, "show", "-s", "--format=%(trailers:key=Bmad-Run,valueonly)", hash); got != b.session().SessionID {
			b.t.Errorf("%s is of the run %q", line, got)
		}
		out = append(out, line)
	}
	return out
}

func (b *bench) hasCommits(want ...string) {
	b.t.Helper()
	if got := b.commits(); !slices.Equal(got, want) {
		b.t.Errorf("the commits are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// failsBy goes on until the run ends by an error.
func (b *bench) failsBy(ctx context.Context) error {
	b.t.Helper()
	_, err := headless.New(b.options).Resume(ctx, task)
	if err == nil {
		b.t.Fatal("the run has not failed")
	}
	return err
}

// TestWorktreeOfRun takes a run with a rework through a worktree, beside a main tree with changes.
func TestWorktreeOfRun(t *testing.T) {
	acts := wholeRun()
	acts["dev"] = append(acts["dev"], act{text: again, file: "again.go"})
	acts["review"] = []act{{text: failed}, {text: passed}}
	b := newRepository(t, acts)
	acts["dev"][0].meanwhile = func() {
		b.git(b.dir, "commit", "-q", "--allow-empty", "-m", "of the person")
		b.git(b.dir, "branch", "bmad/another")
	}
	if err := os.WriteFile(filepath.Join(b.dir, "README.md"), []byte("a change of the person\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, said: []gate.Response{approve, approve, approve, {Decision: workflow.DecisionChanges, Feedback: "keep the tasks"}}}
	b.options.Gates, b.options.Person = headless.Ask, p
	out := b.start(objective)
	b.at(out, headless.Done, "qa/completed")
	b.hasCommits(objective+": todo.go", task+": dev, round 2: again.go", task+": qa, round 1:", task+": documents:")
	if out.Branch != "bmad/"+task || out.Worktree != b.worktree() || out.Commit != b.git(b.dir, "rev-parse", out.Branch) {
		t.Errorf("the result has branch %q at %q in %q", out.Branch, out.Commit, out.Worktree)
	}
	for _, e := range b.events {
		if e.Type == headless.Noticed {
			t.Errorf("notice: %s", e.Why)
		}
	}
	if got := b.git(b.dir, "status", "--porcelain"); out.Moved != "" || got != "M README.md" {
		t.Errorf("moved: %q; the main tree has %q", out.Moved, got)
	}
	if got := b.git(b.worktree(), "status", "--porcelain"); got != "" {
		t.Errorf("not committed is %q", got)
	}
	dir, err := durable.OpenDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	if kept, err := headless.Past(dir, b.session().SessionID); err != nil || kept == nil || kept.Worktree != b.worktree() || len(kept.Wrote) > 0 {
		t.Errorf("the record in the main tree is %+v, %v", kept, err)
	}
	if again, err := headless.New(b.options).Resume(ctx, task); err != nil || again.Reason != headless.Done || again.Commit != out.Commit {
		t.Errorf("once more: %+v, %v", again, err)
	}
}

// TestPersonsFiles has a person change files of the worktree before the call of an engine, between two, and between two
// attempts at the same work: they stay as they are.
func TestPersonsFiles(t *testing.T) {
	acts := wholeRun()
	b := newRepository(t, acts)
	acts["sm"][0].meanwhile = b.write("before.txt", "mine")
	acts["review"][0].meanwhile = b.write("README.md", "mine")
	acts["dev"] = []act{{text: report, file: "half.go", err: &hostcli.Failure{Engine: "claude", Why: "the server is busy", After: time.Second}}, {text: report, file: "todo.go"}}
	acts["dev"][1].meanwhile = func() { b.git(b.dir, "tag", "one") }
	b.options.Wait = func(context.Context, time.Duration) error {
		b.write("between.txt", "mine")()
		return nil
	}
	acts["qa"] = append([]act{{err: errors.New("the line was cut")}}, acts["qa"]...)
	b.at(b.start(objective), headless.Done, "qa/completed")
	b.hasCommits(objective+": half.go todo.go", task+": qa, round 1:", task+": documents:")
	if got := b.git(b.worktree(), "status", "--porcelain"); got != "M README.md\n?? before.txt\n?? between.txt" {
		t.Errorf("not committed is %q", got)
	}
	if got := b.notices(); !strings.Contains(got, "while claude worked, tags or the stash of git were changed\n") {
		t.Errorf("told:\n%s", got)
	}
}

// TestOddWork has an engine make what cannot be committed, while the git of an editor is at work: the rest is committed, and
// the person is told once.
func TestOddWork(t *testing.T) {
	acts := wholeRun()
	b := newRepository(t, acts)
	acts["dev"][0].meanwhile = func() {
		inner := filepath.Join(b.worktree(), "inner")
		b.git(b.worktree(), "init", "-q", inner)
		b.write("inner/app.rb", "x")()
		lock := filepath.Join(b.git(b.worktree(), "rev-parse", "--absolute-git-dir"), "index.lock")
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Error(err)
		}
		b.options.Wait = func(context.Context, time.Duration) error { return os.Remove(lock) }
	}
	b.at(b.start(objective), headless.Failed, "dev/generating") // inner/.git is a file that programs obey, at which the person looks
	b.at(b.resume(task), headless.Done, "qa/completed")
	b.hasCommits(objective+": todo.go", task+": qa, round 1:", task+": documents:")
	want := "not all work is in the commit: inner is a repository of its own. Commit what belongs to the work yourself, in " + b.worktree() + "\n"
	if got := b.notices(); got != want {
		t.Errorf("told:\n%s\nwant\n%s", got, want)
	}
}

// TestIgnoredFiles has engines change what git ignores: a file that was ignored before stays out of the commits, also one
// that an engine has made, since the person may have written into it.
func TestIgnoredFiles(t *testing.T) {
	acts := wholeRun()
	b := newRepository(t, acts)
	b.commitIgnored(".env\nmade/\nown/\nkey*\n")
	acts["sm"][0].meanwhile = func() {
		b.write(".env", "secret")()
		b.write("own/key", "secret")()
		b.write("key.pem", "secret")()
	}
	acts["dev"] = append(acts["dev"], act{text: again, file: "again.go"})
	acts["dev"][0].meanwhile = func() {
		b.write("made/x.go", "x")()
		b.write("key", "x")()
	}
	acts["dev"][1].meanwhile = func() {
		b.write(".gitignore", "other\n")()
		b.write(".env", "secret, and more")()
	}
	acts["review"] = []act{{text: failed}, {text: passed}}
	acts["qa"][0].meanwhile = b.write(".env", "secret, and still more")
	p := &person{t: t, said: []gate.Response{approve, approve, approve, {Decision: workflow.DecisionChanges, Feedback: "keep the tasks"}}}
	b.options.Gates, b.options.Person = headless.Ask, p
	b.at(b.start(objective), headless.Done, "qa/completed")
	b.hasCommits(objective+": todo.go", task+": dev, round 2: .gitignore again.go", task+": qa, round 1:", task+": documents:")
	if got := b.git(b.worktree(), "status", "--porcelain"); got != "?? .env\n?? key\n?? key.pem\n?? made/\n?? own/" {
		t.Errorf("not committed is %q", got)
	}
	told := func(names string) string {
		return "left out of the commits, because git ignored it when claude began to work: " + names + ". Commit it yourself if it belongs to the work and holds no secret\n"
	}
	if got, want := b.notices(), told(".env, key, key.pem, made/x.go, own/key")+told(".env"); got != want {
		t.Errorf("told:\n%s\nwant\n%s", got, want)
	}
}

// commitIgnored commits rules of what git ignores.
func (b *bench) commitIgnored(rules string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, ".gitignore"), []byte(rules), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.git(b.dir, "add", ".gitignore")
	b.git(b.dir, "commit", "-q", "-m", "rules")
}

// TestKilledCall has a process killed while an engine works: what the engine had changed is committed with the rest.
func TestKilledCall(t *testing.T) {
	acts := wholeRun()
	b := newRepository(t, acts)
	file, record, rights := "", []byte(nil), vault{}
	dying, kill := context.WithCancel(ctx)
	acts["dev"] = append([]act{{text: report, file: "half.go", meanwhile: func() {
		file = filepath.Join(b.dir, filepath.FromSlash(headless.RunFile(b.session().SessionID)))
		record, _ = os.ReadFile(file)
		maps.Copy(rights, b.kept)
		kill()
	}}}, acts["dev"]...)
	if _, err := headless.New(b.options).Start(dying, objective, ""); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, record, 0o600); err != nil || len(record) == 0 { // as if the process had written nothing more
		t.Fatal(err)
	}
	b.kept = rights
	b.write("key.txt", "mine")()
	b.at(b.resume(task), headless.Done, "qa/completed")
	want := "the call of claude was cut off, so that nobody knows who has made these files: half.go, key.txt. " +
		"They are committed with the work: before it is pushed, take out of the branch what does not belong to it\n"
	if got := b.notices(); got != want {
		t.Errorf("told:\n%s\nwant\n%s", got, want)
	}
	b.hasCommits(objective+": half.go key.txt todo.go", task+": qa, round 1:", task+": documents:")
	if got := b.worker.stages(); got != "po architect sm dev dev review qa" {
		t.Errorf("the engine worked for %s", got)
	}
}

// unfinished leaves a merge in the worktree, so that nothing can be committed.
func (b *bench) unfinished(folder string) string {
	b.t.Helper()
	name := filepath.Join(b.git(folder, "rev-parse", "--absolute-git-dir"), "MERGE_HEAD")
	if err := os.WriteFile(name, []byte(b.git(folder, "rev-parse", "HEAD")+"\n"), 0o600); err != nil {
		b.t.Error(err)
	}
	return name
}

// TestFailedCommit has the commit of a paid answer fail: it is made later, before the answer is handed in.
func TestFailedCommit(t *testing.T) {
	acts := wholeRun()
	b := newRepository(t, acts)
	merge := ""
	acts["dev"][0].meanwhile = func() { merge = b.unfinished(b.worktree()) }
	if _, err := headless.New(b.options).Start(ctx, objective, ""); !fault.Is(err, fault.NotAllowed) {
		t.Fatal(err)
	}
	if err := b.failsBy(ctx); !fault.Is(err, fault.NotAllowed) || b.session().CurrentState != workflow.Generating {
		t.Fatalf("%v; the session is at %s", err, b.session().CurrentState)
	}
	if err := os.Remove(merge); err != nil {
		t.Fatal(err)
	}
	b.at(b.resume(task), headless.Done, "qa/completed")
	b.hasCommits(objective+": todo.go", task+": qa, round 1:", task+": documents:")
	if got := b.worker.stages(); got != "po architect sm dev review qa" {
		t.Errorf("the engine worked for %s", got)
	}
}

// TestRemovedWorktree has the worktree removed while its run waits: each step says so, and the run makes it anew.
func TestRemovedWorktree(t *testing.T) {
	b := newRepository(t, wholeRun())
	b.options.Gates = headless.Stop
	b.at(b.start(objective), headless.Person, "po/awaiting_confirmation")
	if err := os.RemoveAll(b.worktree()); err != nil {
		t.Fatal(err)
	}
	yes := true
	confirm := request.Request{Action: workflow.ActionConfirm, Address: project.Address{Cwd: b.dir}, Decision: request.Decision{Yes: &yes},
		Caller: request.Caller{Via: workflow.ChannelScript}}
	_, err := b.engine.Do(ctx, confirm)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(fault.From(err).Hint, "bmad-mcp run --resume "+task) {
		t.Errorf("the decision: %v", err)
	}
	r := b.do(request.Request{Action: workflow.ActionStatus})
	if !strings.Contains(r.UserMessage, "The worktree of the run is gone") || !strings.Contains(r.UserMessage, "run --resume "+task) {
		t.Errorf("the status says\n%s", r.UserMessage)
	}
	if _, err := os.Stat(filepath.Join(b.dir, ".claude")); err == nil {
		t.Error("the main tree has documents of the run")
	}
	b.at(b.resume(task), headless.Person, "po/awaiting_confirmation")
	if _, err := b.engine.Do(ctx, confirm); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(b.worktree()); err != nil {
		t.Fatal(err)
	}
	b.do(request.Request{Action: workflow.ActionCancel})
}

// TestNoWorktreeForIt refuses what no worktree can be made for.
func TestNoWorktreeForIt(t *testing.T) {
	b := newRepository(t, wholeRun())
	begun := b.do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: objective}})
	if _, err := headless.New(b.options).Resume(ctx, begun.SessionID); !fault.Is(err, fault.InvalidArgument) || fault.From(err).Hint == "" {
		t.Errorf("of a run in the main tree: %v", err)
	}
	b.git(b.dir, "worktree", "add", "-q", "../linked")
	b.options.Folder = filepath.Join(filepath.Dir(b.dir), "linked")
	if _, err := headless.New(b.options).Start(ctx, "Build another", ""); !fault.Is(err, fault.NotAllowed) {
		t.Errorf("in a linked worktree: %v", err)
	}
	bare := filepath.Join(t.TempDir(), ".bare")
	b.options.Folder = filepath.Join(filepath.Dir(bare), "main")
	b.git(b.dir, "clone", "-q", "--bare", b.dir, bare)
	b.git(bare, "worktree", "add", "-q", b.options.Folder, "main")
	if _, err := headless.New(b.options).Start(ctx, "Build another", ""); !fault.Is(err, fault.NotAllowed) || !strings.Contains(fault.From(err).Hint, "a clone of ") {
		t.Errorf("in a linked worktree of a bare repository: %v", err)
	}
	b.options.Folder = t.TempDir()
	b.git(b.options.Folder, "init", "-q")
	if _, err := headless.New(b.options).Start(ctx, "Build another", ""); !fault.Is(err, fault.NotAllowed) {
		t.Errorf("without a commit: %v", err)
	}
	b.options.Folder = filepath.Join(t.TempDir(), strings.Repeat("x", 245)) // its name with more behind it is none of a folder
	b.git(t.TempDir(), "-c", "core.longpaths=true", "clone", "-q", b.dir, b.options.Folder)
	if _, err := headless.New(b.options).Start(ctx, "Build another", ""); !fault.Is(err, fault.NotAllowed) || fault.From(err).Hint == "" {
		t.Errorf("without a place for worktrees: %v", err)
	}
	b.options.Folder = b.dir
	b.git(b.dir, "branch", "bmad")
	if _, err := headless.New(b.options).Start(ctx, "Build another", ""); !fault.Is(err, fault.Conflict) || fault.From(err).Hint == "" {
		t.Errorf("beside a branch bmad: %v", err)
	}
	if all, _, _, err := b.engine.Sessions(ctx, project.Address{Cwd: b.dir}); len(all) != 1 || err != nil {
		t.Errorf("the sessions are %+v, %v", all, err)
	}
	b.git(b.dir, "branch", "-m", "bmad", "bmad/build-another/x")
	again := b.do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "Build another", Apart: true}})
	if got := again.TaskName; got != "build-another-1" {
		t.Errorf("beside a branch below that of its name it is %s", got)
	}
	if len(b.worker.jobs) > 0 {
		t.Errorf("the engine worked for %s", b.worker.stages())
	}
}

// fakeLease keeps records in memory.
type fakeLease struct {
	branch  string
	head    string
	kept    []byte
	fresh   bool
	records []headless.Record
	keep    func(r headless.Record) error
}

func (l *fakeLease) Number() int64        { return 7 }
func (l *fakeLease) Branch() string       { return l.branch }
func (l *fakeLease) Kept() []byte         { return l.kept }
func (l *fakeLease) IsFresh() bool        { return l.fresh }
func (l *fakeLease) Grace() time.Duration { return time.Second }
func (l *fakeLease) Head() string         { return l.head }
func (l *fakeLease) Keep(_ context.Context, r headless.Record) error {
	if l.keep != nil {
		err := l.keep(r)
		if errors.Is(err, headless.ErrUncommitted) {
			l.kept = r.Data
		}
		if err != nil {
			return err
		}
	}
	l.records, l.kept, l.head = append(l.records, r), r.Data, r.Commit
	return nil
}

// leased begins a session, and gives its run to a lease.
func leased(t *testing.T, acts map[string][]act) (*bench, *fakeLease) {
	b := newRepository(t, acts)
	b.git(b.dir, "switch", "-q", "-c", "bmad-lease/one-7")
	b.do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: objective}})
	l := &fakeLease{branch: "bmad-lease/one-7", fresh: true}
	b.options.Lease, b.options.Flags, b.options.Rights = l, headless.Flags{}, nil
	return b, l
}

// TestLeaseIsFirst: a record reaches the lease before the files, and before the call that it tells of.
func TestLeaseIsFirst(t *testing.T) {
	b, l := leased(t, wholeRun())
	file := filepath.Join(b.dir, filepath.FromSlash(headless.RunFile(b.session().SessionID)))
	asked := 0
	l.keep = func(r headless.Record) error {
		if on, _ := os.ReadFile(file); string(on) != "" && len(l.records) == 0 {
			t.Error("the file was there before the first record")
		}
		if r.Asking > 0 {
			asked++
			if r.Asking != asked || r.Calls != asked || len(b.worker.jobs) != asked-1 {
				t.Errorf("record of call %d of %d, and the engine was called %d times", r.Asking, r.Calls, len(b.worker.jobs))
			}
		}
		return nil
	}
	b.at(b.resume(task), headless.Done, "qa/completed")
	last := l.records[len(l.records)-1]
	if asked != 6 || last.Asking != 0 || last.Calls != 6 || last.Repeated != 0 || last.Spent != cost(6) || last.Commit != b.git(b.dir, "rev-parse", "HEAD") {
		t.Errorf("%d calls; the last record is %+v", asked, last)
	}
	if got := b.git(b.dir, "log", "-3", "--format=%(trailers:key=Bmad-Lease,valueonly,separator=%x20)"); strings.Join(strings.Fields(got), " ") != "7 7 7" {
		t.Errorf("the commits are of the leases %q", got)
	}
}

// TestLeaseFails: after an error of the lease nothing is paid for.
func TestLeaseFails(t *testing.T) {
	b, l := leased(t, wholeRun())
	lost := errors.New("another has it")
	l.keep = func(r headless.Record) error {
		if r.Asking == 2 {
			return lost
		}
		return nil
	}
	if err := b.failsBy(ctx); !errors.Is(err, lost) {
		t.Error(err)
	}
	if got := b.worker.stages(); got != "po" {
		t.Errorf("the engine worked for %s", got)
	}
}

// TestFreshFolder: an answer that reports work is dropped where the work is not, and handed in where it is.
func TestFreshFolder(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		acts := wholeRun()
		acts["dev"] = append(acts["dev"], act{text: report, file: "todo.go"})
		b, l := leased(t, acts)
		merge := ""
		acts["dev"][0].meanwhile = func() { merge = b.unfinished(b.dir) }
		if err := b.failsBy(ctx); !fault.Is(err, fault.NotAllowed) {
			t.Fatal(err)
		}
		if err := os.Remove(merge); err != nil {
			t.Fatal(err)
		}
		want := "po architect sm dev review qa"
		if l.fresh = fresh; fresh {
			want = "po architect sm dev dev review qa"
			if err := os.Remove(filepath.Join(b.dir, "todo.go")); err != nil {
				t.Fatal(err)
			}
		}
		b.at(b.resume(task), headless.Done, "qa/completed")
		repeated := l.records[len(l.records)-1].Repeated
		if got := b.worker.stages(); got != want || (repeated == 1) != fresh {
			t.Errorf("fresh %v: the engine worked for %s, %d repeated", fresh, got, repeated)
		}
	}
}

// TestUnkeptCommit: an answer whose commit the store has not taken is handed in with the commit, and dropped on another machine.
func TestUnkeptCommit(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		acts := wholeRun()
		acts["dev"] = append(acts["dev"], act{text: report, file: "todo.go"})
		b, l := leased(t, acts)
		l.keep = func(r headless.Record) error {
			if r.Commit != l.head {
				return headless.ErrUncommitted
			}
			return nil
		}
		for range 2 {
			if err := b.failsBy(ctx); !errors.Is(err, headless.ErrUncommitted) || b.session().CurrentStage != "dev" {
				t.Fatalf("at %s: %v", b.session().CurrentStage, err)
			}
			l.fresh = false
		}
		want := "po architect sm dev review qa"
		if l.keep, l.fresh = nil, fresh; fresh {
			want = "po architect sm dev dev review qa"
			b.git(b.dir, "reset", "-q", "--hard", "HEAD^")
		} else { // the person has made it smaller
			b.git(b.dir, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "--amend", "-m", "smaller")
		}
		b.at(b.resume(task), headless.Done, "qa/completed")
		last := l.records[len(l.records)-1]
		if got := b.worker.stages(); got != want || (last.Repeated == 1) != fresh {
			t.Errorf("fresh %v: the engine worked for %s, %d repeated", fresh, got, last.Repeated)
		}
		if subjects := b.git(b.dir, "log", "--format=%s"); strings.Contains(subjects, "smaller") == fresh || last.Commit != b.git(b.dir, "rev-parse", "HEAD") {
			t.Errorf("fresh %v: the store has %s of\n%s", fresh, last.Commit, subjects)
		}
	}
}

// TestHostileRecord: a record that others have changed in the store is an error, and nothing is paid for.
func TestHostileRecord(t *testing.T) {
	for name, record := range map[string]string{
		"no JSON": "{", "another run": `{"version":1,"session_id":"99999999-2222-4333-8444-555555555555"}`, "newer": `{"version":99}`, "a list": `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			b, l := leased(t, wholeRun())
			l.kept = []byte(record)
			if err := b.failsBy(ctx); !fault.Is(err, fault.Storage) || fault.From(err).Hint == "" {
				t.Error(err)
			}
			if len(b.worker.jobs) > 0 || len(l.records) > 0 {
				t.Errorf("the engine worked for %s", b.worker.stages())
			}
		})
	}
}

// TestYield: a run whose program ends stops after the step under way, and goes on without a repeat.
func TestYield(t *testing.T) {
	acts := wholeRun()
	b := newRepository(t, acts)
	yield := make(chan struct{})
	b.options.Yield = yield
	acts["architect"][0].meanwhile = func() { close(yield) }
	out := b.start(objective)
	if out.Reason != headless.Yielded || b.worker.stages() != "po architect" {
		t.Errorf("%s: %s; the engine worked for %s", out.Reason, out.Why, b.worker.stages())
	}
	b.options.Yield = nil
	b.at(b.resume(task), headless.Done, "qa/completed")
	if got := b.worker.stages(); got != "po architect sm dev review qa" {
		t.Errorf("the engine worked for %s", got)
	}
}
