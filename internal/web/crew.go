package web

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Queue reads the queue of the runs that the workers of a team have.
type Queue interface {
	// View returns the runs that are not done, the run of a session if that is not "", and the workers.
	View(ctx context.Context, sessionID string) (queue.View, error)
}

// queueWait bounds the time in which a page reads the queue: the rest of it does not need the queue.
const queueWait = 2 * time.Second

// crew is the queue for one page. A nil one is for a page without a queue.
type crew struct {
	queue.View
	entries map[string]*queue.Entry
	// trouble is the error in reading the queue.
	trouble error
}

// readCrew reads the queue, nil without one. It is for those who could read the sessions, so that no page waits for a
// database that is away a second time.
func (p projects) readCrew(ctx context.Context, sessionID string) *crew {
	if p.queue == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, queueWait)
	defer cancel()
	out := &crew{entries: map[string]*queue.Entry{}}
	if out.View, out.trouble = p.queue.View(ctx, sessionID); out.trouble != nil {
		out.View = queue.View{}
	}
	for i := range out.Entries {
		out.entries[out.Entries[i].SessionID] = &out.Entries[i]
	}
	return out
}

// crewOf reads the queue once for a request, unless sessions could not be read.
func (p projects) crewOf(a *asked, sessionID string) *crew {
	if a.crew == nil && !a.unread {
		a.crew = p.readCrew(a, sessionID)
	}
	return a.crew
}

// entry returns the entry of a session, nil if it has none.
func (c *crew) entry(sessionID string) *queue.Entry {
	if c == nil {
		return nil
	}
	return c.entries[sessionID]
}

// addTo adds the facts of the entries of some sessions to a print, so that the page of a list learns of a run that a
// worker takes or gives back.
func (c *crew) addTo(print *prints, sessions []workflow.Summary) {
	for _, s := range sessions {
		if e := c.entry(s.SessionID); e != nil {
			print.addEntry(e)
		}
	}
}

