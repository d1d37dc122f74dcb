//go:build linux

package fleettest_test

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAskedToEnd: a worker that is asked to end hands in the answer of the call under way, and gives the run back at once. Asked
// twice it ends its engine, and the next worker repeats that call.
func TestAskedToEnd(t *testing.T) {
	needsFleet(t)
	for name, signals := range map[string]int{"once": 1, "twice": 2} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			tasks := f.queueRuns(1, "--yes")
			w := f.machine("first").start("first", takesVariable+"=2s")
			call := w.waitForCall(0)
			for range signals {
				w.signal(syscall.SIGTERM)
				time.Sleep(pause) // two signals at once are one
			}
			code := w.code()
			f.eventually("the end of the engine", func() bool { return !isEngine(call.PID) })
			b := f.readBill()
			if isPaid := b.hasEnd(call); isPaid == (signals == 2) || b.paid() != 1 {
				t.Errorf("asked %s: the call under way has ended: %v, after %d calls", name, isPaid, b.paid())
			}
			if asked := code == 0; asked != (signals == 1) {
				t.Errorf("asked %s: the worker ended with %d", name, code)
			}
			began := time.Now()
			f.machine("next").start("next")
			f.checkDone(tasks, signals-1)
			if next := f.readBill().ofWorker("next"); len(next) > 0 {
				note("asked to end %s, a worker's run is taken over %s after its end, with a lease of %s", name, next[0].At.Sub(began).Round(time.Millisecond), lease)
			}
		})
	}
}

// TestOnce: a worker for one run ends with the code of how the run is.
func TestOnce(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	m := f.machine("box")
	if code := m.start("idle", "--once").code(); code != 0 {
		t.Errorf("without a run the worker ends with %d", code)
	}
	done := f.queueRuns(1, "--yes")[0]
	if code := m.start("done", "--once").code(); code != 0 {
		t.Errorf("after a run that is done the worker ends with %d", code)
	}
	waits := f.queueGated()
	if code := m.start("waits", "--once").code(); code != 6 {
		t.Errorf("at a gate the worker ends with %d, want 6", code)
	}
	f.shows(waits, 6)
	spent := f.queueRuns(1, "--yes", "--budget", "0.004")[0]
	if code := m.start("spent", "--once").code(); code != 8 {
		t.Errorf("at the end of the budget the worker ends with %d, want 8", code)
	}
	f.shows(spent, 8)
	if s := f.desk.try("run", "--resume", spent, "--yes"); s.code == 0 || !strings.Contains(s.errOut, "bmad-mcp queue cancel "+spent) {
		t.Errorf("a run that the next step makes ready goes on here too: exit %d\n%s%s", s.code, s.out, s.errOut)
	}
	cancelled := f.queueRuns(1, "--yes")[0]
	w := m.start("cancelled", "--once", takesVariable+"=10m")
	w.waitForCall(len(f.readBill()))
	f.shows(cancelled, 12)
	f.desk.does(0, "queue", "cancel", cancelled)
	if code := w.code(); code != 10 {
		t.Errorf("after a cancel the worker ends with %d, want 10", code)
	}
	f.shows(cancelled, 10)
	f.shows(done, 0)
	ready := f.queueRuns(1, "--yes", "--label", "nobody")[0]
	f.shows(ready, 12)

	// What was spent or cancelled can go on, and pays for nothing twice.
	f.desk.does(0, "queue", "retry", spent, "--budget", "2")
	f.desk.does(0, "queue", "retry", cancelled)
	f.machine("more").start("more")
	f.checkDone([]string{done, waits, spent, cancelled}, 1)
}

// TestGoesOnHere: a run that was taken from the queue goes on in a person's clone with the commits of its worker, if that one's
// key counts there; a run that is queued again goes on too, also from a clone with more commits by then.
func TestGoesOnHere(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	task := f.queueRuns(1, "--yes")[0]
	w := f.desk.start("own", takesVariable+"=3s")
	f.eventually("the call after the one that has built", func() bool { return len(f.readBill().of("begin", task, "qa")) > 0 })
	f.desk.does(0, "queue", "cancel", task)
	w.signal(syscall.SIGTERM)
	w.code()
	f.git(f.desk.clone, "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-q", "--allow-empty", "-m", "more")
	f.desk.does(0, "run", "--queue", "--resume", task, "--yes", "--engine", "claude")
	f.desk.start("again", takesVariable+"=3s")
	f.eventually("the call of the next worker", func() bool { return len(f.readBill().of("begin", task, "qa")) > 1 })
	f.desk.does(0, "queue", "cancel", task)
	resume := []string{"run", "--resume", task, "--yes"}
	if s := f.colleague.try(resume...); s.code == 0 || !strings.Contains(s.errOut, "bmad-mcp allow") {
		t.Errorf("of a worker that does not count: exit %d\n%s%s", s.code, s.out, s.errOut)
	}
	f.desk.does(0, resume...)
	if text := f.git(f.desk.clone, "show", "bmad/"+task+":"+task+".txt"); !strings.HasPrefix(text, task) {
		t.Errorf("the branch has %q", text)
	}
	if built := f.readBill().of("begin", task, "dev"); len(built) != 1 {
		t.Errorf("it was built %d times", len(built))
	}
}

// shows checks the exit code of queue show, which is that of a run's state.
func (f *fleet) shows(task string, code int) {
	f.t.Helper()
	if s := f.desk.try("queue", "show", task); s.code != code {
		f.t.Errorf("queue show %s ends with %d, want %d:\n%s%s", task, s.code, code, s.out, s.errOut)
	}
}

// TestLimits: no more workers than the team allows are at work at once.
func TestLimits(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	f.desk.does(0, "queue", "limits", "--max-workers", "1")
	tasks := f.queueMixed(6)
	p := f.newPool(3)
	f.checkDone(tasks, 0)
	if most := f.readBill().most(); most != 1 {
		t.Errorf("%d calls were under way at once, want 1", most)
	}
	p.end()
}

// most returns the largest number of calls that were under way at once.
func (b bill) most() (most int) {
	open := 0
	for _, e := range b {
		if e.What == "begin" {
			open++
		} else {
			open--
		}
		most = max(most, open)
	}
	return most
}
