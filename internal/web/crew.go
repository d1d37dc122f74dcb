package web

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// moneyOf returns the cost of a run in the queue.
func moneyOf(e *queue.Entry) string { return price.Money(e.Spent).Short() }

// maxWhy bounds the reason of a worker in a list, in columns.
const maxWhy = 160

// headsOf names the state of a run in the queue, and the facts about it.
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
	// Head names the state, and Reason has the facts about it.
	Head, Reason string
	// Kind is the class of its colour.
	Kind string
	// Command is the person's next command, "" if there is none.
	Command string
}

// describeEntry describes the entry of a run at a stage of some label, nil if it has none.
func describeEntry(l lang.Language, s *workflow.Session, label string, c *crew) *queued {
	e := c.entry(s.SessionID)
	if e == nil {
		return nil
	}
	out := &queued{Entry: *e}
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
