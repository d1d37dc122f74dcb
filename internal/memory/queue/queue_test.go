package queue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

var ctx = context.Background()

// tasks is a queue in a test.
type tasks struct{ *queue.Queue }

// queueing opens the queue of a project, which numbers its tasks.
func queueing(t testing.TB, path string) tasks {
	t.Helper()
	dir, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return tasks{queueAt(dir, path, 0)}
}

// queueAt returns a queue whose clock moves a second with each look, in the past of every file.
func queueAt(dir *durable.Dir, path string, began int64) *queue.Queue {
	var ids, looks atomic.Int64
	return &queue.Queue{
		Project: &project.Project{Dir: dir, Config: config.Default(path)},
		Now:     func() time.Time { return time.Unix(1_700_000_000+began+looks.Add(1), 0) },
		NewID:   func() string { return fmt.Sprintf("task-%04d", ids.Add(1)) },
		Pace:    func() error { return nil },
	}
}

func (s tasks) add(t testing.TB, d queue.Draft) queue.Receipt {
	t.Helper()
	got, err := s.Add(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (s tasks) step(t testing.TB, step queue.Step, want fault.Code) queue.Task {
	t.Helper()
	got, err := s.Step(ctx, step)
	if want == "" && err != nil || want != "" && !fault.Is(err, want) {
		t.Fatalf("%+v: %v, want %q", step, err, want)
	}
	return got
}

// TestQueue follows tasks from the queue to their ends, in the folder of their run if a kit has
// made one.
func TestQueue(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	for _, name := range []string{"_bmad-output/.runs/feature/r1", "_bmad-output/.runs/main/r2", "_bmad-output/.runs/alpha/r2", "docs"} {
		if err := os.MkdirAll(filepath.Join(path, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(path, "docs/prd.md"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := queueing(t, path)
	first := s.add(t, queue.Draft{Agent: "dev", Task: "write the parser", OutputKey: "parser", ContextFiles: []string{"./docs/prd.md", filepath.Join(path, "docs")}})
	if first.Status != "queued" || first.Position != 1 || first.RunID != queue.DefaultRun || first.ID != "task-0001" {
		t.Errorf("%+v", first)
	}
	second := s.add(t, queue.Draft{Agent: "qa", Task: "test the parser", OutputKey: "tests"})
	if again := s.add(t, queue.Draft{Agent: "dev", Task: "other words", OutputKey: "parser"}); again.Status != "exists" || again.ID != first.ID || again.State != "queued" || again.Position != 1 || second.Position != 2 {
		t.Errorf("%+v, %+v", again, second)
	}
	for run, place := range map[string]string{"r1": "_bmad-output/.runs/feature/r1/tasks.jsonl", "r2": "_bmad-output/.runs/main/r2/tasks.jsonl", "r3": ".bmad-task/queue.jsonl"} {
		got := s.add(t, queue.Draft{RunID: run, Agent: "dev", Task: "of " + run, OutputKey: "parser"})
		data, err := os.ReadFile(filepath.Join(path, place))
		if err != nil || !strings.Contains(string(data), got.ID) {
			t.Errorf("%s is not in %s: %v", got.ID, place, err)
		}
		if list, _, err := s.Tasks(ctx, run); err != nil || len(list) != 1 || list[0].RunID != run {
			t.Errorf("%s: %+v, %v", run, list, err)
		}
	}
	// The one that waits longest for the agent, then by its id; nobody gets it twice.
	got := s.step(t, queue.Step{To: queue.Claimed, Agent: "qa", By: "me"}, "")
	if got.ID != second.ID || got.Status != "claimed" || got.Holder != "me" || got.Task != "test the parser" {
		t.Errorf("%+v", got)
	}
	s.step(t, queue.Step{ID: second.ID, To: queue.Claimed}, fault.Conflict)
	s.step(t, queue.Step{To: queue.Claimed, Agent: "nobody"}, fault.NotFound)
	s.step(t, queue.Step{ID: first.ID, To: queue.Completed}, fault.Conflict)
	s.step(t, queue.Step{ID: "unknown-task", To: queue.Completed}, fault.NotFound)
	s.step(t, queue.Step{ID: second.ID, To: queue.Completed, Result: "password=hunter2"}, fault.InvalidArgument)
	if done := s.step(t, queue.Step{ID: second.ID, To: queue.Completed, Result: " all pass\n"}, ""); done.Status != "completed" || done.Result != "all pass" || done.Holder != "me" {
		t.Errorf("%+v", done)
	}
	s.step(t, queue.Step{ID: first.ID, To: queue.Cancelled}, "")
	s.step(t, queue.Step{ID: first.ID, To: queue.Claimed}, fault.Conflict)
	if done := s.add(t, queue.Draft{Agent: "qa", Task: "test it again", OutputKey: "tests"}); done.Status != "exists" || done.State != "completed" || done.Position != 0 {
		t.Errorf("%+v", done)
	}
	if anew := s.add(t, queue.Draft{Agent: "dev", Task: "write the parser anew", OutputKey: "parser"}); anew.Status != "queued" || anew.ID == first.ID {
		t.Errorf("a cancelled task keeps its key: %+v", anew)
	}
	list, problems, err := queueing(t, path).Tasks(ctx, "")
	if err != nil || len(problems) > 0 || len(list) != 6 || list[0].ID != first.ID || list[0].ContextFiles[0] != "docs/prd.md" || list[0].ContextFiles[1] != "docs" {
		t.Errorf("%+v, %v, %v", list, problems, err)
	}
	// Lines of others in the file are named, and hide nothing.
	name := filepath.Join(path, ".bmad-task/queue.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	broken := "\ufeff<<<<<<< ours\n" + string(data) + `{"v":1,"event":"completed","task_id":"task-0001"}` + "\n" + `{"v":1,"event":"claimed","task_id":"nobody"}`
	if err := os.WriteFile(name, []byte(broken), 0o644); err != nil {
		t.Fatal(err)
	}
	list, problems, err = s.Tasks(ctx, "")
	if err != nil || len(problems) != 1 || problems[0].Line != 1 || len(list) != 6 || list[0].Status != "cancelled" {
		t.Errorf("%+v, %v, %v", list, problems, err)
	}
	s.add(t, queue.Draft{Agent: "dev", Task: "one more", OutputKey: "more"})
	if data, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(data), broken+"\n{") {
		t.Errorf("the file was rewritten: %v\n%s", err, data)
	}
}

// TestQueueRefuses: a draft that cannot be a task is refused, and nothing is made on the disk.
func TestQueueRefuses(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	s := queueing(t, path)
	good := queue.Draft{Agent: "dev", Task: "do it", OutputKey: "out"}
	for name, change := range map[string]func(d *queue.Draft){
		"agent": func(d *queue.Draft) { d.Agent = "../dev" }, "no agent": func(d *queue.Draft) { d.Agent = "" },
		"run": func(d *queue.Draft) { d.RunID = "../../etc" }, "dots": func(d *queue.Draft) { d.RunID = ".." }, "star": func(d *queue.Draft) { d.RunID = "*" },
		"key": func(d *queue.Draft) { d.OutputKey = "a b" }, "no key": func(d *queue.Draft) { d.OutputKey = "" },
		"empty": func(d *queue.Draft) { d.Task = " " }, "long": func(d *queue.Draft) { d.Task = strings.Repeat("x", 8001) },
		"secret": func(d *queue.Draft) { d.Task = "use password=hunter2" },
		"gone":   func(d *queue.Draft) { d.ContextFiles = []string{"gone.md"} }, "outside": func(d *queue.Draft) { d.ContextFiles = []string{"../p/x"} },
		"absolute": func(d *queue.Draft) { d.ContextFiles = []string{"/etc/passwd"} }, "many": func(d *queue.Draft) { d.ContextFiles = make([]string, 51) },
	} {
		d := good
		change(&d)
		if _, err := s.Add(ctx, d); !fault.Is(err, fault.InvalidArgument) || fault.From(err).Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Step(ctx, queue.Step{To: queue.Claimed}); !fault.Is(err, fault.NotFound) {
		t.Errorf("an empty queue: %v", err)
	}
	if _, _, err := s.Tasks(ctx, "../x"); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a path as a run: %v", err)
	}
	if made, _ := os.ReadDir(path); len(made) > 0 {
		t.Errorf("it left %v", made)
	}
}

// TestQueueClaimsOnce: of many who claim at once, each gets a task of its own.
func TestQueueClaimsOnce(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	s := queueing(t, path)
	const n = 12
	for i := range n {
		s.add(t, queue.Draft{Agent: "dev", Task: strings.Repeat("do it ", 1300), OutputKey: fmt.Sprint(i)})
	}
	for i := range n { // beyond the first file
		s.add(t, queue.Draft{Agent: "qa", Task: strings.Repeat("do it ", 1300), OutputKey: fmt.Sprint("q", i)})
	}
	if _, err := os.Stat(filepath.Join(path, ".bmad-task/queue-000001.jsonl")); err != nil {
		t.Error(err)
	}
	var mu sync.Mutex
	got := map[string]int{}
	var wait sync.WaitGroup
	for range n + 3 {
		other := queueing(t, path)
		wait.Go(func() {
			task, err := other.Step(ctx, queue.Step{To: queue.Claimed, Agent: "dev"})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				got[task.ID]++
			} else if !fault.Is(err, fault.NotFound) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(got) != n {
		t.Errorf("%d tasks were claimed, want %d: %v", len(got), n, got)
	}
	for id, times := range got {
		if times != 1 {
			t.Errorf("%s was claimed %d times", id, times)
		}
	}
}

// TestQueueCut cuts every event of a task at every step: the queue is as before or as after, and
// each acknowledged event is there.
func TestQueueCut(t *testing.T) {
	t.Parallel()
	disk := durabletest.New()
	const path = "/simulated/queue/p"
	on := func(d *durabletest.Disk, n int) *queue.Queue { return queueAt(d.Dir(path), path, int64(n)) }
	steps := []func(q *queue.Queue) error{
		func(q *queue.Queue) error {
			_, err := q.Add(ctx, queue.Draft{Agent: "dev", Task: "do it", OutputKey: "out"})
			return err
		},
		func(q *queue.Queue) error {
			_, err := q.Step(ctx, queue.Step{To: queue.Claimed, By: "me"})
			return err
		},
		func(q *queue.Queue) error {
			list, _, err := q.Tasks(ctx, "")
			if err == nil {
				_, err = q.Step(ctx, queue.Step{ID: list[0].ID, To: queue.Completed, Result: "done"})
			}
			return err
		},
	}
	seen := func(d *durabletest.Disk) string {
		list, problems, err := on(d, 0).Tasks(ctx, "")
		if err != nil || len(problems) > 0 {
			t.Fatalf("%v, %v", problems, err)
		}
		out := ""
		for _, task := range list {
			out += task.Status + " " + task.Holder + " " + task.Result + "\n"
		}
		return out
	}
	for n, step := range steps {
		before := disk.Copy()
		if err := step(on(disk, n)); err != nil {
			t.Fatal(err)
		}
		old, after := seen(before), seen(disk)
		_, outcomes := durabletest.Sweep(t, before, func(d *durabletest.Disk) error { return step(on(d, n)) }, func(o durabletest.Outcome) {
			got := seen(o.Disk)
			var unconfirmed *durable.UnconfirmedError
			switch {
			case got != old && got != after, o.Acknowledged && got != after:
				t.Fatalf("step %d, %v: the queue is %q", n, o, got)
			case o.Err != nil && !o.Lost() && !errors.As(o.Err, &unconfirmed) && got != old:
				t.Fatalf("step %d, %v: %v, yet it was done", n, o, o.Err)
			}
			if err := step(on(o.Disk, n)); (err != nil) != (got == after && n > 0) || seen(o.Disk) != after {
				t.Fatalf("step %d, %v, repeated: %v, the queue is %q", n, o, err, seen(o.Disk))
			}
		})
		if outcomes < 15 {
			t.Errorf("step %d: only %d outcomes", n, outcomes)
		}
	}
}
