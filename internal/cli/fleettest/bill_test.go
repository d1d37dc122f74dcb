//go:build linux

package fleettest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// quickStages are the stages of the workflow quick.
var quickStages = []string{"po", "dev", "qa"}

// bill is the lines of the stand-ins, the oldest first.
type bill []entry

// readBill reads the bill.
func (f *fleet) readBill() (out bill) {
	text, _ := os.ReadFile(f.bill) // it begins with the first call
	for line := range bytes.Lines(text) {
		var e entry
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &e) == nil {
			out = append(out, e)
		}
	}
	return out
}

// of returns the lines of a kind for a stage of a run; an empty stage is all.
func (b bill) of(what, task, stage string) (out bill) {
	for _, e := range b {
		if e.What == what && e.Task == task && (stage == "" || e.Stage == stage) {
			out = append(out, e)
		}
	}
	return out
}

// paid counts the calls that began.
func (b bill) paid() (count int) {
	for _, e := range b {
		if e.What == "begin" {
			count++
		}
	}
	return count
}

// repeated counts the calls for a stage of a run after its first one.
func (b bill) repeated() (count int) {
	seen := map[string]bool{}
	for _, e := range b {
		if e.What != "begin" {
			continue
		}
		key := e.Task + " " + e.Stage
		if seen[key] {
			count++
		}
		seen[key] = true
	}
	return count
}

// unexplained returns the calls that were made again although the worker that had called before was not lost.
func (b bill) unexplained(lost map[string]time.Time) (out []string) {
	last := map[string]string{} // the worker of the last call, by run and stage
	for _, e := range b {
		if e.What != "begin" {
			continue
		}
		key := e.Task + " " + e.Stage
		if before := last[key]; before != "" && lost[before].IsZero() {
			out = append(out, fmt.Sprintf("%s: %s asked again, after %s, which was not lost", key, e.Worker, before))
		}
		last[key] = e.Worker
	}
	return out
}

// afterwards returns the calls for a stage of a run that began after its work was handed in. The history has
// milliseconds.
func (b bill) afterwards(task, stage string, handed time.Time) (out bill) {
	for _, e := range b.of("begin", task, stage) {
		if e.At.After(handed.Add(time.Millisecond)) {
			out = append(out, e)
		}
	}
	return out
}

// session reads a run.
func (f *fleet) session(task string) *workflow.Session {
	f.t.Helper()
	s := &workflow.Session{}
	must(f.t, workflow.Unmarshal([]byte(f.desk.does(0, "show", task, "--json")), s))
	return s
}

// submissions returns the times at which each stage of a run was handed in.
func submissions(s *workflow.Session) map[string][]time.Time {
	out := map[string][]time.Time{}
	for _, h := range s.History {
		if h.Action == workflow.ActionSubmit && h.Path != "" { // one submission can be several steps
			id := string(h.FromStage())
			out[id] = append(out[id], h.At)
		}
	}
	return out
}

// checkDone checks what holds for runs of the workflow quick that have ended, by workers of which some were lost: each stage
// was paid for and handed in once, no answer was asked for after it had been handed in, at most as many calls were repeated
// as workers lost, each run's work is on the remote once, and no stand-in is left.
func (f *fleet) checkDone(tasks []string, lost int) {
	f.t.Helper()
	f.waitFor("done", tasks...)
	b, runs := f.readBill(), f.queue()
	counted, paid := 0, 0
	for _, task := range tasks {
		counted, paid = counted+runs[task].Calls, paid+len(b.of("begin", task, ""))
		s := f.session(task)
		if s.CurrentState != workflow.Completed {
			f.t.Errorf("%s: done in the queue, and at %s", task, s.Place())
		}
		handed := submissions(s)
		for _, stage := range quickStages {
			if len(handed[stage]) != 1 {
				f.t.Errorf("%s: %s was handed in %d times", task, stage, len(handed[stage]))
				continue
			}
			if len(b.of("end", task, stage)) == 0 {
				f.t.Errorf("%s: %s was handed in, and nobody was paid for it", task, stage)
			}
			for _, e := range b.afterwards(task, stage, handed[stage][0]) {
				f.t.Errorf("%s: %s asked for %s at %s, which was handed in at %s", task, e.Worker, stage, e.At, handed[stage][0])
			}
		}
		f.checkDecision(task, s)
		f.checkPushed(task, s.SessionID)
	}
	if repeated := b.repeated(); repeated > lost {
		f.t.Errorf("%d calls were repeated, and %d workers lost", repeated, lost)
	}
	// A worker can be lost between its note of a call and the call.
	if counted < paid || counted > paid+lost {
		f.t.Errorf("the queue counts %d paid calls, the bill %d, and %d workers were lost", counted, paid, lost)
	}
	f.checkNoEngine(b)
}

// checkPushed checks that the branch of a run is on the remote, with its work once, and that every commit is of the run.
func (f *fleet) checkPushed(task, session string) {
	f.t.Helper()
	branch := "bmad/" + task
	log, err := f.tryGit(f.remoteFolder(), "log", "--format=%H %(trailers:key=Bmad-Run,valueonly,separator=%x20)", "main.."+branch)
	if err != nil {
		f.t.Errorf("%s is not on the remote: %s", branch, log)
		return
	}
	for line := range strings.Lines(log) {
		if _, run, _ := strings.Cut(strings.TrimSpace(line), " "); run != session {
			f.t.Errorf("%s: the commit %q is not of run %s", branch, strings.TrimSpace(line), session)
		}
	}
	if works := f.git(f.remoteFolder(), "log", "--format=%h", "main.."+branch, "--", task+".txt"); strings.Count(works, "\n") != 0 || works == "" {
		f.t.Errorf("%s: the commits with its work are %q, want one", branch, works)
	}
}

// checkNoEngine checks that no stand-in is left.
func (f *fleet) checkNoEngine(b bill) {
	f.t.Helper()
	for _, e := range b {
		if e.What == "begin" {
			f.eventually("the end of the engine of "+e.Task, func() bool { return !isEngine(e.PID) })
		}
	}
}
