package look

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// queuedRow is a run of the team's queue in the JSON of `status`.
type queuedRow struct {
	SessionID string `json:"session_id"`
	TaskName  string `json:"task_name"`
	Project   string `json:"project"`
	// State is the one in the queue: failed, spent, cancelled or lost. Why is the worker's reason.
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
	// Command is the person's next command.
	Command string `json:"command"`
}

// lost is the shown state of a run whose worker is lost.
const lost = "lost"

// queueWait bounds the time in which status reads the queue.
const queueWait = 5 * time.Second

// addQueue reads the queue of the team, if there is a store, and adds its part of the runs that do not wait at a gate.
func (o *overview) addQueue(ctx context.Context, term *terminal.Terminal, databases *app.Databases) {
	q, err := databases.Queue()
	if err != nil || o.away || len(o.working) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, queueWait)
	defer cancel()
	v, err := q.View(ctx, "")
	if err != nil {
		o.Unreadable = append(o.Unreadable, term.Lang.Say("the queue of the team: %s", lang.Of(err).In(term.Lang)))
		return
	}
	o.sortQueued(v.Entries)
}

// sortQueued takes the runs in the queue out of the ones with work for the assistant.
func (o *overview) sortQueued(entries []queue.Entry) {
	of := map[string]*queue.Entry{}
	for i := range entries {
		of[entries[i].SessionID] = &entries[i]
	}
	var rest []workingRun
	for _, w := range o.working {
		e := of[w.id]
		if e == nil {
			rest = append(rest, w)
			continue
		}
		row := queuedRow{SessionID: w.id, TaskName: w.task, Project: w.folder, State: string(e.State), Why: e.Why}
		name := terminal.ShellWord(w.task)
		switch {
		case e.Lost:
			row.State, row.Command = lost, "bmad-mcp queue show "+name
		case e.State == queue.Ready || e.State == queue.Working:
			o.workers = append(o.workers, w)
			continue
		case e.State == queue.Spent:
			row.Command = "bmad-mcp queue retry " + name + " --budget USD"
		case e.State == queue.Failed || e.State == queue.Cancelled || e.State == queue.Waiting:
			row.Command = "bmad-mcp queue retry " + name
		default:
			rest = append(rest, w)
			continue
		}
		o.Queued = append(o.Queued, row)
	}
	o.working = rest
}

// queuedWords name the states of runs that the workers do not go on with.
var queuedWords = map[string]lang.Text{
	string(queue.Failed): lang.T("the worker failed"), string(queue.Spent): lang.T("budget or time used up"), string(queue.Cancelled): lang.T("taken from the queue"),
	string(queue.Waiting): lang.T("the worker waits for you"), lost: lang.T("the worker is lost; another one takes the run over"),
}

// sayQueued names the state of a run in the queue, with the worker's reason.
func sayQueued(term *terminal.Terminal, r queuedRow) string {
	words := queuedWords[r.State].In(term.Lang)
	if r.Why != "" {
		words = term.Lang.Say("%s: %s", words, terminal.OneLine(r.Why))
	}
	return words
}

func namesOf(runs []workingRun) (out []string) {
	for _, w := range runs {
		out = append(out, w.nameOf())
	}
	return out
}
