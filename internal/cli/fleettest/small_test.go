//go:build linux

package fleettest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
