package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// wait is the kind of a wait for the person.
type wait string

// The kinds, the most urgent first.
const (
	waitFailed    wait = "failed"
	waitQuestions wait = "questions"
	waitDecision  wait = "decision"
	waitStopped   wait = "stopped"
)

var waits = []wait{waitFailed, waitQuestions, waitDecision, waitStopped}

// waiting is a run that waits for the person.
type waiting struct {
	folder
	workflow.Summary
	Kind wait
}

// Place returns the address of the page on which the wait ends.
func (w waiting) Place() string {
	if w.Kind == waitStopped {
		return w.Run(w.TaskName)
	}
	return w.Document(w.TaskName, w.CurrentStage)
}

// slack is the time between the last step of a headless run and the save of its record.
const slack = 2 * time.Second

// waitOf returns the kind of a run's wait, "" if it does not wait. kept is the record of its headless run and e its
// entry in the queue, nil if it has none.
func waitOf(s *workflow.Summary, kept *headless.Kept, e *queue.Entry) wait {
	ofEntry, isQueued := waitOfEntry(s, e)
	switch {
	case s.CurrentState == workflow.Clarifying:
		return waitQuestions
	case s.CurrentState == workflow.AwaitingApproval && s.Position.Gate == workflow.GateVerdict:
		return waitFailed
	case s.CurrentState.WaitsForHuman():
		return waitDecision
	case !s.CurrentState.Active():
		return ""
	case isQueued:
		return ofEntry
	case kept == nil || kept.Working:
		return ""
	case s.UpdatedAt.After(kept.At.Add(slack)): // an assistant went on with it
		return ""
	}
	return waitStopped
}

// waitOfEntry returns the kind of the wait of a run in the hands of workers, "" if it does not wait for the person;
// known is false if the queue does not decide that.
func waitOfEntry(s *workflow.Summary, e *queue.Entry) (kind wait, known bool) {
	switch {
	case e == nil || e.State == queue.Done || !e.State.IsKnown():
		return "", false
	case goesOn(e):
		return "", true
	case s.UpdatedAt.After(e.ChangedAt.Add(slack)): // an assistant went on with it
		return "", true
	}
	return waitStopped, true
}

// compareWaits sorts by the kind of the wait, then the latest change first.
func compareWaits(a, b wait, atA, atB time.Time) int {
	return cmp.Or(cmp.Compare(slices.Index(waits, a), slices.Index(waits, b)), atB.Compare(atA))
}

// headlessOf reads the records of the headless runs among the sessions of a project in the hands of an assistant. A
// record that cannot be read is left out; the page of the runs reports it.
func (p projects) headlessOf(f folder, sessions []workflow.Summary) map[string]*headless.Kept {
	atWork := func(s workflow.Summary) bool { return s.CurrentState.Active() && !s.CurrentState.WaitsForHuman() }
	if !slices.ContainsFunc(sessions, atWork) {
		return nil
	}
	open, err := p.engine.Projects().Open(f.Path)
	if err != nil {
		return nil
	}
	defer open.Close()
	ids, _ := headless.Folders(open.Dir)
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	out := map[string]*headless.Kept{}
	for _, s := range sessions {
		if _, has := slices.BinarySearch(ids, s.SessionID); !has || !atWork(s) {
			continue
		}
		if kept, err := headless.Past(open.Dir, s.SessionID); err == nil && kept != nil {
			out[s.SessionID] = kept
		}
	}
	return out
}

// waitingIn returns the runs that wait for the person among those of a project.
func (p projects) waitingIn(f folder, sessions []workflow.Summary, c *crew) (all []waiting) {
	kept := p.headlessOf(f, sessions)
	for i := range sessions {
		if kind := waitOf(&sessions[i], kept[sessions[i].SessionID], c.entry(sessions[i].SessionID)); kind != "" {
			all = append(all, waiting{f, sessions[i], kind})
		}
	}
	return all
}

// crewOf reads the queue once for a request, unless sessions could not be read.
func (p projects) crewOf(a *asked, sessionID string) *crew {
	if a.crew == nil && !a.unread {
		a.crew = readCrew(a, p.queue, sessionID)
	}
	return a.crew
}

// waiting returns the runs of all projects that wait for the person, in the order of the inbox. It reads the projects
// that the request has not read.
func (p projects) waiting(a *asked) (all []waiting) {
	of := p.all()
	sessions, ok := p.readAll(a, of, a.known)
	c := a.crew
	if ok {
		c = p.crewOf(a, "")
	}
	for _, f := range of {
		all = append(all, p.waitingIn(f, sessions[f.ID], c)...)
	}
	slices.SortStableFunc(all, func(a, b waiting) int { return compareWaits(a.Kind, b.Kind, a.UpdatedAt, b.UpdatedAt) })
	return all
}

// waitingAfter returns the other runs that wait, from the one after a run, once around.
func waitingAfter(all []waiting, project, task string) []waiting {
	is := func(w waiting) bool { return w.ID == project && (w.TaskName == task || w.SessionID == task) }
	at := slices.IndexFunc(all, is)
	return slices.DeleteFunc(slices.Concat(all[at+1:], all[:max(at, 0)]), is)
}

// Title returns the objective of the run, or else the name.
func (w waiting) Title() string {
	return visible.Shorten(cmp.Or(strings.TrimSpace(visible.Line(w.Objective)), w.TaskName), maxNext, "…")
}

// maxNext bounds the title of the next run, in columns.
const maxNext = 60