// goesOn reports whether workers have a run, so that nobody else is to work on it.
func goesOn(e *queue.Entry) bool {
	return e != nil && (e.State == queue.Ready || e.State == queue.Working)
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

// moneyOf returns the cost of a run in the queue.
func moneyOf(e *queue.Entry) string { return price.Money(e.Spent).Short() }

// maxWhy bounds the reason of a worker in a list, in columns.
const maxWhy = 160

// headsOf names the state of a run in the queue, and what is known about it.
func headsOf(l lang.Language, e *queue.Entry, label string, workers []queue.Worker) (head, reason string) {
	why := visible.Shorten(e.Why, maxWhy, "…")
	if why == "" {
		why = l.Say("%s spent, %s", moneyOf(e), label)
	}
	switch {
	case e.Lost:
		return label, l.Say("worker %s is lost; another one takes the run over", e.Worker)
	case e.State == queue.Ready:
		if lack := sayLack(l, e, workers); lack != "" {
			return label, lack
		}
		return label, l.Say("in the queue for %s", ago(l, e.InState))
	case e.State == queue.Working && e.Asking > 0:
		return label, l.Say("worker %s, for %s, at call %d", e.Worker, ago(l, e.InState), e.Asking)
	case e.State == queue.Working:
		return label, l.Say("worker %s, for %s", e.Worker, ago(l, e.InState))
	}
	return capitalize(stoppedWords[e.State].In(l)), why
}

// stoppedWords name the states of a run that workers do not go on with. A worker that failed is not the failed work of
// a stage, which waits at a gate.
var stoppedWords = map[queue.State]lang.Text{
	queue.Failed: lang.T("the worker failed"), queue.Spent: lang.T("budget or time used up"), queue.Cancelled: lang.T("taken from the queue"),
	queue.Waiting: lang.T("the worker waits for you"), queue.Done: lang.T("done by the workers"),
}

// sayLack says why no worker takes a run, "" if one does.
func sayLack(l lang.Language, e *queue.Entry, workers []queue.Worker) string {
	switch queue.FindLack(e, workers) {
	case queue.LacksProject:
		return l.Say("in the queue; no worker with a clone of %s was seen lately", e.Project)
	case queue.LacksLabels:
		return l.Say("in the queue; no worker with its labels was seen lately")
	case queue.LacksNothing:
	}
	return ""
}

// queued is a run in the queue, as the page of the run shows it.
type queued struct {
	queue.Entry
	// Head names the state, and Reason says what is known about it.
	Head, Reason string
	// Kind is the class of its colour.
	Kind string
	// Command is the person's next command, "" if there is none.
	Command string
}

// describeEntry describes the entry of a run, nil if it has none.
func describeEntry(l lang.Language, s *workflow.Session, c *crew) *queued {
	e := c.entry(s.SessionID)
	if e == nil {
		return nil
	}
	out := &queued{Entry: *e}
	label := labelOf(s.Definition().Stages, s.CurrentStage)
	_, out.Reason = headsOf(l, e, label, c.Workers)
	switch {
	case e.Lost:
		out.Head, out.Kind = l.Say("the worker is lost"), "warn"
	case e.State == queue.Ready:
		out.Head = l.Say("in the queue")
	case e.State == queue.Working:
		out.Head, out.Kind = l.Say("a worker is at work"), "mine"
	case e.State == queue.Done:
		out.Head, out.Reason, out.Kind = stoppedWords[e.State].In(l), "", "good"
	default:
		out.Head, out.Kind = stoppedWords[e.State].In(l), "warn"
		if e.State == queue.Failed {
			out.Kind = "bad"
		}
	}
	if out.Note != "" {
		out.Reason = out.Note
	}
	switch e.State {
	case queue.Spent:
		out.Command = "bmad-mcp queue retry " + s.TaskName + " --budget USD"
	case queue.Failed, queue.Cancelled:
		out.Command = "bmad-mcp queue retry " + s.TaskName
	case queue.Waiting:
		if !s.CurrentState.WaitsForHuman() { // else the page has a button
			out.Command = "bmad-mcp queue retry " + s.TaskName
		}
	case queue.Ready, queue.Working, queue.Done:
	}
	if !s.CurrentState.Active() {
		out.Command = ""
	}
	return out
}

// hand is a worker in a list.
type hand struct {
	queue.Worker
	// Does says what it does; Href is the page of its run, "" if that is not here.
	Does, Href string
}

// maxHands bounds the workers of a list.
const maxHands = 50

// teamLists are the workers, and the runs of the queue that no list has.
type teamLists struct {
	Hands []hand
	// More counts the workers that are left out, Elsewhere the runs of projects that are not served here.
	More, Elsewhere int
	// Trouble says why the queue cannot be read, "" if it can.
	Trouble string
}

// listTeam returns the workers for a page with some cards, nil without a queue.
func listTeam(l lang.Language, c *crew, cards []card) *teamLists {
	if c == nil {
		return nil
	}
	out := &teamLists{}
	if c.trouble != nil {
		out.Trouble = lang.Of(c.trouble).In(l)
		return out
	}
	hrefs := map[string]string{}
	for i := range cards {
		hrefs[cards[i].SessionID] = cards[i].Href
	}
	for i := range c.Entries {
		if _, here := hrefs[c.Entries[i].SessionID]; !here {
			out.Elsewhere++
		}
	}
	for _, w := range c.Workers[:min(len(c.Workers), maxHands)] {
		row := hand{Worker: w, Href: hrefs[w.SessionID], Does: l.Say("idle")}
		e := c.entry(w.SessionID)
		switch {
		case e != nil && e.Asking > 0:
			row.Does = l.Say("for %s, at call %d", ago(l, e.InState), e.Asking)
		case e != nil:
			row.Does = l.Say("for %s", ago(l, e.InState))
		case w.IsGone():
			row.Does = l.Say("not seen for %s", ago(l, w.SeenAgo))
		}
		out.Hands = append(out.Hands, row)
	}
	out.More = len(c.Workers) - len(out.Hands)
	return out
}

// readAll reads the latest sessions of some folders, by their ids, apart from those that are read already. A folder that
// cannot be read is left out, as the inbox says; ok is false then, and if there is no folder.
func (p projects) readAll(ctx context.Context, of []folder, read map[string][]workflow.Summary) (all map[string][]workflow.Summary, ok bool) {
	all, ok = map[string][]workflow.Summary{}, len(of) > 0
	for _, f := range of {
		sessions, has := read[f.ID]
		if !has {
			var err error
			if sessions, err = p.engine.Latest(ctx, addressOf(f), engine.MaxBoard); err != nil {
				ok = false
				continue
			}
		}
		all[f.ID] = sessions
	}
	return all, ok
}
