package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The sources of runs: sessions of bmad-task, the runs of a kit, and runs with tasks in the queue only.
const (
	SourceTask  = "bmad-task"
	SourceRuns  = "runs"
	SourceQueue = "queue"
)

// SessionRow is a session, or a branch with the runs of a kit.
type SessionRow struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Source string `json:"source,omitempty"`
	Branch string `json:"branch,omitempty"`
	Status string `json:"status"`
	Stage  string `json:"stage,omitempty"`
	// Run is the newest of a branch.
	Run       string `json:"run,omitempty"`
	UpdatedAt string `json:"updated_at,omitempty"`
	// Integrity and Altered are as in the list of status.
	Integrity string `json:"integrity,omitempty"`
	Altered   bool   `json:"altered,omitempty"`

	changed time.Time
}

// SessionList is a page of them.
type SessionList struct {
	Sessions []SessionRow `json:"sessions"`
	Total    int          `json:"total"`
	// Next asks for the page after this one.
	Next     string          `json:"next,omitempty"`
	Problems []notes.Problem `json:"problems,omitempty"`
}

// RunStatus is one run.
type RunStatus struct {
	Source string  `json:"source"`
	Run    RunView `json:"run"`
	// Tasks are the tasks in the queue for the run, at most the newest 50.
	Tasks    []queue.Task    `json:"tasks"`
	Problems []notes.Problem `json:"problems,omitempty"`
}

// RunView describes a session, or a run of a kit.
type RunView struct {
	SessionRow
	State     string `json:"state,omitempty"`
	Objective string `json:"objective,omitempty"`
	// File has the content of the kit's file about the run.
	File any `json:"file,omitempty"`
}

// Sessions lists the sessions of a project and the branches of a kit, the latest change first. status is one of
// all, active, completed and failed; cursor is the Next of the page before.
func (b *Book) Sessions(ctx context.Context, status, cursor string) (SessionList, error) {
	known := []string{"all", grimoire.Active, grimoire.Completed, grimoire.Failed}
	if status = cmp.Or(status, known[0]); !slices.Contains(known, status) {
		return SessionList{}, fault.New(fault.InvalidArgument, "%q is not a status of sessions", shownName(status)).
			WithHint("use one of %s", strings.Join(known, ", ")).Suggest(status, known)
	}
	r, amiss, err := b.readRuns(ctx)
	if err != nil {
		return SessionList{}, err
	}
	defer r.close()
	sessions, err := r.p.Sessions(ctx)
	if err != nil {
		return SessionList{}, err
	}
	var rows []SessionRow
	for _, s := range sessions.Sessions {
		rows = append(rows, rowOf(s))
	}
	for _, broken := range sessions.Broken[:min(len(sessions.Broken), maxProblems)] {
		amiss = append(amiss, notes.Problem{Path: broken.Path, Why: lang.Of(broken.Err)})
	}
	for _, branch := range r.listBranches() {
		rows = append(rows, r.describeBranch(branch))
	}
	rows = slices.DeleteFunc(rows, func(r SessionRow) bool { return status != known[0] && r.Status != status })
	slices.SortStableFunc(rows, func(a, b SessionRow) int {
		return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(a.cursor(), b.cursor()))
	})
	out := SessionList{Total: len(rows), Problems: notes.Spoken(b.p.Language(""), amiss)}
	if cursor != "" {
		at, err := indexAfter(rows, cursor)
		if err != nil {
			return SessionList{}, err
		}
		rows = rows[at:]
	}
	return fitReply(min(len(rows), maxCount), func(items, text int) SessionList {
		out.Sessions, out.Next = append([]SessionRow{}, rows[:items]...), ""
		for i := range out.Sessions {
			out.Sessions[i].Name = untrusted.Label(out.Sessions[i].Name, text)
		}
		if items < len(rows) && items > 0 {
			out.Next = rows[items-1].cursor()
		}
		return out
	}), nil
}

// cursor returns the place of a row in the list: the time of the last change, the kind and the name.
func (r SessionRow) cursor() string {
	return r.changed.UTC().Format(time.RFC3339Nano) + "/" + r.Source + "/" + r.ID
}

