//go:build linux

package fleettest_test

import (
	"syscall"
	"testing"
)

// lateWorker stops a worker in a call for longer than its lease, and lets it go on when another has done the run: it has to
// write nothing, and to end its engine. env has the variables of the stand-in.
func lateWorker(t *testing.T, env ...string) {
	f := newFleet(t)
	tasks := []string{f.queueGated()}
	late := f.machine("late").start("late", append([]string{"--once"}, env...)...)
	call := late.waitForCall(0)
	late.signal(syscall.SIGSTOP)
	f.machine("other").start("other")
	f.waitFor("done", tasks...)
	revision, refs, lines := f.session(tasks[0]).Revision, f.refs(), len(f.readBill().ofWorker("late"))
	late.signal(syscall.SIGCONT)
	if code := late.code(); code != 11 {
		t.Errorf("the late worker ended with %d, want 11", code)
	}
	f.eventually("the end of the late worker's engine", func() bool { return !isAlive(call.PID) })
	if got := f.session(tasks[0]).Revision; got != revision {
		t.Errorf("the late worker wrote revision %d after %d", got, revision)
	}
	if got := f.refs(); got != refs {
		t.Errorf("the late worker moved the remote from\n%s\nto\n%s", refs, got)
	}
	if got := len(f.readBill().ofWorker("late")); got != lines {
		t.Errorf("the late worker has %d lines in the bill, want the %d before", got, lines)
	}
	f.checkDone(tasks, 1)
}

// refs are the branches of the remote, with their commits.
func (f *fleet) refs() string {
	f.t.Helper()
	return f.git(f.remoteFolder(), "for-each-ref", "--format=%(refname) %(objectname)")
}

// ofWorker returns the lines of a worker.
func (b bill) ofWorker(name string) (out bill) {
	for _, e := range b {
		if e.Worker == name {
			out = append(out, e)
		}
	}
	return out
}

// TestLateWorker: a worker that comes back after its lease writes nothing, and ends its engine, be it deaf.
func TestLateWorker(t *testing.T) {
	t.Parallel()
	lateWorker(t, takesVariable+"=10m")
}

// TestLateAnswer: an answer that arrived while its worker was stopped is not handed in after the lease.
func TestLateAnswer(t *testing.T) {
	needsFleet(t)
	lateWorker(t, takesVariable+"=1s")
}

// TestLateDeafEngine: an engine that ignores a polite end is ended too.
func TestLateDeafEngine(t *testing.T) {
	needsFleet(t)
	lateWorker(t, takesVariable+"=10m", deafVariable+"=1")
}
