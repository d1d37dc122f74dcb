package fleet

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// named is the name of the run of the tests in the worktrees of its leases.
const named = "sign-in-8f47de7c"

// clone is a repository with one commit.
type clone struct {
	t      *testing.T
	folder string
	first  string
}

func newClone(t *testing.T) clone {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	c := clone{t: t, folder: filepath.Join(t.TempDir(), "clone")}
	c.must(os.Mkdir(c.folder, 0o700))
	c.git("init", "-q", "-b", "main")
	c.first = c.commit("first")
	return c
}

func (c clone) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", c.folder, "-c", "user.name=ann", "-c", "user.email=ann@localhost"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit with an own file, and returns its hash.
func (c clone) commit(name string) string {
	c.t.Helper()
	c.must(os.WriteFile(filepath.Join(c.folder, name), []byte(name), 0o600))
	c.git("add", "--", name)
	c.git("commit", "-q", "-m", name)
	return c.git("rev-parse", "HEAD")
}

// lease returns the lease of a number for the session of the tests.
func (c clone) lease(no int64) *lease {
	return newLease(nil, &queue.Claim{Entry: queue.Entry{SessionID: session, TaskName: "sign-in", LeaseNo: no, Commit: c.first}}, time.Minute)
}

// left has the worktree of a lease look as one whose worker was lost at work.
func (c clone) left(l *lease) {
	c.t.Helper()
	_, err := l.openWorktree(c.t.Context(), Clone{Folder: c.folder})
	c.must(err)
	c.mark(l.Number())
}

// TestTakeover: the worktree of a lost worker is taken over, with what is not committed there.
func TestTakeover(t *testing.T) {
	c := newClone(t)
	c.left(c.lease(1))
	c.must(os.WriteFile(filepath.Join(project.LeaseFolder(c.folder, named, "1"), "half"), []byte("done"), 0o600))
	second := c.lease(2)
	folder, err := second.openWorktree(t.Context(), Clone{Folder: c.folder})
	c.must(err)
	if text, err := os.ReadFile(filepath.Join(folder, "half")); err != nil || string(text) != "done" || second.IsFresh() {
		t.Errorf("the work of the lost worker is %q (%v), fresh %v", text, err, second.IsFresh())
	}
	if second.Branch() != "bmad-lease/"+named+"-1" {
		t.Errorf("the branch is %s", second.Branch())
	}
}

