//go:build linux

package fleettest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestStandIn: the stand-in takes each workflow of these tests from an objective to its end, and its bill has each call.
func TestStandIn(t *testing.T) {
	f := bareFleet(t, "")
	for task, c := range map[string]struct{ workflow, stages string }{
		"part-001": {"quick", "po dev qa"},
		"part-002": {"bmad", "po architect sm dev review qa"},
	} {
		m := f.machine(c.workflow, takesVariable+"=0", workerVariable+"=me")
		m.env = slices.DeleteFunc(m.env, func(v string) bool { return strings.HasPrefix(v, "BMAD_STORE=") })
		m.does(0, "run", "--yes", "--workflow", c.workflow, "--engine", "claude", "--name", task, "Build "+task+" of the relay")
		var stages []string
		for _, e := range f.readBill().of("begin", task, "") {
			stages = append(stages, e.Stage)
			if e.Resumed || e.Worker != "me" || e.Folder != m.clone {
				t.Errorf("%s: %+v", task, e)
			}
		}
		if got := strings.Join(stages, " "); got != c.stages || len(f.readBill().of("end", task, "")) != len(stages) {
			t.Errorf("%s: the bill has the stages %s, want %s", task, got, c.stages)
		}
		if text, err := os.ReadFile(filepath.Join(m.clone, task+".txt")); err != nil || !strings.HasPrefix(string(text), task+" by ") {
			t.Errorf("%s: its work is %q, %v", task, text, err)
		}
		f.desk = m
		for stage, at := range submissions(f.session(task)) {
			if len(at) != 1 || !strings.Contains(c.stages, stage) {
				t.Errorf("%s: %s was handed in %d times", task, stage, len(at))
			}
		}
	}
	if b := f.readBill(); b.paid() != 9 || b.repeated() != 0 {
		t.Errorf("the bill counts %d calls, %d of them repeated, want 9 and 0", b.paid(), b.repeated())
	}
}

// TestBill: the bill shows what is paid twice, asked for too late, and taken over.
func TestBill(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC) }
	call := func(second int, what, worker, stage string, pid int) entry {
		return entry{At: at(second), What: what, Task: "part-001", Stage: stage, Worker: worker, PID: pid}
	}
	lost := map[string]time.Time{"a": at(11)}
	once := bill{call(10, "begin", "a", "po", 1), call(11, "end", "a", "po", 1), call(12, "begin", "b", "dev", 2), call(13, "end", "b", "dev", 2)}
	taken := bill{call(10, "begin", "a", "po", 1), call(15, "begin", "b", "po", 2), call(16, "end", "b", "po", 2)}
	twice := append(slices.Clone(taken), call(20, "begin", "c", "po", 3))
	for name, c := range map[string]struct {
		b                                             bill
		paid, repeated, unexplained, afterwards, took int
	}{
		"nothing": {nil, 0, 0, 0, 0, 0}, "once": {once, 2, 0, 0, 0, 0}, "taken over": {taken, 2, 1, 0, 0, 1}, "paid twice": {twice, 3, 2, 1, 1, 1},
	} {
		got := []int{c.b.paid(), c.b.repeated(), len(c.b.unexplained(lost)), len(c.b.afterwards("part-001", "po", at(16))), len(c.b.takeovers(lost))}
		if want := []int{c.paid, c.repeated, c.unexplained, c.afterwards, c.took}; !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got := taken.takeovers(lost); len(got) != 1 || got[0] != 4*time.Second {
		t.Errorf("taken over after %v, want 4s", got)
	}
}
