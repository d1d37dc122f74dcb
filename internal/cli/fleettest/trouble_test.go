//go:build linux

package fleettest_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// finish has runs done by a worker on a machine without trouble, those again that have failed.
func (f *fleet) finish(lost int, tasks ...string) {
	f.t.Helper()
	f.machine("sound").start("sound")
	f.waitFor("done failed", tasks...)
	for task, q := range f.queue() {
		if q.State == "failed" {
			f.t.Logf("%s has failed, and is queued again", task)
			f.desk.does(0, "queue", "retry", task)
		}
	}
	f.checkDone(tasks, lost)
}

// TestFullDisk: a worker without room loses nothing.
func TestFullDisk(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	m := f.bareMachine("full")
	if err := syscall.Mount("none", m.clones, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(m.clones, syscall.MNT_DETACH) })
	f.git(m.clones, "clone", "-q", remote, "relay")
	tasks := f.queueRuns(1, "--yes")
	w := m.start("full", takesVariable+"=2s")
	w.waitForCall(0)
	file, err := os.Create(filepath.Join(m.clones, "ballast"))
	must(t, err)
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	must(t, file.Close())
	f.waitFor("ready waiting failed done", tasks...)
	note("a worker whose disk is full: the run is %s, the worker is %s", f.queue()[tasks[0]].State, w.state())
	w.signal(syscall.SIGTERM)
	f.eventually("the end of a worker with a full disk", w.ended)
	must(t, os.Remove(file.Name()))
	f.finish(3, tasks...)
}

// TestCloneMoves: a clone is renamed under its worker.
func TestCloneMoves(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	m := f.machine("moving")
	tasks := f.queueRuns(2, "--yes")
	w := m.start("moving", takesVariable+"=2s")
	w.waitForCall(0)
	must(t, os.Rename(m.clone, m.clone+"-moved"))
	f.waitFor("ready waiting failed done", tasks...)
	note("a worker whose clone is renamed: the run is %s, the worker is %s", f.queue()[tasks[0]].State, w.state())
	w.signal(syscall.SIGTERM)
	f.eventually("the end of a worker without its clone", w.ended)
	f.finish(4, tasks...)
}

// TestWorktreeGoes: the worktree of a run is removed by hand while its worker waits for the engine.
func TestWorktreeGoes(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	tasks := f.queueRuns(1, "--yes")
	w := f.machine("bare").start("bare", takesVariable+"=2s")
	call := w.waitForCall(0)
	must(t, os.RemoveAll(call.Folder))
	f.waitFor("ready waiting failed done", tasks...)
	note("a worker whose worktree is removed: the run is %s, the worker is %s", f.queue()[tasks[0]].State, w.state())
	w.signal(syscall.SIGTERM)
	f.eventually("the end of a worker without its worktree", w.ended)
	f.finish(3, tasks...)
}

// TestRemoteRefuses: the state in the database counts where the remote takes no branch, or has another one by its name.
func TestRemoteRefuses(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	tasks := f.queueRuns(2, "--yes")
	// Somebody else has a branch by the name of the first run.
	other := filepath.Join(f.root, "first")
	f.git(other, "checkout", "-qb", "theirs")
	f.git(other, "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "--allow-empty", "-qm", "of somebody else")
	f.git(other, "push", "-q", f.remoteFolder(), "theirs:refs/heads/bmad/"+tasks[0])
	theirs := f.git(other, "rev-parse", "theirs")
	hook := "#!/bin/sh\nwhile read -r _ _ ref; do case $ref in */" + tasks[1] + ") echo no >&2; exit 1 ;; esac; done\n"
	must(t, os.WriteFile(filepath.Join(f.remoteFolder(), "hooks", "pre-receive"), []byte(hook), 0o700))
	f.newPool(2)
	f.waitFor("done", tasks...)
	if out, err := f.tryGit(f.remoteFolder(), "merge-base", "--is-ancestor", theirs, "bmad/"+tasks[0]); err != nil {
		t.Errorf("the commit of somebody else is gone from the remote: %v %s", err, out)
	}
	if out, err := f.tryGit(f.remoteFolder(), "rev-parse", "--verify", "-q", "bmad/"+tasks[1]); err == nil {
		t.Errorf("a remote that refuses has %s", out)
	}
	if b := f.readBill(); b.repeated() != 0 || b.paid() != 6 {
		t.Errorf("%d calls were paid, %d repeated", b.paid(), b.repeated())
	}
}

// TestNobodyTakesIt: a run stays in the queue for a label that no worker has, or a project that no machine has; it delays no
// others.
func TestNobodyTakesIt(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	special := f.queueRuns(1, "--yes", "--label", "gpu")
	ordinary := f.queueRuns(2, "--yes")
	empty := f.bareMachine("empty")
	stranger := f.bareMachine("stranger")
	f.git(stranger.clones, "clone", "-q", filepath.Join(f.root, "first"), "relay")
	f.git(stranger.clone, "remote", "set-url", "origin", "git@git.example.com:team/other.git")
	without := []*worker{empty.start("empty", "--label", "gpu"), stranger.start("stranger", "--label", "gpu")}
	f.machine("plain").start("plain")
	f.checkDone(ordinary, 0)
	if q := f.queue()[special[0]]; q.State != "ready" {
		t.Errorf("a run that nobody can take is %+v", q)
	}
	for _, w := range without {
		if len(f.readBill().ofWorker(w.name)) > 0 {
			t.Errorf("%s has worked without the project", w.name)
		}
		t.Logf("%s, %s, says: %s", w.name, w.state(), w.said())
	}
	f.machine("special").start("special", "--label", "gpu", "--label", "linux")
	f.checkDone(append(special, ordinary...), 0)
}
