package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// The states of a task, which are the events that lead to them.
const (
	TaskQueued    = "queued"
	TaskClaimed   = "claimed"
	TaskCompleted = "completed"
	TaskFailed    = "failed"
	TaskCancelled = "cancelled"
)

// leadsTo has the events that a state accepts. One that it does not accept changes nothing.
var leadsTo = map[string][]string{
	"":          {TaskQueued},
	TaskQueued:  {TaskClaimed, TaskCancelled},
	TaskClaimed: {TaskCompleted, TaskFailed, TaskCancelled},
}

// Limits of the queue.
const (
	maxTask    = 8000
	maxFiles   = 50
	maxWaiting = 1000
	maxResult  = 2000
)

// TaskDraft is what a task says.
type TaskDraft struct {
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
	TaskDraft
	Status    string `json:"status"`
	QueuedAt  Time   `json:"queued_at"`
	UpdatedAt Time   `json:"updated_at"`
	// Holder has claimed the task, Result is what it or the person said at its end.
	Holder string `json:"holder,omitempty"`
	Result string `json:"result,omitempty"`
}

// event is a line of a queue. Only the one that queues a task has more of the draft than By.
type event struct {
	V     int    `json:"v"`
	Event string `json:"event"`
	ID    string `json:"task_id"`
	TaskDraft
	Result string `json:"result,omitempty"`
	At     Time   `json:"at"`
}

// Queued is the result of queueing a task.
type Queued struct {
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
	return fault.New(fault.InvalidArgument, "%s %q is not a plain name", field, visible.Clip(visible.Line(name), maxAgent)).
		WithHint("use letters, digits, dots, hyphens and underscores, at most 100")
}

func checkTask(b *Book, d *TaskDraft) error {
	d.RunID = cmp.Or(d.RunID, DefaultRun)
	if err := errors.Join(CheckAgent(d.Agent), CheckName("run_id", d.RunID), CheckName("output_key", d.OutputKey)); err != nil {
		return fault.From(err)
	}
	d.Task = strings.TrimSpace(d.Task)
	switch {
	case d.Task == "":
		return fault.New(fault.InvalidArgument, "task is empty").WithHint("describe the work and its result")
	case len(d.Task) > maxTask:
		return fault.New(fault.InvalidArgument, "task has %d bytes; at most %d are kept", len(d.Task), maxTask).WithHint("put the details into a file and name it in context_files")
	case len(d.ContextFiles) > maxFiles:
		return fault.New(fault.InvalidArgument, "context_files has %d files; at most %d are kept", len(d.ContextFiles), maxFiles).WithHint("name those that the task cannot do without")
	}
	if err := untrusted.Check("task", d.Task); err != nil {
		return err
	}
	for i, name := range d.ContextFiles {
		rel := b.p.Local(name)
		if _, err := b.p.Dir.Stat(rel); !fs.ValidPath(rel) || err != nil {
			return fault.New(fault.InvalidArgument, "context_files: the project has no file %q", visible.Clip(visible.Line(name), maxName)).
				WithHint("name files of the project, relative to its folder")
		}
		d.ContextFiles[i] = rel
	}
	return nil
}

// queue is the place of some tasks: the first of its files, without the ending.
type queue string

const ownQueue queue = store.Folder + "/queue"

var outputs = []string{"_bmad-output", "_grimoire-output"}

// queueOf returns the queue for the tasks of a run: that of its folder, where a kit has made one.
func queueOf(b *Book, run string) queue {
	if run == DefaultRun {
		return ownQueue
	}
	for _, out := range outputs {
		folders, err := fs.Glob(b.p.Dir.Tree(), out+"/.runs/*/"+run)
		if err != nil {
			continue
		}
		// The main line of work comes before the branches.
		main := out + "/.runs/main/" + run
		if slices.Contains(folders, main) {
			folders = []string{main}
		}
		for _, folder := range folders {
			if info, err := b.p.Dir.Stat(folder); err == nil && info.IsDir() {
				return queue(folder + "/tasks")
			}
		}
	}
	return ownQueue
}

// queues lists those that have tasks.
func queues(b *Book) []queue {
	out := []queue{ownQueue}
	for _, prefix := range outputs {
		names, err := fs.Glob(b.p.Dir.Tree(), prefix+"/.runs/*/*/tasks.jsonl")
		if err != nil {
			continue
		}
		for _, name := range names {
			out = append(out, queue(strings.TrimSuffix(name, ".jsonl")))
		}
	}
	return out
}

// tasks is a queue as it was read.
type tasks struct {
	queue    queue
	list     []*Task
	problems []Problem
	last     []byte // the newest part
	parts    int
}

// readQueue returns the tasks of a queue in the order in which they were queued.
func readQueue(b *Book, q queue) (tasks, error) {
	out := tasks{queue: q}
	byID := map[string]*Task{}
	for n := 0; ; n++ {
		data, err := b.p.Dir.ReadFile(partName(q, n), maxPart)
		if errors.Is(err, fs.ErrNotExist) {
			return out, nil
		}
		if err != nil {
			return out, b.trouble(err)
		}
		out.last, out.parts = data, n+1
		number := 0
		for raw := range bytes.Lines(data) {
			number++
			if raw = bytes.TrimSpace(bytes.TrimPrefix(raw, byteOrderMark)); len(raw) == 0 {
				continue
			}
			e := event{}
			if err := json.Unmarshal(raw, &e); err != nil || e.V != format || e.ID == "" {
				out.problems = append(out.problems, Problem{Path: partName(q, n), Line: number, Why: lang.T("the line is not an event of a task")})
				continue
			}
			t := byID[e.ID]
			if t == nil {
				t = &Task{}
			}
			if !slices.Contains(leadsTo[t.Status], e.Event) {
				continue
			}
			t.take(e)
			if byID[e.ID] == nil {
				byID[e.ID] = t
				out.list = append(out.list, t)
			}
		}
	}
}

