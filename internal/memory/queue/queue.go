// Package queue keeps the tasks of a project that wait for an agent, as events in lines of a file:
//
//	.bmad-task/queue.jsonl                     tasks of runs that no kit has a folder for
//	<output>/.runs/<branch>/<run>/tasks.jsonl  those of a run of a kit
package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// The states of a task, which are the events that lead to them.
const (
	Queued    = "queued"
	Claimed   = "claimed"
	Completed = "completed"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// leadsTo has the events that a state accepts. One that it does not accept changes nothing.
var leadsTo = map[string][]string{
	"":      {Queued},
	Queued:  {Claimed, Cancelled},
	Claimed: {Completed, Failed, Cancelled},
}

// Limits of the queue.
const (
	maxTask    = 8000
	maxFiles   = 50
	maxWaiting = 1000
	maxResult  = 2000
)

// Queue has the tasks of an open project.
type Queue struct {
	Project *project.Project
	Now     func() time.Time
	// NewID makes a unique id.
	NewID func() string
	// Pace counts a write, and returns an error if there were too many.
	Pace func() error
}

// format is the version of the lines.
const format = 1

// Draft is the content of a task.
type Draft struct {
	RunID     string `json:"run_id,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Task      string `json:"task,omitempty"`
	OutputKey string `json:"output_key,omitempty"`
	// ContextFiles are relative to the project.
	ContextFiles []string `json:"context_files,omitempty"`
	By           string   `json:"by,omitempty"`
}

// Task is one piece of work for an agent.
type Task struct {
	ID string `json:"task_id"`
	Draft
	Status    string     `json:"status"`
	QueuedAt  notes.Time `json:"queued_at"`
	UpdatedAt notes.Time `json:"updated_at"`
	// Holder has claimed the task, Result is the outcome in its words, or the person's.
	Holder string `json:"holder,omitempty"`
	Result string `json:"result,omitempty"`

	log *notes.Log
}

// event is a line of a queue. Only the one that queues a task has more of the draft than By.
type event struct {
	V     int    `json:"v"`
	Event string `json:"event"`
	ID    string `json:"task_id"`
	Draft
	Result string     `json:"result,omitempty"`
	At     notes.Time `json:"at"`
}

// Receipt is the result of adding a task.
type Receipt struct {
	ID     string `json:"task_id"`
	Status string `json:"status"` // queued, or exists
	RunID  string `json:"run_id"`
	// State is that of a task that exists.
	State string `json:"state,omitempty"`
	// Position is the number of queued tasks of the run up to this one.
	Position int    `json:"position,omitempty"`
	Next     string `json:"next"`
}

// DefaultRun is the run of tasks that name none.
const DefaultRun = "default"

var runName = pattern.New(`^[A-Za-z0-9._-]{1,100}$`)

// CheckName refuses a run or branch that is not a plain name, before any path is made of it.
func CheckName(field, name string) error {
	if runName.MatchString(name) && strings.Trim(name, ".") != "" {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%s %q is not a plain name", field, visible.Clip(visible.Line(name), notes.MaxAgent)).
		WithHint("use letters, digits, dots, hyphens and underscores, at most 100")
}

// check returns an error if a task is not taken, and fills in the fields that it leaves out.
func (q *Queue) check(d *Draft) error {
	d.RunID = cmp.Or(d.RunID, DefaultRun)
	if err := errors.Join(notes.CheckAgent(d.Agent), CheckName("run_id", d.RunID), CheckName("output_key", d.OutputKey)); err != nil {
		return fault.From(err)
	}
	d.Task = strings.TrimSpace(d.Task)
	switch {
	case d.Task == "":
		return fault.New(fault.InvalidArgument, "task is empty").WithHint("describe the work and its result")
	case len(d.Task) > maxTask:
		return fault.New(fault.InvalidArgument, "task has %d bytes; at most %d are kept", len(d.Task), maxTask).WithHint("put the details into a file and name it in context_files")
	case len(d.ContextFiles) > maxFiles:
		return fault.New(fault.InvalidArgument, "context_files has %d files; at most %d are kept",
			len(d.ContextFiles), maxFiles).WithHint("name those that the task cannot do without")
	}
	if err := untrusted.Check("task", d.Task); err != nil {
		return err
	}
	for i, name := range d.ContextFiles {
		rel := q.Project.Local(name)
		if _, err := q.Project.Dir.Stat(rel); !fs.ValidPath(rel) || err != nil {
			return fault.New(fault.InvalidArgument, "context_files: the project has no file %q", visible.Clip(visible.Line(name), notes.MaxName)).
				WithHint("name files of the project, relative to its folder")
		}
		d.ContextFiles[i] = rel
	}
	return nil
}

const ownFile = store.Folder + "/queue"

var outputs = []string{"_bmad-output", "_grimoire-output"}

// file returns the path of a run's tasks: in its folder, if a kit has made one. It has no ending.
func (q *Queue) file(run string) string {
	if run == DefaultRun {
		return ownFile
	}
	for _, out := range outputs {
		for _, branch := range []string{"main", "*"} { // the main line of work comes before the branches
			folders, _ := fs.Glob(q.Project.Dir.Tree(), out+"/.runs/"+branch+"/"+run) // the name of a run has no marks
			for _, folder := range folders {
				if info, err := q.Project.Dir.Stat(folder); err == nil && info.IsDir() {
					return folder + "/tasks"
				}
			}
		}
	}
	return ownFile
}

// files lists those that have tasks.
func (q *Queue) files() []string {
	out := []string{ownFile}
	for _, prefix := range outputs {
		names, _ := fs.Glob(q.Project.Dir.Tree(), prefix+"/.runs/*/*/tasks.jsonl") // the pattern is a good one
		for _, name := range names {
			out = append(out, strings.TrimSuffix(name, ".jsonl"))
		}
	}
	return out
}

// read reads a file of tasks, in the order in which they were queued.
func (q *Queue) read(file string) (log *notes.Log, list []*Task, problems []notes.Problem, err error) {
	byID := map[string]*Task{}
	log, err = notes.ReadLog(q.Project.Dir, file, func(part string, number int, line []byte) {
		e := event{}
		if err := json.Unmarshal(line, &e); err != nil || e.V != format || e.ID == "" {
			problems = append(problems, notes.Problem{Path: part, Line: number, Why: lang.T("the line is not an event of a task")})
			return
		}
		t, known := byID[e.ID]
		if !known {
			t = &Task{}
		}
		if !slices.Contains(leadsTo[t.Status], e.Event) {
			return
		}
		if t.take(e); !known {
			byID[e.ID] = t
			list = append(list, t)
		}
	})
	for _, t := range list {
		t.log = log
	}
	return log, list, problems, err
}

// readAll reads several files of tasks.
func (q *Queue) readAll(ctx context.Context, files []string) (list []*Task, problems []notes.Problem, err error) {
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		_, tasks, amiss, err := q.read(file)
		if err != nil {
			return nil, nil, err
		}
		list, problems = append(list, tasks...), append(problems, amiss...)
	}
	return list, problems, nil
}

// take changes the task by an event that its state accepts.
func (t *Task) take(e event) {
	t.UpdatedAt = e.At
	switch e.Event {
	case Queued:
		t.ID, t.Draft, t.QueuedAt = e.ID, e.Draft, e.At
	case Claimed:
		t.Holder = e.By
	default:
		t.Result = e.Result
	}
	t.Status = e.Event
}

// Add queues a task. If the run has a task of the same output key that has not failed and was not
// cancelled, the receipt is that of the old one.
func (q *Queue) Add(ctx context.Context, d Draft) (out Receipt, err error) {
	if err := q.check(&d); err != nil {
		return out, err
	}
	if err := q.Pace(); err != nil {
		return out, err
	}
	unlock, err := notes.Lock(ctx, q.Project.Dir)
	if err != nil {
		return out, err
	}
	defer unlock()
	log, list, _, err := q.read(q.file(d.RunID))
	if err != nil {
		return out, err
	}
	out = Receipt{Status: "exists", RunID: d.RunID, Next: "an agent, or the person with bmad-mcp memory queue take, claims it"}
	waiting, ahead := 0, 0 // of all runs, and of this one
	for _, known := range list {
		queued := 0
		if known.Status == Queued {
			queued = 1
		}
		waiting += queued
		if known.RunID != d.RunID {
			continue
		}
		ahead += queued
		if known.OutputKey == d.OutputKey && known.Status != Failed && known.Status != Cancelled {
			out.ID, out.State, out.Position = known.ID, known.Status, ahead*queued
		}
	}
	switch {
	case out.ID != "":
		return out, nil
	case waiting >= maxWaiting:
		return out, fault.New(fault.NotAllowed, "%d tasks wait already", waiting).WithHint("take or cancel some: bmad-mcp memory queue")
	}
	out.ID, out.Status, out.Position = q.NewID(), Queued, ahead+1
	return out, q.record(log, &event{Event: Queued, ID: out.ID, Draft: d})
}

// Step is a change of a task.
type Step struct {
	// ID is that of the task, or its beginning; to claim, "" is the task that has waited longest.
	ID string
	// Agent chooses among the tasks to claim.
	Agent string
	// To is the state that the task gets.
	To string
	By string
	// Result is the outcome of the task, in words.
	Result string
}

// Step changes the state of a task. Only one caller claims it.
func (q *Queue) Step(ctx context.Context, s Step) (out Task, err error) {
	if s.Result, err = cleanResult(s.Result); err != nil {
		return out, err
	}
	// If there is no such task, nothing is made on the disk.
	if _, err := q.pick(ctx, s); err != nil {
		return out, err
	}
	unlock, err := notes.Lock(ctx, q.Project.Dir)
	if err != nil {
		return out, err
	}
	defer unlock()
	t, err := q.pick(ctx, s)
	if err != nil {
		return out, err
	}
	e := event{Event: s.To, ID: t.ID, Draft: Draft{By: s.By}, Result: s.Result}
	err = q.record(t.log, &e)
	t.take(e)
	return *t, err
}

func cleanResult(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	text, err := notes.CleanText(visible.Clip(text, maxResult))
	if err != nil {
		return "", err
	}
	return text, untrusted.Check("result", text)
}

// pick returns the task that a step is for, if its state accepts it.
func (q *Queue) pick(ctx context.Context, s Step) (*Task, error) {
	list, _, err := q.readAll(ctx, q.files())
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(t *Task) bool {
		if s.ID != "" {
			return notes.Names(s.ID, t.ID)
		}
		return s.To == Claimed && t.Status == Queued && (s.Agent == "" || s.Agent == t.Agent)
	})
	switch {
	case at < 0 && s.ID == "":
		return nil, fault.New(fault.NotFound, "no task waits").WithHint("spawn_subagent_task queues one")
	case at < 0:
		return nil, fault.New(fault.NotFound, "no task has the id %q", visible.Clip(visible.Line(s.ID), notes.MaxName)).WithHint("bmad-mcp memory queue lists them")
	case !slices.Contains(leadsTo[list[at].Status], s.To):
		return nil, fault.New(fault.Conflict, "task %q is %s", list[at].ID, list[at].Status).WithHint("bmad-mcp memory queue shows which tasks wait")
	}
	return list[at], nil
}

// record appends an event to a log that was read under the lock.
func (q *Queue) record(log *notes.Log, e *event) error {
	e.V, e.At, e.By = format, notes.At(q.Now()), visible.Clip(visible.Line(e.By), notes.MaxName)
	return log.Append(e)
}

// Tasks lists the tasks of a run, or with "" those of all, in the order in which they were queued.
func (q *Queue) Tasks(ctx context.Context, run string) (list []Task, problems []notes.Problem, err error) {
	files := q.files()
	if run != "" {
		if err := CheckName("run_id", run); err != nil {
			return nil, nil, err
		}
		files = []string{q.file(run)}
	}
	all, problems, err := q.readAll(ctx, files)
	if err != nil {
		return nil, nil, err
	}
	for _, task := range all {
		if run == "" || task.RunID == run {
			list = append(list, *task)
		}
	}
	slices.SortStableFunc(list, func(a, b Task) int { return a.QueuedAt.Time.Compare(b.QueuedAt.Time) })
	return list, notes.Spoken(q.Project.Language(""), problems), nil
}