// TestTakeoverInPlace: a worktree that git does not move, since it has a submodule, is taken over where it is.
func TestTakeoverInPlace(t *testing.T) {
	c := newClone(t)
	c.left(c.lease(1))
	before := project.LeaseFolder(c.folder, named, "1")
	c.git("-C", before, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", c.folder, "lib")
	second := c.lease(2)
	folder, err := second.openWorktree(t.Context(), Clone{Folder: c.folder})
	c.must(err)
	if _, err := os.Stat(filepath.Join(folder, "lib", "first")); err != nil || second.IsFresh() || second.Branch() != "bmad-lease/"+named+"-1" {
		t.Errorf("the next worker is in %s on %s, fresh %v: %v", folder, second.Branch(), second.IsFresh(), err)
	}
}

// TestStolenBranch: an engine that has another branch checked out in its worktree gets it neither commits nor deleted.
func TestStolenBranch(t *testing.T) {
	for _, branch := range []string{"mine", "bmad-lease/other-1", "bmad-lease/" + named + "-mine", "bmad-lease/" + named + "-1/x"} {
		c := newClone(t)
		c.left(c.lease(1))
		if branch == "bmad-lease/"+named+"-1/x" {
			c.git("worktree", "remove", "--force", project.LeaseFolder(c.folder, named, "1"))
			c.git("branch", "-D", "bmad-lease/"+named+"-1")
			c.git("worktree", "add", "-q", project.LeaseFolder(c.folder, named, "1"), "-b", branch)
			c.mark(1)
		} else {
			c.git("branch", branch)
			c.must(os.WriteFile(filepath.Join(c.folder, ".git", "worktrees", named+"-1", "HEAD"), []byte("ref: refs/heads/"+branch+"\n"), 0o600))
		}
		second := c.lease(2)
		_, err := second.openWorktree(t.Context(), Clone{Folder: c.folder})
		c.must(err)
		if second.Branch() == branch || !second.IsFresh() {
			t.Errorf("%s: the next worker commits to %s, fresh %v", branch, second.Branch(), second.IsFresh())
		}
		(&Worker{}).removeWorktree(second)
		if commit, err := git.BranchCommit(c.folder, branch); err != nil || commit != c.first {
			t.Errorf("%s is at %q (%v) afterwards", branch, commit, err)
		}
	}
}

// TestLeftBranch: a run does not begin from the branch that another one of its name has left; its next lease has a fresh one.
func TestLeftBranch(t *testing.T) {
	c := newClone(t)
	c.git("checkout", "-q", "-b", "bmad-lease/"+named+"-1")
	c.commit("theirs")
	c.git("checkout", "-q", "main")
	if _, err := c.lease(1).openWorktree(t.Context(), Clone{Folder: c.folder}); !fault.Is(err, fault.Conflict) || fault.From(err).Hint == "" {
		t.Error(err)
	}
	folder, err := c.lease(2).openWorktree(t.Context(), Clone{Folder: c.folder})
	c.must(err)
	if head, err := git.Head(folder); err != nil || head != c.first {
		t.Errorf("the run begins from %s, %v", head, err)
	}
}

// mark has the worktree of a lease look as one in which the run was worked on.
func (c clone) mark(no int64) {
	c.t.Helper()
	name := filepath.Join(project.LeaseFolder(c.folder, named, strconv.FormatInt(no, 10)), filepath.FromSlash(project.RunFolder(session)), "run.json")
	c.must(os.MkdirAll(filepath.Dir(name), 0o700))
	c.must(os.WriteFile(filepath.Join(filepath.Dir(name), ".gitignore"), []byte("*\n"), 0o600))
	c.must(os.WriteFile(name, []byte(`{"version":1,"session_id":"`+session+`","task_name":"sign-in"}`), 0o600))
}

// TestFolderOfOthers: what others have put in the place of the worktree of the lease before, or of all, is not entered.
func TestFolderOfOthers(t *testing.T) {
	c := newClone(t)
	theirs := newClone(t)
	c.must(os.MkdirAll(project.LeaseFolder(c.folder, named, "1"), 0o700))
	theirs.git("checkout", "-q", "-b", "bmad-lease/"+named+"-1")
	c.must(os.WriteFile(filepath.Join(project.LeaseFolder(c.folder, named, "1"), ".git"), []byte("gitdir: "+filepath.Join(theirs.folder, ".git")+"\n"), 0o600))
	c.mark(1)
	second := c.lease(2)
	if _, err := second.openWorktree(t.Context(), Clone{Folder: c.folder}); err != nil || !second.IsFresh() {
		t.Errorf("fresh %v, %v", second.IsFresh(), err)
	}

	c = newClone(t)
	elsewhere := t.TempDir()
	c.must(os.Symlink(elsewhere, filepath.Dir(project.LeaseFolder(c.folder, named, "1"))))
	if _, err := c.lease(1).openWorktree(t.Context(), Clone{Folder: c.folder}); err == nil {
		t.Error("worktrees are made behind a link")
	}
	if made, err := os.ReadDir(elsewhere); err != nil || len(made) > 0 {
		t.Errorf("behind the link are %v (%v)", made, err)
	}
}

// TestForeignWork: commits that do not follow the one that the run begins from are not checked out.
func TestForeignWork(t *testing.T) {
	c := newClone(t)
	c.git("checkout", "-q", "-b", "work")
	work := c.commit("work")
	c.git("checkout", "-q", "--orphan", "evil")
	evil := c.commit("evil")
	for i, head := range []string{work, evil} {
		want := []fault.Code{"", fault.NotAllowed}[i]
		l := c.lease(int64(i))
		var err error
		if l.claim.Work, err = git.Bundle(t.Context(), c.folder, "", head); err != nil {
			t.Fatal(err)
		}
		l.claim.Head = head
		_, err = l.openWorktree(t.Context(), Clone{Folder: c.folder})
		if got := codeOf(err); got != want {
			t.Errorf("%q, want %q (%v)", got, want, err)
		}
		if _, errThere := os.Lstat(l.folder); (errThere == nil) != (err == nil) {
			t.Errorf("the worktree: %v, after %v", errThere, err)
		}
		if err == nil {
			continue
		}
		if r, _ := (&Worker{}).giveUp(t.Context(), err); !errors.Is(err, errSpoiled) || r.To != queue.Failed {
			t.Errorf("it is offered again, as %s, after %v", r.To, err)
		}
	}
	l := c.lease(2)
	l.claim.Head = evil
	var err error
	if l.claim.Work, err = git.Bundle(t.Context(), c.folder, "", work); err != nil {
		t.Fatal(err)
	}
	if _, err := l.openWorktree(t.Context(), Clone{Folder: c.folder}); !errors.Is(err, errSpoiled) || codeOf(err) != fault.NotAllowed {
		t.Errorf("a bundle of another commit: %v", err)
	}
	l = c.lease(2)
	l.claim.Work = []byte("no bundle")
	if _, err := l.openWorktree(t.Context(), Clone{Folder: c.folder}); !errors.Is(err, errSpoiled) || codeOf(err) != fault.InvalidArgument {
		t.Errorf("a damaged bundle: %v", err)
	}
}

// TestLeftWorktrees: what lost workers have left is removed, unless somebody works there, it would be lost, or it is of a run of
// the same name in another project of the repository.
func TestLeftWorktrees(t *testing.T) {
	c := newClone(t)
	another := c.lease(3)
	another.claim.SessionID = other
	_, err := another.openWorktree(t.Context(), Clone{Folder: c.folder})
	c.must(err)
	folder := func(no string) string { return project.LeaseFolder(c.folder, named, no) }
	for no := range int64(6) {
		_, err := c.lease(2*no).openWorktree(t.Context(), Clone{Folder: c.folder}) // each second number, so that none is taken over
		c.must(err)
		switch 2 * no {
		case 2: // not committed
			c.must(os.WriteFile(filepath.Join(folder("2"), "half"), nil, 0o600))
		case 4: // at work
			dir, err := durable.OpenDir(folder("4"))
			c.must(err)
			defer func() { _ = dir.Close() }()
			c.mark(4)
			lock, err := dir.Lock(t.Context(), project.RunFolder(session)+"/lock")
			c.must(err)
			defer func() { _ = lock.Unlock() }()
		case 6: // committed, and not in the store
			(clone{t: t, folder: folder("6")}).commit("own")
		}
	}
	var left []string
	entries, err := os.ReadDir(filepath.Dir(folder("0")))
	c.must(err)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != strings.ReplaceAll(".gitignore x-10 x-2 x-4", "x", named)+" sign-in-aa10d388-3" {
		t.Errorf("there are %s", got)
	}
	branches := strings.Fields(c.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/bmad-lease"))
	if got := strings.Join(branches, " "); got != strings.ReplaceAll("x-10 x-2 x-4 x-6", "x", named)+" sign-in-aa10d388-3" {
		t.Errorf("the branches are %s", got)
	}
}

// TestWorkStays: the worktree of a run that was given back stays while the store has not all of the work, and the next lease
// goes on in it.
func TestWorkStays(t *testing.T) {
	c := newClone(t)
	q := &strictQueue{}
	for no, keep := range []func(l *lease, tip string) error{
		func(*lease, string) error { return nil }, // the run was cancelled before the record of the commit
		func(l *lease, _ string) error {
			return l.Keep(t.Context(), headless.Record{Commit: strings.Repeat("ab", 20), Data: []byte("answer")})
		},
		func(l *lease, tip string) error {
			return l.Keep(t.Context(), headless.Record{Commit: tip, Data: make([]byte, queue.MaxKept)})
		},
		func(l *lease, tip string) error { return l.Keep(t.Context(), headless.Record{Commit: tip}) },
	} {
		l := c.lease(int64(no + 1))
		l.queue, l.signer = q, newMachine(t, "a")
		c.left(l)
		isLast := no == 3
		err := keep(l, (clone{t: t, folder: l.folder}).commit("work"+strconv.Itoa(no)))
		if (err == nil) != (no == 0 || isLast) || l.IsFresh() != (no == 0) {
			t.Errorf("%d: fresh %v, %v", no, l.IsFresh(), err)
		}
		if no == 1 && (!errors.Is(err, headless.ErrUncommitted) || fault.From(err).Hint == "" || q.last.Head != "" || !strings.Contains(string(q.last.Kept), "answer")) {
			t.Errorf("%v, after %+v", err, q.last)
		}
		(&Worker{}).removeWorktree(l)
		if _, err := os.Lstat(l.folder); os.IsNotExist(err) != isLast {
			t.Errorf("%d: %v", no, err)
		}
		if tip, err := git.BranchCommit(c.folder, l.branch); err != nil || (tip == "") != isLast {
			t.Errorf("%d: the branch is at %q, %v", no, tip, err)
		}
	}
}

// TestBringWork: a run that goes on here goes on from the commits of workers that count, or not at all.
func TestBringWork(t *testing.T) {
	c := newClone(t)
	ann, eve := newMachine(t, "a"), newMachine(t, "e")
	c.git("checkout", "-q", "-b", "work")
	first, head := c.commit("half"), c.commit("work")
	work, err := git.Bundle(t.Context(), c.folder, c.first, head)
	c.must(err)
	c.git("checkout", "-q", "-b", "ahead")
	ahead := c.commit("ahead")
	c.git("checkout", "-q", "-b", "theirs", "main")
	theirs := c.commit("theirs")
	c.git("checkout", "-q", "main")
	for name, tt := range map[string]struct {
		branch, checkout  string
		by                machine
		inMain, isChanged bool
		want              string
		refused           fault.Code
	}{
		"without a branch":           {by: ann, want: head},
		"with a branch":              {branch: first, by: ann, want: head},
		"with a branch that is on":   {branch: ahead, by: eve, want: ahead},
		"with a branch of others":    {branch: theirs, by: ann, want: theirs, refused: fault.Conflict},
		"with a branch in use":       {branch: first, checkout: "bmad/sign-in", by: ann, want: first, refused: fault.Conflict},
		"by a stranger":              {by: eve, refused: fault.NotAllowed},
		"changed by a stranger":      {by: ann, isChanged: true, refused: fault.NotAllowed},
		"in the main tree":           {by: ann, inMain: true, want: head, refused: fault.Conflict},
		"in the main tree that has":  {by: ann, inMain: true, checkout: "ahead"},
		"in the main tree elsewhere": {by: ann, inMain: true, checkout: "theirs", want: head, refused: fault.Conflict},
	} {
		c.git("checkout", "-q", "main")
		if c.git("branch", "--list", "bmad/sign-in") != "" {
			c.git("branch", "-q", "-D", "bmad/sign-in")
		}
		if tt.branch != "" {
			c.git("branch", "bmad/sign-in", tt.branch)
		}
		if tt.checkout != "" {
			c.git("checkout", "-q", tt.checkout)
		}
		s := &workflow.Session{SessionID: session, TaskName: "sign-in", Branch: "bmad/sign-in"}
		if tt.inMain {
			s.Branch = ""
		}
		left := *c.lease(3).claim
		left.Head, left.Work = head, work
		left.Kept, err = writeRecord(record{session, 3, head, workflow.Hash(work), []byte("{}")}, tt.by)
		c.must(err)
		if tt.isChanged {
			left.Kept = append(left.Kept, ' ')
		}
		err = BringWork(t.Context(), c.folder, s, left, func(by signature.Key) (engine.Voucher, error) { return engine.Voucher{Counts: by == ann.Public()}, nil })
		if got := codeOf(err); got != tt.refused || err != nil && fault.From(err).Hint == "" {
			t.Errorf("%s: %q, want %q (%v)", name, got, tt.refused, err)
		}
		if got, err := git.BranchCommit(c.folder, "bmad/sign-in"); got != tt.want || err != nil {
			t.Errorf("%s: the branch is at %q, want %q, %v", name, got, tt.want, err)
		}
	}
}

// TestBaseOf: work that is queued again keeps the commit that it follows, and other work is not left behind.
func TestBaseOf(t *testing.T) {
	c := newClone(t)
	ann := newMachine(t, "a")
	c.git("checkout", "-q", "-b", "bmad/sign-in")
	work := c.commit("work")
	c.git("checkout", "-q", "-b", "ahead")
	ahead := c.commit("ahead")
	c.git("checkout", "-q", "main")
	second := c.commit("second")
	order, err := Order{Commit: c.first}.Encode(session, ann)
	c.must(err)
	apart := &workflow.Session{SessionID: session, TaskName: "sign-in", Branch: "bmad/sign-in"}
	missing := strings.Repeat("ab", 20)
	for name, tt := range map[string]struct {
		s       *workflow.Session
		tip     string
		head    string
		counts  bool
		want    string
		refused fault.Code
	}{
		"a new run":                           {want: second},
		"one of the main tree":                {s: &workflow.Session{SessionID: session, TaskName: "sign-in"}, tip: work, want: second},
		"one with a branch":                   {s: apart, tip: work, want: work},
		"one with work":                       {s: apart, tip: work, head: work, counts: true, want: c.first},
		"one with more work than the branch":  {s: apart, tip: work, head: ahead, counts: true, want: c.first},
		"one with work that is not here":      {s: apart, tip: c.first, head: missing, counts: true, want: c.first},
		"one of the main tree, with work":     {s: &workflow.Session{SessionID: session, TaskName: "sign-in"}, tip: ahead, head: work, counts: true, want: c.first},
		"one with less work than the branch":  {s: apart, tip: ahead, head: work, counts: true, refused: fault.Conflict},
		"one with work, and a branch besides": {s: apart, tip: ahead, head: missing, counts: true, refused: fault.Conflict},
		"one by a stranger":                   {s: apart, tip: work, head: work, refused: fault.NotAllowed},
	} {
		if tt.tip != "" {
			c.git("branch", "-q", "-f", "bmad/sign-in", tt.tip)
		}
		left := queue.Claim{Run: order, Head: tt.head}
		got, err := BaseOf(t.Context(), c.folder, tt.s, left, func(signature.Key) (engine.Voucher, error) { return engine.Voucher{Counts: tt.counts}, nil })
		if code := codeOf(err); code != tt.refused || err == nil && got != tt.want || err != nil && fault.From(err).Hint == "" {
			t.Errorf("%s: from %q, want %q (%v)", name, got, tt.want, err)
		}
	}
}

// TestCleanWaits: a worktree in which a process still works is not removed, also if the run has ended.
func TestCleanWaits(t *testing.T) {
	c := newClone(t)
	p, err := project.New(project.Options{Backend: storetest.At, Settings: config.Source{UserFolder: t.TempDir()}}).Open(c.folder)
	c.must(err)
	defer p.Close()
	s := &workflow.Session{SessionID: session, Cwd: c.folder, Objective: "x", CurrentStage: workflow.PO, CurrentState: workflow.Cancelled, Branch: "bmad/sign-in"}
	c.must(p.Backend.Create(t.Context(), s, storetest.Numbered("sign-in")))
	_, top := p.Worktree(s.TaskName)
	c.must(git.AddWorktree(t.Context(), c.folder, top, "bmad/sign-in", c.first))
	_, err = p.Home.MkdirAll(project.RunFolder(session))
	c.must(err)
	c.must(os.WriteFile(p.Home.Join(project.RunFolder(session)+"/run.json"), []byte("{}"), 0o600))
	lock, err := p.Home.Lock(t.Context(), project.RunFolder(session)+"/lock")
	c.must(err)
	for _, isGone := range []bool{false, true} {
		if isGone {
			c.must(lock.Unlock())
		}
		got, err := Clean(t.Context(), p)
		c.must(err)
		_, errThere := os.Lstat(top)
		if len(got) != 1 || got[0].Removed != isGone || os.IsNotExist(errThere) != isGone {
			t.Errorf("%+v, and %v", got, errThere)
		}
	}
}
