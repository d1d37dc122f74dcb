//go:build linux

package fleettest_test

import (
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// words are those with which the person of these tests decides on a run.
func words(task string) string { return "decided for " + task }

// decide approves the runs that wait, as two people do who see the queue at once: the decision of one of them counts.
func (f *fleet) decide(runs map[string]queued) {
	f.t.Helper()
	for task := range f.gated {
		if runs[task].State != "waiting" {
			continue
		}
		var said [2]said
		var both sync.WaitGroup
		for i, m := range []*machine{f.desk, f.colleague} {
			both.Go(func() { said[i] = m.try("decide", task, "--yes", "--feedback", words(task)) })
		}
		both.Wait()
		for _, s := range said {
			if s.code == 0 {
				f.gated[task]++
			}
		}
		if said[0].code != 0 && said[1].code != 0 {
			f.t.Logf("both decisions on %s were refused: %s%s", task, said[0].errOut, said[1].errOut)
		}
	}
}

// checkDecision checks that the gate of a run was passed once, and by whom: the person, or the flag beforehand. No decision
// that was acknowledged is lost.
func (f *fleet) checkDecision(task string, s *workflow.Session) {
	f.t.Helper()
	acknowledged, isGated := f.gated[task]
	var grants []workflow.Grant
	for _, h := range s.History {
		if h.Grant != nil {
			grants = append(grants, *h.Grant)
		}
	}
	if len(grants) != 1 || acknowledged > 1 {
		f.t.Errorf("%s: its only gate was passed by %+v, and %d decisions were acknowledged", task, grants, acknowledged)
		return
	}
	if byPerson := grants[0].Feedback == words(task); byPerson != isGated {
		f.t.Errorf("%s: its gate was passed by %+v; it waits for a person: %v", task, grants[0], isGated)
	}
}
