//go:build linux

package fleettest_test

import (
	"syscall"
	"testing"
)

// lateWorker stops a worker in a call for longer than its lease, and lets it go on when another has done the run: it has to
// write nothing, and to end its engine, which sleeps too if asleep is true. env has the variables of the stand-in.
func lateWorker(t *testing.T, asleep bool, env ...string) {
	f := newFleet(t)
	tasks := []string{f.queueGated()}
	late := f.machine("late").start("late", append([]string{"--once"}, env...)...)
	call := late.waitForCall(0)
	late.signal(syscall.SIGSTOP)
	if asleep {
		must(t, syscall.Kill(call.PID, syscall.SIGSTOP))
	}
	f.machine("other").start("other")
	f.waitFor("done", tasks...)
	revision, refs, paid := f.session(tasks[0]).Revision, f.refs(), f.readBill().ofWorker("late").paid()
	if asleep { // its answer is there as soon as the worker is
		must(t, syscall.Kill(call.PID, syscall.SIGCONT))
	}
	late.signal(syscall.SIGCONT)
	if code := late.code(); code != 11 {
		t.Errorf("the late worker ended with %d, want 11", code)
	}
	f.eventually("the end of the late worker's engine", func() bool { return !isEngine(call.PID) })
	if got := f.session(tasks[0]).Revision; got != revision {
		t.Errorf("the late worker wrote revision %d after %d", got, revision)
	}
	if got := f.refs(); got != refs {
		t.Errorf("the late worker moved the remote from\n%s\nto\n%s", refs, got)
	}
	if got := f.readBill().ofWorker("late").paid(); got != paid {
		t.Errorf("the late worker has made %d calls, want the %d before", got, paid)
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
	lateWorker(t, false, takesVariable+"=10m")
}

// TestLateAnswer: an answer that arrived while its worker was stopped is not handed in after the lease.
func TestLateAnswer(t *testing.T) {
	needsFleet(t)
	lateWorker(t, false, takesVariable+"=1s")
}

// TestLateDeafEngine: an engine that ignores a polite end is ended too.
func TestLateDeafEngine(t *testing.T) {
	needsFleet(t)
	lateWorker(t, false, takesVariable+"=10m", deafVariable+"=1")
}

// TestSleepingMachine: a worker and its engine sleep together, and the engine answers at once when they wake up.
func TestSleepingMachine(t *testing.T) {
	needsFleet(t)
	lateWorker(t, true, takesVariable+"=1s")
}