// indexAfter returns the index of the first row behind a place.
func indexAfter(rows []SessionRow, cursor string) (int, error) {
	stamp, rest, _ := strings.Cut(cursor, "/")
	changed, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil || !strings.Contains(rest, "/") {
		return 0, fault.New(fault.InvalidArgument, "%q is not a place in the list of sessions", shownName(cursor)).
			WithHint("use the next of the page before, or leave it out for the first page")
	}
	at := slices.IndexFunc(rows, func(r SessionRow) bool {
		return r.changed.Before(changed) || r.changed.Equal(changed) && r.cursor() > cursor
	})
	if at < 0 {
		at = len(rows)
	}
	return at, nil
}

func rowOf(s workflow.Summary) SessionRow {
	status := grimoire.Active
	if !s.CurrentState.Active() {
		status = string(s.CurrentState) // completed or cancelled
	}
	return SessionRow{
		ID: s.SessionID, Name: s.TaskName, Source: SourceTask, Status: status, Stage: string(s.CurrentStage),
		UpdatedAt: formatTime(s.UpdatedAt), changed: s.UpdatedAt,
	}
}

// readRuns is readAll with the files of runs, which other calls do not need. amiss has the first problems.
func (b *Book) readRuns(ctx context.Context) (r *reading, amiss []notes.Problem, err error) {
	if r, err = b.readAll(ctx); err != nil {
		return nil, nil, err
	}
	if _, err := r.runs.refreshFiles(ctx, r.p.Dir, r.now, grimoire.RunSources); err != nil {
		r.close()
		return nil, nil, err
	}
	return r, slices.Concat(r.runs.problems[:min(len(r.runs.problems), maxProblems)], r.firstProblems()), nil
}

// listBranches lists the branches of a kit, also ones with runs and without a file.
func (r *reading) listBranches() []grimoire.Branch {
	out := slices.Clone(r.runs.content.Branches)
	for _, run := range r.runs.content.Runs {
		if !slices.ContainsFunc(out, func(b grimoire.Branch) bool { return b.Name == run.Branch }) {
			out = append(out, grimoire.Branch{Name: run.Branch})
		}
	}
	return out
}