// take changes the task by an event that its state accepts.
func (t *Task) take(e event) {
	t.UpdatedAt = e.At
	switch e.Event {
	case TaskQueued:
		t.ID, t.TaskDraft, t.QueuedAt = e.ID, e.TaskDraft, e.At
	case TaskClaimed:
		t.Holder = e.By
	default:
		t.Result = e.Result
	}
	t.Status = e.Event
}

// Enqueue queues a task. One of the same run and output key exists already, unless it has failed
// or was cancelled.
func (b *Book) Enqueue(ctx context.Context, d TaskDraft) (out Queued, err error) {
	if err := b.allowed(); err != nil {
		return out, err
	}
	if err := checkTask(b, &d); err != nil {
		return out, err
	}
	if err := b.m.pace.take(b.m.Now()); err != nil {
		return out, err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return out, err
	}
	defer unlock()
	t, err := readQueue(b, queueOf(b, d.RunID))
	if err != nil {
		return out, err
	}
	out = Queued{Status: "exists", RunID: d.RunID, Next: "an agent, or the person with bmad-mcp memory queue take, claims it"}
	waiting, ahead := 0, 0 // of all runs, and of this one
	for _, known := range t.list {
		queued := known.Status == TaskQueued
		waiting += side(queued)
		if known.RunID != d.RunID {
			continue
		}
		ahead += side(queued)
		if known.OutputKey == d.OutputKey && known.Status != TaskFailed && known.Status != TaskCancelled {
			out.ID, out.State, out.Position = known.ID, known.Status, ahead*side(queued)
		}
	}
	switch {
	case out.ID != "":
		return out, nil
	case waiting >= maxWaiting:
		return out, fault.New(fault.NotAllowed, "%d tasks wait already", waiting).WithHint("take or cancel some: bmad-mcp memory queue")
	}
	out.ID, out.Status, out.Position = b.m.NewID(), TaskQueued, ahead+1
	return out, record(b, t, &event{Event: TaskQueued, ID: out.ID, TaskDraft: d})
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
	// Result is what is said at its end.
	Result string
}

// Step changes the state of a task. Only one caller claims it.
func (b *Book) Step(ctx context.Context, s Step) (out Task, err error) {
	if err := b.allowed(); err != nil {
		return out, err
	}
	if s.Result, err = cleanResult(s.Result); err != nil {
		return out, err
	}
	// Where there is no such task, nothing is made on the disk.
	if _, _, err := pick(b, s); err != nil {
		return out, err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return out, err
	}
	defer unlock()
	q, t, err := pick(b, s)
	if err != nil {
		return out, err
	}
	e := event{Event: s.To, ID: t.ID, TaskDraft: TaskDraft{By: s.By}, Result: s.Result}
	err = record(b, q, &e)
	t.take(e)
	return *t, err
}

func cleanResult(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	text, err := cleanText(visible.Clip(text, maxResult))
	if err != nil {
		return "", err
	}
	return text, untrusted.Check("result", text)
}

// pick returns the task that a step is for, if its state accepts it.
func pick(b *Book, s Step) (tasks, *Task, error) {
	for _, q := range queues(b) {
		t, err := readQueue(b, q)
		if err != nil {
			return t, nil, err
		}
		for _, task := range t.list {
			named := s.ID != "" && (task.ID == s.ID || len(s.ID) >= minRef && strings.HasPrefix(task.ID, s.ID))
			next := s.ID == "" && s.To == TaskClaimed && task.Status == TaskQueued && (s.Agent == "" || s.Agent == task.Agent)
			switch {
			case !named && !next:
			case slices.Contains(leadsTo[task.Status], s.To):
				return t, task, nil
			default:
				return t, nil, fault.New(fault.Conflict, "task %q is %s", task.ID, task.Status).WithHint("bmad-mcp memory queue shows which tasks wait")
			}
		}
	}
	if s.ID == "" {
		return tasks{}, nil, fault.New(fault.NotFound, "no task waits").WithHint("spawn_subagent_task queues one")
	}
	return tasks{}, nil, fault.New(fault.NotFound, "no task has the id %q", visible.Clip(visible.Line(s.ID), maxName)).WithHint("bmad-mcp memory queue lists them")
}

// record appends an event to a queue that was read under the lock.
func record(b *Book, t tasks, e *event) error {
	e.V, e.At, e.By = format, at(b.m.Now()), visible.Clip(visible.Line(e.By), maxName)
	encoded, err := encode(e, nil)
	if err != nil {
		return err
	}
	n := max(t.parts-1, 0)
	if len(t.last) > 0 && len(t.last)+1+len(encoded) > partLimit {
		n, t.last = n+1, nil
	}
	return b.trouble(b.p.Dir.Replace(partName(t.queue, n), appendLine(t.last, encoded)))
}

// Tasks lists the tasks of a run, or with "" those of all, in the order in which they were queued.
func (b *Book) Tasks(ctx context.Context, run string) (list []Task, problems []Problem, err error) {
	if err := errors.Join(b.allowed(), ctx.Err()); err != nil {
		return nil, nil, err
	}
	queues := queues(b)
	if run != "" {
		if err := CheckName("run_id", run); err != nil {
			return nil, nil, err
		}
		queues = []queue{queueOf(b, run)}
	}
	for _, q := range queues {
		t, err := readQueue(b, q)
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, t.problems...)
		for _, task := range t.list {
			if run == "" || task.RunID == run {
				list = append(list, *task)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Task) int { return a.QueuedAt.Compare(b.QueuedAt.Time) })
	return list, spoken(b.p.Language(""), problems), nil
}
