package queue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
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
	return tasks{queueAt(dir, 0)}
}

// queueAt returns a queue whose clock moves a second with each look, in the past of every file.
func queueAt(dir *durable.Dir, began int64) *queue.Queue {
	var ids, looks atomic.Int64
	return &queue.Queue{
		Project: &project.Project{Dir: dir, Config: config.Default()},
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

func appendTo(t testing.TB, name string, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
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
	if again := s.add(t, queue.Draft{Agent: "dev", Task: " write the parser\n", OutputKey: "parser"}); again.Status != "exists" || again.ID != first.ID || again.State != "queued" || again.Position != 1 || second.Position != 2 {
		t.Errorf("%+v, %+v", again, second)
	}
	for _, other := range []queue.Draft{{Agent: "dev", Task: "other words", OutputKey: "parser"}, {Agent: "qa", Task: "write the parser", OutputKey: "parser"}} {
		if _, err := s.Add(ctx, other); !fault.Is(err, fault.InvalidArgument) || fault.From(err).Hint == "" {
			t.Errorf("%+v: got %v, want a refusal, because the key is taken", other, err)
		}
	}
	for run, place := range map[string]string{"r1": "_bmad-output/.runs/feature/r1/tasks.jsonl", "r2": "_bmad-output/.runs/main/r2/tasks.jsonl", "r3": ".bmad-task/queue.jsonl"} {
		got := s.add(t, queue.Draft{RunID: run, Agent: "dev", Task: "of " + run, OutputKey: "parser"})
		data, err := os.ReadFile(filepath.Join(path, place))
		if err != nil || !strings.Contains(string(data), got.ID) {
			t.Errorf("%s is not in %s: %v", got.ID, place, err)
		}
	}
	name := filepath.Join(path, ".bmad-task/queue.jsonl")
	appendTo(t, name,
		`{"v":1,"event":"completed","task_id":"task-0001"}`, // nobody has claimed it
		`{"v":1,"event":"claimed","task_id":"task-0002","by":"me","at":"2026-01-02T00:00:00.000Z"}`,
		`{"v":1,"event":"completed","task_id":"task-0002","result":"all pass","at":"2026-01-02T00:00:00.000Z"}`,
		`{"v":1,"event":"claimed","task_id":"task-0002","by":"another"}`,
		`{"v":1,"event":"cancelled","task_id":"task-0001"}`)
	if list, problems, err := s.Tasks(ctx); err != nil || len(problems) > 0 || list[0].Status != "cancelled" || list[1].Status != "completed" || list[1].Holder != "me" || list[1].Result != "all pass" {
		t.Errorf("%+v, %v, %v", list, problems, err)
	}
	if done := s.add(t, queue.Draft{Agent: "qa", Task: "test the parser", OutputKey: "tests"}); done.Status != "exists" || done.State != "completed" || done.Position != 0 {
		t.Errorf("%+v", done)
	}
	if anew := s.add(t, queue.Draft{Agent: "dev", Task: "write the parser anew", OutputKey: "parser"}); anew.Status != "queued" || anew.ID == first.ID {
		t.Errorf("a cancelled task keeps its key: %+v", anew)
	}
	list, problems, err := queueing(t, path).Tasks(ctx)
	if err != nil || len(problems) > 0 || len(list) != 6 || list[0].ID != first.ID || list[0].ContextFiles[0] != "docs/prd.md" || list[0].ContextFiles[1] != "docs" {
		t.Errorf("%+v, %v, %v", list, problems, err)
	}
	// Lines of others in the file are named, and hide nothing.
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	broken := "\ufeff<<<<<<< ours\n" + string(data) + `{"v":1,"event":"claimed","task_id":"nobody"}`
	if err := os.WriteFile(name, []byte(broken), 0o644); err != nil {
		t.Fatal(err)
	}
	list, problems, err = s.Tasks(ctx)
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
	if made, _ := os.ReadDir(path); len(made) > 0 {
		t.Errorf("it left %v", made)
	}
}

// TestQueueOfManyParts: tasks that do not fit into the first file are in the next, and all are listed.
func TestQueueOfManyParts(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	s := queueing(t, path)
	const n = 24
	for i := range n {
		s.add(t, queue.Draft{Agent: "dev", Task: strings.Repeat("do it ", 1300), OutputKey: fmt.Sprint(i)})
	}
	if _, err := os.Stat(filepath.Join(path, ".bmad-task/queue-000001.jsonl")); err != nil {
		t.Error(err)
	}
	list, problems, err := s.Tasks(ctx)
	if err != nil || len(problems) > 0 || len(list) != n || list[n-1].OutputKey != fmt.Sprint(n-1) {
		t.Errorf("%d tasks, %v, %v", len(list), problems, err)
	}
}

// TestQueueCut cuts the first task and another one at every step: the queue is as before or as after, and each
// acknowledged task is there.
func TestQueueCut(t *testing.T) {
	t.Parallel()
	disk := durabletest.New()
	const path = "/simulated/queue/p"
	on := func(d *durabletest.Disk) *queue.Queue { return queueAt(d.Dir(path), 0) }
	seen := func(d *durabletest.Disk) (out string) {
		list, problems, err := on(d).Tasks(ctx)
		if err != nil || len(problems) > 0 {
			t.Fatalf("%v, %v", problems, err)
		}
		for _, task := range list {
			out += task.Status + " " + task.OutputKey + "\n"
		}
		return out
	}
	for _, key := range []string{"first", "second"} {
		before := disk.Copy()
		add := func(d *durabletest.Disk) error {
			q := on(d)
			q.NewID = func() string { return key }
			_, err := q.Add(ctx, queue.Draft{Agent: "dev", Task: "do it", OutputKey: key})
			return err
		}
		if err := add(disk); err != nil {
			t.Fatal(err)
		}
		old, after := seen(before), seen(disk)
		if after != old+"queued "+key+"\n" {
			t.Fatalf("the queue is %q", after)
		}
		_, outcomes := durabletest.Sweep(t, before, add, func(o durabletest.Outcome) {
			got := seen(o.Disk)
			var unconfirmed *durable.UnconfirmedError
			switch {
			case got != old && got != after, o.Acknowledged && got != after:
				t.Fatalf("%s, %v: the queue is %q", key, o, got)
			case o.Err != nil && !o.Lost() && !errors.As(o.Err, &unconfirmed) && got != old:
				t.Fatalf("%s, %v: %v, yet it was done", key, o, o.Err)
			}
			if err := add(o.Disk); err != nil || seen(o.Disk) != after {
				t.Fatalf("%s, %v, repeated: %v, the queue is %q", key, o, err, seen(o.Disk))
			}
		})
		if outcomes < 15 {
			t.Errorf("%s: only %d outcomes", key, outcomes)
		}
	}
}

// handed is a message between agents, as JSON.
const handed = `{"a2a_version": "1.0", "task_id": "task-20260301-07", "sender": {"agent_id": "sm/Sally", "tool": "copilot"},
"recipient": {"agent_id": "architect/Winston", "tool": "bmad-local", "capabilities_required": ["review"]},
"task": {"type": "review", "title": "Review the cache", "description": "Is one cache enough?",
"context": {"story": "US-7", "files_to_review": ["docs/cache.md"]}, "acceptance_criteria": ["yes or no"], "deadline_ms": null},
"response_format": {"type": "structured", "schema": {"decision": "yes | no"}}}`

func TestReadMessage(t *testing.T) {
	yes := func(text, agent, run string, files ...string) queue.Draft {
		return queue.Draft{RunID: run, Agent: agent, Task: text, OutputKey: "k-1", ContextFiles: files}
	}
	for name, c := range map[string]struct {
		text string
		want queue.Draft // without an agent: it is none
	}{
		"JSON": {handed, queue.Draft{
			Agent: "architect", OutputKey: "task-20260301-07",
			Task: "Review the cache\n\nIs one cache enough?\n\n" + handed, ContextFiles: []string{"docs/cache.md"},
		}},
		"YAML": {"task_id: k-1\nrun_id: r\nrecipient: {agent_id: qa}\ntask:\n  description: test it\n",
			yes("test it\n\ntask_id: k-1\nrun_id: r\nrecipient: {agent_id: qa}\ntask:\n  description: test it\n", "qa", "r")},
		"a title alone": {`{"task_id":"k-1","recipient":{"agent_id":"qa"},"task":{"title":"t"}}`,
			yes("t\n\n"+`{"task_id":"k-1","recipient":{"agent_id":"qa"},"task":{"title":"t"}}`, "qa", "")},
		"a task in words":    {"write tests for the parser", queue.Draft{}},
		"words like YAML":    {"task: write tests\nrecipient: qa", queue.Draft{}},
		"arguments":          {`{"agent":"qa","task":"x","output_key":"k"}`, queue.Draft{}},
		"without an id":      {`{"recipient":{"agent_id":"qa"},"task":{"title":"t"}}`, queue.Draft{}},
		"without recipient":  {`{"task_id":"k-1","task":{"title":"t"}}`, queue.Draft{}},
		"without a role":     {`{"task_id":"k-1","recipient":{"agent_id":"/Bob"},"task":{"title":"t"}}`, queue.Draft{}},
		"without words":      {`{"task_id":"k-1","recipient":{"agent_id":"qa"},"task":{"type":"review"}}`, queue.Draft{}},
		"an answer":          {`{"task_id":"k-1","responder":{"agent_id":"qa"},"status":"completed","result":{}}`, queue.Draft{}},
		"files that are one": {`{"task_id":"k-1","recipient":{"agent_id":"qa"},"task":{"title":"t","context":{"files_to_review":{"a":1}}}}`, queue.Draft{}},
		"another protocol":   {`{"role":"user","messageId":"k-1","parts":[{"text":"t"}]}`, queue.Draft{}},
		"a list":             {"[1]", queue.Draft{}},
		"nothing":            {"", queue.Draft{}},
		"too long":           {strings.Replace(handed, "US-7", strings.Repeat("x", 40_000), 1), queue.Draft{}},
	} {
		got, isMessage := queue.ReadMessage(c.text)
		if isMessage != (c.want.Agent != "") || isMessage && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, %t, want %+v", name, got, isMessage, c.want)
		}
	}
}

func FuzzReadMessage(f *testing.F) {
	f.Add(handed)
	f.Add("task_id: k\nrecipient: {agent_id: qa/Bo}\ntask: {title: &a t, description: *a}")
	f.Fuzz(func(t *testing.T, text string) {
		if d, isMessage := queue.ReadMessage(text); isMessage && (d.Agent == "" || d.OutputKey == "" || !strings.HasSuffix(d.Task, text)) {
			t.Errorf("%q: %+v", text, d)
		}
	})
}