// describeBranch describes a branch by the newest run.
func (r *reading) describeBranch(branch grimoire.Branch) SessionRow {
	row := SessionRow{
		ID: shownName(branch.Name), Name: cmp.Or(branch.Purpose, branch.Name), Source: SourceRuns,
		Status: branch.Status(r.runs.content.Runs), changed: branch.Created,
	}
	if last := r.newestRun("", branch.Name); last != nil {
		of := runRow(last)
		row.Run, row.Stage = of.ID, of.Stage
		if last.Updated.After(row.changed) {
			row.changed = last.Updated
		}
	}
	row.Branch, row.UpdatedAt = row.ID, formatTime(row.changed)
	return row
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func runRow(r *grimoire.Run) SessionRow {
	return SessionRow{
		ID: shownName(r.ID), Name: shownName(r.ID), Branch: shownName(r.Branch), Status: r.Status, Stage: r.Stage(),
		UpdatedAt: formatTime(r.Updated), changed: r.Updated,
	}
}

// newestRun returns the most recently changed run of a kit; an empty id or branch stands for any.
func (r *reading) newestRun(id, branch string) (last *grimoire.Run) {
	for i, run := range r.runs.content.Runs {
		isMeant := (id == "" || run.ID == id) && (branch == "" || run.Branch == branch)
		if isMeant && (last == nil || run.Updated.After(last.Updated)) {
			last = &r.runs.content.Runs[i]
		}
	}
	return last
}

// Run returns a session by id or task name, or a run of a kit by id; with neither, the latest changed one. A
// branch asks for runs of a kit only.
func (b *Book) Run(ctx context.Context, runID, branch string) (RunStatus, error) {
	named := queue.CheckName("run_id", cmp.Or(runID, queue.DefaultRun))
	if err := cmp.Or(named, queue.CheckName("branch", cmp.Or(branch, queue.DefaultRun))); err != nil {
		return RunStatus{}, err
	}
	r, amiss, err := b.readRuns(ctx)
	if err != nil {
		return RunStatus{}, err
	}
	defer r.close()
	out, run, err := r.findRun(ctx, runID, branch)
	if err != nil {
		return RunStatus{}, err
	}
	q, err := b.Queue()
	if err != nil {
		return RunStatus{}, err
	}
	tasks, problems, err := q.Tasks(ctx)
	if err != nil {
		return RunStatus{}, err
	}
	out.Problems = notes.Spoken(b.p.Language(""), append(amiss, problems[:min(len(problems), maxProblems)]...))
	tasks = slices.DeleteFunc(tasks, func(t queue.Task) bool { return t.RunID != out.Run.ID && t.RunID != out.Run.Name })
	if out.Source == SourceQueue {
		if len(tasks) == 0 || branch != "" {
			return RunStatus{}, r.noRun(runID, branch)
		}
		out.Run.Status = statusOf(tasks)
	}
	return fitReply(maxCount, func(items, text int) RunStatus {
		if run != nil {
			out.Run.File = trimValue(run.State, items, text)
		}
		out.Tasks = []queue.Task{}
		for _, t := range tasks[len(tasks)-min(len(tasks), items):] {
			t.Task, t.Result, t.ContextFiles = untrusted.Shown(t.Task, text), untrusted.Shown(t.Result, text), shownAll(t.ContextFiles)
			out.Tasks = append(out.Tasks, t)
		}
		return out
	}), nil
}

// findRun describes the run of the id or branch. It is one of the queue if nothing else has the name.
func (r *reading) findRun(ctx context.Context, runID, branch string) (out RunStatus, run *grimoire.Run, err error) {
	var session *workflow.Summary
	if branch == "" {
		if session, err = r.findSession(ctx, runID); err != nil {
			return out, nil, err
		}
	}
	run = r.newestRun(runID, branch)
	switch {
	case session == nil && run == nil:
		id := cmp.Or(runID, queue.DefaultRun)
		return RunStatus{Source: SourceQueue, Run: RunView{SessionRow: SessionRow{ID: id, Name: id}}}, nil, nil
	case run == nil || session != nil && session.UpdatedAt.After(run.Updated):
		out = RunStatus{Source: SourceTask, Run: RunView{SessionRow: rowOf(*session),
			State: string(session.CurrentState), Objective: untrusted.Shown(session.Objective, maxShownText)}}
		out.Run.Source = ""
		return out, nil, nil
	}
	return RunStatus{Source: SourceRuns, Run: RunView{SessionRow: runRow(run)}}, run, nil
}

// statusOf returns the status of a run of which only the tasks are known.
func statusOf(all []queue.Task) string {
	out := grimoire.Completed
	for _, t := range all {
		switch t.Status {
		case queue.Queued, queue.Claimed:
			return grimoire.Active
		case queue.Failed:
			out = grimoire.Failed
		}
	}
	return out
}

// findSession returns the session of an id or name, or the one changed last; nil if there is none.
func (r *reading) findSession(ctx context.Context, ref string) (*workflow.Summary, error) {
	sessions := r.p.Backend
	if ref == "" {
		all, err := sessions.Latest(ctx, 1)
		if err != nil || len(all.Sessions) == 0 {
			return nil, err
		}
		return &all.Sessions[0], nil
	}
	id, err := sessions.Find(ctx, ref)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := sessions.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	summary := s.Summary()
	return &summary, nil
}

// noRun returns the error if nothing of the names exists.
func (r *reading) noRun(run, branch string) error {
	var runs, branches []string
	for _, run := range r.runs.content.Runs {
		runs = append(runs, run.ID)
	}
	for _, b := range r.listBranches() {
		branches = append(branches, b.Name)
	}
	switch {
	case branch != "" && !slices.Contains(branches, branch):
		return fault.New(fault.NotFound, "the project has no branch %q with runs", branch).WithHint("list_sessions lists the sessions and branches").Suggest(branch, branches)
	case branch != "" && run == "":
		return fault.New(fault.NotFound, "the branch %q has no runs", branch).WithHint("list_sessions lists the sessions and branches")
	case run != "":
		return fault.New(fault.NotFound, "the project has no run %q", run).WithHint("list_sessions lists the sessions and branches").Suggest(run, runs)
	}
	return fault.New(fault.NotFound, "nothing has run in this project yet").WithHint("start a task with bmad-task")
}

// trimValue returns a value of a file without credentials, and with bounded texts and lists.
func trimValue(value any, items, text int) any {
	switch v := value.(type) {
	case string:
		return untrusted.Shown(v, text)
	case []any:
		out := []any{}
		for _, one := range v[:min(len(v), items)] {
			out = append(out, trimValue(one, items/2, text))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v))[:min(len(v), items)] {
			out[untrusted.Label(name, notes.MaxTag)] = trimValue(v[name], items/2, text)
		}
		return out
	}
	return value
}
