// Package queue keeps the tasks of a project for agents, as events in lines of a file:
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

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// The states of a task: the events before them.
const (
	Queued    = "queued"
	Claimed   = "claimed"
	Completed = "completed"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// leadsTo has the events accepted in a state. Other events change nothing.
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

// ReadMessage reads a task in the form in which agents of the BMAD kit hand one over (BM-32), as JSON or YAML.
func ReadMessage(text string) (d Draft, isMessage bool) {
	var m struct {
		ID        string `yaml:"task_id"`
		RunID     string `yaml:"run_id"`
		Recipient struct {
			Agent string `yaml:"agent_id"`
		}
		Task struct {
			Title, Description string
			Context            struct {
				Files []string `yaml:"files_to_review"`
			}
		}
	}
	if len(text) > 4*maxTask || yaml.Unmarshal([]byte(text), &m) != nil {
		return Draft{}, false
	}
	agent, _, _ := strings.Cut(m.Recipient.Agent, "/") // the role, then the name
	words := strings.TrimSpace(m.Task.Title + "\n\n" + m.Task.Description)
	d = Draft{RunID: m.RunID, Agent: agent, Task: words + "\n\n" + text, OutputKey: m.ID, ContextFiles: m.Task.Context.Files}
	return d, d.Agent != "" && d.OutputKey != "" && words != ""
}

// Task is one piece of work for an agent.
type Task struct {
	ID string `json:"task_id"`
	Draft
	Status    string     `json:"status"`
	QueuedAt  notes.Time `json:"queued_at"`
	UpdatedAt notes.Time `json:"updated_at"`
	// Holder has claimed the task, Result is the outcome in words.
	Holder string `json:"holder,omitempty"`
	Result string `json:"result,omitempty"`
}

// event is a line of a queue. Only Queued has more of the draft than By.
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
	// State is the state of an existing task.
	State string `json:"state,omitempty"`
	// Position is the number of queued tasks of the run up to this one.
	Position int    `json:"position,omitempty"`
	Next     string `json:"next"`
}

// DefaultRun is the run of tasks without one.
const DefaultRun = "default"

var runName = pattern.New(`^[A-Za-z0-9._-]{1,100}$`)

// CheckName refuses anything but a plain name for a run or branch, before any path is made of it.
func CheckName(field, name string) error {
	if runName.MatchString(name) && strings.Trim(name, ".") != "" {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%s %q is not a plain name", field, visible.Fit(visible.Line(name), notes.MaxAgent)).
		WithHint("use letters, digits, dots, hyphens and underscores, at most 100")
}

// checkDraft returns an error if a task is not taken, and fills in missing fields.
func (q *Queue) checkDraft(d *Draft) error {
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
			return fault.New(fault.InvalidArgument, "context_files: the project has no file %q", visible.Fit(visible.Line(name), notes.MaxName)).
				WithHint("name files of the project, relative to its folder")
		}
		d.ContextFiles[i] = rel
	}
	return nil
}

const ownFile = store.Folder + "/queue"

var outputs = []string{"_bmad-output", "_grimoire-output"}

// fileOf returns the path of a run's tasks: in its folder, if a kit has made one. It has no ending.
func (q *Queue) fileOf(run string) string {
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

// taskFiles lists the files with tasks.
func (q *Queue) taskFiles() []string {
	out := []string{ownFile}
	for _, prefix := range outputs {
		names, _ := fs.Glob(q.Project.Dir.Tree(), prefix+"/.runs/*/*/tasks.jsonl") // the pattern is a good one
		for _, name := range names {
			out = append(out, strings.TrimSuffix(name, ".jsonl"))
		}
	}
	return out
}

// readTasks reads a file of tasks, in the order in which they were queued.
func (q *Queue) readTasks(file string) (log *notes.Log, list []*Task, problems []notes.Problem, err error) {
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
		if t.applyEvent(e); !known {
			byID[e.ID] = t
			list = append(list, t)
		}
	})
	return log, list, problems, err
}

// applyEvent changes the task by an event, if the state accepts it.
func (t *Task) applyEvent(e event) {
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

// Add queues a task. If the run has the task already, neither failed nor cancelled, the receipt is the old one's.
// Another task of the same output key is refused, because the results would have one name.
func (q *Queue) Add(ctx context.Context, d Draft) (out Receipt, err error) {
	if err := q.checkDraft(&d); err != nil {
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
	file := q.fileOf(d.RunID)
	log, list, _, err := q.readTasks(file)
	if err != nil {
		return out, err
	}
	out = Receipt{Status: "exists", RunID: d.RunID, Next: "get_workflow_status with this run_id shows it to the agent that does it"}
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
		if known.OutputKey != d.OutputKey || known.Status == Failed || known.Status == Cancelled {
			continue
		}
		if known.Agent != d.Agent || known.Task != d.Task {
			return out, fault.New(fault.InvalidArgument, "output_key %q names another task of this run, which is %s", d.OutputKey, known.Status).
				WithHint("choose another output_key; get_workflow_status with the run_id shows the tasks")
		}
		out.ID, out.State, out.Position = known.ID, known.Status, ahead*queued
	}
	switch {
	case out.ID != "":
		return out, nil
	case waiting >= maxWaiting:
		return out, fault.New(fault.NotAllowed, "%d tasks wait already", waiting).WithHint("say in %s.jsonl which are done or not wanted, see docs/memory.md", file)
	}
	out.ID, out.Status, out.Position = q.NewID(), Queued, ahead+1
	d.By = visible.Fit(visible.Line(d.By), notes.MaxName)
	return out, log.Append(event{V: format, Event: Queued, ID: out.ID, Draft: d, At: notes.At(q.Now())})
}

// Tasks lists the tasks of all runs, in the order in which they were queued.
func (q *Queue) Tasks(ctx context.Context) (list []Task, problems []notes.Problem, err error) {
	for _, file := range q.taskFiles() {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		_, tasks, amiss, err := q.readTasks(file)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range tasks {
			list = append(list, *t)
		}
		problems = append(problems, amiss...)
	}
	slices.SortStableFunc(list, func(a, b Task) int { return a.QueuedAt.Time.Compare(b.QueuedAt.Time) })
	return list, notes.Spoken(q.Project.Language(""), problems), nil
}
