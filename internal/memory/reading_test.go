package memory_test

import (
	"encoding/json"
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
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// kitProject opens a copy of a project that a kit has written to, with the files and sessions that
// a test adds.
func kitProject(t testing.TB, name string, files map[string]string, sessions ...*workflow.Session) shelf {
	t.Helper()
	path := folder(t, "project")
	if name != "" {
		if err := os.CopyFS(path, os.DirFS(filepath.Join("internal", "grimoire", "testdata", name))); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range files {
		file = filepath.Join(path, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	backend := storetest.NewMem()
	for _, s := range sessions {
		if err := backend.Create(ctx, s, store.Names{Candidate: func(int) string { return s.TaskName }}); err != nil {
			t.Fatal(err)
		}
	}
	p := &project.Project{Dir: dir, Config: config.Default(), Backend: backend}
	n := new(atomic.Int64)
	return shelf{memory.New(memory.Options{Now: clock(), NewID: func() string { n.Add(1); return fmt.Sprintf("task-%04d", n.Load()) }}).Of(p), path}
}

func session(id, name string, state workflow.State, changed string) *workflow.Session {
	at, err := time.Parse(time.DateOnly, changed)
	if err != nil {
		panic(err)
	}
	return &workflow.Session{SessionID: id, TaskName: name, Objective: "book slots", CurrentStage: workflow.Dev, CurrentState: state, CreatedAt: at, UpdatedAt: at, Version: workflow.FormatVersion}
}

// answers runs a call of each use case, as its arguments: the use case, then its parameters.
func (s shelf) answers(args ...string) (out any, err error) {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	n := 0
	if arg(3) != "" {
		if _, err := fmt.Sscan(arg(3), &n); err != nil {
			return nil, err
		}
	}
	switch arg(0) {
	case "context":
		return s.Context(ctx, arg(1))
	case "agent":
		return s.Agent(ctx, arg(1), arg(2), n)
	case "failures":
		return s.Failures(ctx, arg(1), arg(2), n)
	case "run":
		return s.Run(ctx, arg(1), arg(2))
	case "sessions":
		return s.Sessions(ctx, arg(1), arg(2))
	}
	return nil, fmt.Errorf("no use case %s", arg(0))
}

// TestReadingReplies shows the replies of the reading use cases on the projects of both kits.
func TestReadingReplies(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string][]string{
		"kit": {
			"context", "context/stack", "context/agents", "context/decisions", "context/architecture",
			"agent/gopher", "agent/go-expert//2", "agent/pixel/payment page", "agent/typescript-expert", "agent/sm",
			"failures", "failures/WRONG-ASSUMPTION", "failures/all/database migration/1",
			"sessions", "sessions/active", "sessions/completed", "sessions/failed",
			"run", "run/dev-story-20260302-080000", "run//explore-cache", "run/book-slots", "run/22222222-0000-4000-8000-000000000000",
		},
		"grimoire": {"context", "failures", "agent/cellarer", "sessions", "run//tasting"},
		"broken":   {"context", "failures", "agent/dev", "sessions"},
		"":         {"context", "failures", "agent/dev", "sessions"},
	} {
		var sessions []*workflow.Session
		if name == "kit" {
			sessions = []*workflow.Session{
				session("11111111-0000-4000-8000-000000000000", "book-slots", workflow.Generating, "2026-03-02"),
				session("22222222-0000-4000-8000-000000000000", "old-task", workflow.Cancelled, "2026-01-02"),
				session("33333333-0000-4000-8000-000000000000", "done-task", workflow.Completed, "2026-03-10"),
			}
		}
		s := kitProject(t, name, nil, sessions...)
		var b strings.Builder
		for _, call := range calls {
			got, err := s.answers(strings.Split(call, "/")...)
			if err != nil {
				t.Errorf("%s: %s: %v", name, call, err)
				continue
			}
			data, err := json.MarshalIndent(got, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "== %s\n%s\n", call, data)
		}
		golden.Check(t, filepath.Join("testdata", "reading", "in-"+name+".golden"), b.String())
	}
}

// TestReadingRefusals: a refusal names the name that it refuses, the reason, and the names that there are.
func TestReadingRefusals(t *testing.T) {
	t.Parallel()
	s := kitProject(t, "kit", nil)
	for call, want := range map[string]string{
		"context|everything": "invalid_argument|all, stack, agents, decisions, architecture",
		"context|stak":       "invalid_argument|did you mean stack?",
		"agent|":             "invalid_argument|dev",
		"agent|../dev":       "invalid_argument|letters, digits",
		"agent|a/b":          "invalid_argument|letters, digits",
		"agent|gophr":        "not_found|did you mean gopher?",
		"agent|nobody":       "not_found|there are: architect, dev, frontend-specialist",
		"agent|dev||51":      "invalid_argument|10",
		"agent|dev||-1":      "invalid_argument|10",
		"failures|CC-FAILS":  "invalid_argument|did you mean CC-FAIL",
		"failures|all||51":   "invalid_argument|10",
		"failures|all|" + strings.Repeat("x", 1001): "invalid_argument|few words",
		"run|../x":                           "invalid_argument|letters, digits",
		"run|..":                             "invalid_argument|letters, digits",
		"run|a b":                            "invalid_argument|letters, digits",
		"run||feature/x":                     "invalid_argument|letters, digits",
		"run|dev-story-20260302-080001":      "not_found|did you mean dev-story-20260302-080000",
		"run||explore":                       "not_found|did you mean explore-cache",
		"run|quick-fix-20260303-090000|main": "not_found|list_sessions",
		"sessions|done":                      "invalid_argument|all, active, completed, failed",
		"sessions|all|nonsense":              "invalid_argument|first page",
	} {
		code, hint, _ := strings.Cut(want, "|")
		_, err := s.answers(strings.Split(call, "|")...)
		var e *fault.Error
		if !errors.As(err, &e) || string(e.Code) != code || !strings.Contains(e.Hint, hint) {
			t.Errorf("%.60s: got %+v, want %s", call, err, want)
			if e != nil {
				t.Log(e.Hint)
			}
		}
	}
	if _, err := kitProject(t, "", nil).Agent(ctx, "nobody", "", 0); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown agent of an empty project: %v", err)
	}
	if _, err := kitProject(t, "", nil).Run(ctx, "", ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("no run of an empty project: %v", err)
	}
}

// TestOurNotesAndTheirs: notes of ours are among those of the files, in order.
func TestOurNotesAndTheirs(t *testing.T) {
	t.Parallel()
	s := kitProject(t, "kit", nil)
	s.remember(t, notes.Note{Type: notes.AgentLearnings, Agent: "gopher", Text: "close the pool before the migration"}, notes.Created)
	s.remember(t, notes.Note{Type: notes.Decisions, Agent: "architect", Text: "one calendar for all shops"}, notes.Created)
	s.remember(t, notes.Note{Type: notes.Failures, Text: "the form loses its input", Tags: []string{lesson.CCFail, "critical", "review", lesson.Resolved}}, notes.Created)
	s.remember(t, notes.Note{Type: notes.Failures, Text: "it was nothing", Tags: []string{lesson.CCFail, lesson.Withdrawn}}, notes.Created)
	learned, err := s.Agent(ctx, "go-backend", "", 50)
	if err != nil || learned.Total != 6 || learned.Learnings[3].Text != "close the pool before the migration" {
		t.Errorf("learnings: %+v, %v", learned, err) // its date is that of the test's clock, in 2023
	}
	closest, err := s.Agent(ctx, "go-expert", "migration pool", 2)
	if err != nil || len(closest.Learnings) != 2 || closest.Learnings[0].Text != "close the pool before the migration" {
		t.Errorf("with a query: %+v, %v", closest, err)
	}
	about, err := s.Context(ctx, "decisions")
	if err != nil || len(about.Decisions) != 10 {
		t.Errorf("decisions: %+v, %v", about, err)
	}
	museum, err := s.Failures(ctx, lesson.CCFail, "", 0)
	if err != nil || museum.Total != 2 || museum.ByCategory[lesson.CCFail] != 2 {
		t.Fatalf("failures: %+v, %v", museum, err)
	}
	if f := museum.Failures[1]; f.Title != "the form loses its input" || f.Severity != "🔴" || f.Status != lesson.Resolved || f.Agent != "dev" {
		t.Errorf("our failure: %+v", f)
	}
	found, err := s.Recall(ctx, memory.Query{Text: "double booking at midnight"})
	if err != nil || len(found.Results) == 0 || found.Results[0].Source != "_bmad/_memory/shared-context.md:59" {
		t.Errorf("recall: %+v, %v", found, err)
	}
}

// TestRepliesAreBounded: whatever files hold, a reply has at most 14,000 bytes, without credentials and
// characters that steer.
func TestRepliesAreBounded(t *testing.T) {
	t.Parallel()
	key := "ghp_" + strings.Repeat("a1B2", 10)
	long := strings.Repeat(`the "long" \ <text> `, 150) + key + "\u202e"
	var learnings, museum, decisions strings.Builder
	runs := map[string]string{}
	for n := range 80 {
		fmt.Fprintf(&learnings, "- [2026-01-01] %d use %s and %s\n", n, key, long)
		fmt.Fprintf(&museum, "### [2026-01-01] CC-FAIL — %d %s\n**Leçon** : %s\n**Règle** : %s\n", n, long, long, long)
		fmt.Fprintf(&decisions, "- [2026-01-01] %d %s\n", n, long)
		runs[fmt.Sprintf("_bmad-output/.runs/b%d/branch.json", n)] = fmt.Sprintf(`{"branch":"b%d","purpose":%q}`, n, long)
	}
	state, err := json.Marshal(map[string]any{"status": "running", "agent_notes": long, "issues": strings.Split(strings.Repeat(long+"|", 120), "|"), "artefacts_produced": []any{map[string]any{"path": long}}})
	if err != nil {
		t.Fatal(err)
	}
	runs["_bmad/_memory/agent-learnings/dev.md"] = learnings.String()
	runs["_bmad/_memory/failure-museum.md"] = "## 🔴\n" + museum.String()
	runs["_bmad/_memory/decisions-log.md"] = decisions.String()
	runs["_bmad/_memory/shared-context.md"] = "## Architecture\n" + long + long
	runs["project-context.yaml"] = "project: {name: x, description: " + fmt.Sprintf("%q", long) + ", stack: [" + strings.Repeat(fmt.Sprintf("%q, ", long), 100) + "]}"
	runs["_bmad-output/.runs/main/r1/state.json"] = string(state)
	s := kitProject(t, "", runs)
	for _, call := range []string{"context", "context|architecture", "agent|dev||50", "agent|dev|long text|50", "failures|all||50", "sessions", "run"} {
		got, err := s.answers(strings.Split(call, "|")...)
		if err != nil {
			t.Errorf("%s: %v", call, err)
			continue
		}
		data, err := json.Marshal(got)
		if err != nil || len(data) > 14_000 || len(data) < 1000 {
			t.Errorf("%s: %d bytes, %v", call, len(data), err)
		}
		if text := string(data); strings.Contains(text, key) || strings.Contains(text, "\u202e") {
			t.Errorf("%s shows the key or steers: %.300s", call, text)
		}
	}
}

// TestPagesOfSessions: the pages of a list have each session once.
func TestPagesOfSessions(t *testing.T) {
	t.Parallel()
	var sessions []*workflow.Session
	files := map[string]string{}
	for n := range 70 {
		sessions = append(sessions, session(fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), fmt.Sprintf("task-%d", n), workflow.Generating, fmt.Sprintf("2026-01-%02d", 1+n%3)))
		files[fmt.Sprintf("_bmad-output/.runs/b%02d/branch.json", n)] = fmt.Sprintf(`{"branch":"b%02d","created_at":"2026-01-02T00:00:00Z"}`, n)
	}
	s := kitProject(t, "", files, sessions...)
	seen := map[string]int{}
	pages, next := 0, ""
	for ; pages == 0 || next != ""; pages++ {
		page, err := s.Sessions(ctx, "", next)
		if err != nil || page.Total != 140 || pages > 20 {
			t.Fatalf("page %d: %+v, %v", pages, page, err)
		}
		for _, row := range page.Sessions {
			seen[row.ID]++
		}
		next = page.Next
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("%s is listed %d times", id, times)
		}
	}
	if len(seen) != 140 || pages < 3 {
		t.Errorf("%d sessions on %d pages", len(seen), pages)
	}
}

// TestTasksOfARun: a run shows the tasks that were queued for it, in the folder of a kit or in our own
// queue, and a run that only the queue knows is one too.
func TestTasksOfARun(t *testing.T) {
	t.Parallel()
	s := kitProject(t, "kit", nil, session("11111111-0000-4000-8000-000000000000", "book-slots", workflow.Generating, "2026-01-02"))
	for _, run := range []string{"dev-story-20260301-101500", "book-slots", "11111111-0000-4000-8000-000000000000", "nightly"} {
		if _, err := s.tasks(t).Add(ctx, queue.Draft{RunID: run, Agent: "qa", Task: "check " + run, OutputKey: "result"}); err != nil {
			t.Fatal(err)
		}
	}
	for run, want := range map[string]string{
		"":                          "runs quick-fix-20260303-090000 failed 0",
		"dev-story-20260301-101500": "runs dev-story-20260301-101500 active 1",
		"book-slots":                "bmad-task 11111111-0000-4000-8000-000000000000 active 2",
		"nightly":                   "queue nightly active 1",
	} {
		got, err := s.Run(ctx, run, "")
		if is := fmt.Sprintf("%s %s %s %d", got.Source, got.Run.ID, got.Run.Status, len(got.Tasks)); err != nil || is != want {
			t.Errorf("%s: got %s, %v; want %s", run, is, err, want)
		}
	}
	file := filepath.Join(s.path, ".bmad-task/queue.jsonl")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, `{"v":1,"event":"claimed","task_id":"task-0004","by":"qa"}`+"\n"+`{"v":1,"event":"failed","task_id":"task-0004","result":"no time"}`+"\n"+"broken\n"...)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Run(ctx, "nightly", ""); err != nil || got.Run.Status != "failed" || got.Tasks[0].Result != "no time" {
		t.Errorf("after a failure: %+v, %v", got, err)
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) == 0 || problems[len(problems)-1].Path != ".bmad-task/queue.jsonl" {
		t.Errorf("the broken line: %v, %v", problems, err)
	}
	if _, err := s.Run(ctx, "nightly", "main"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a branch has no runs of the queue: %v", err)
	}
}

// TestCheckNamesForeignFiles: a check names every file of a kit that cannot be read, those of runs too.
func TestCheckNamesForeignFiles(t *testing.T) {
	t.Parallel()
	problems, err := kitProject(t, "broken", nil).Check(ctx)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]int{}
	for _, p := range problems {
		named[p.Path] = p.Line
	}
	for path, line := range map[string]int{
		"_bmad/_memory/memories.json": 3, "_bmad/_memory/failure-museum.md": 7, "_bmad/_memory/decisions-log.md": 5, "_bmad-output/.runs/main/cut/state.json": 2,
		"_grimoire/_memory/project-context.yaml": 0, "_bmad/_memory/agent-learnings/dev.md": 0,
	} {
		if got, ok := named[path]; !ok || got != line {
			t.Errorf("%s: named %v, line %d, want %d", path, ok, got, line)
		}
	}
}

// TestReadersAtOnce: calls of every kind run at once while notes are written and a file changes, and
// each sees whole notes.
func TestReadersAtOnce(t *testing.T) {
	t.Parallel()
	s := kitProject(t, "kit", nil)
	file := filepath.Join(s.path, "_bmad", "_memory", "agent-learnings", "qa.md")
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for n := range 8 {
				text := fmt.Sprintf("%d.%d the calendar keeps half-open slots", worker, n)
				if _, err := s.Remember(ctx, notes.Note{Type: notes.AgentLearnings, Agent: "gopher", Text: text}); err != nil {
					t.Error(err)
				}
				if worker == 0 {
					if err := os.WriteFile(file, []byte("- [2026-01-01] "+text+"\n"), 0o600); err != nil {
						t.Error(err)
					}
				}
				for _, call := range []string{"context", "agent|gopher|slots|20", "agent|qa", "failures|all|slots", "sessions", "run"} {
					if _, err := s.answers(strings.Split(call, "|")...); err != nil {
						t.Errorf("%s: %v", call, err)
					}
				}
				if _, err := s.Recall(ctx, memory.Query{Text: "half-open slots"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got, err := s.Agent(ctx, "gopher", "", 0); err != nil || got.Total != 37 {
		t.Errorf("%d learnings, %v", got.Total, err)
	}
}

// TestMemoryOffReadsNothing: with the memory switched off every use case is refused.
func TestMemoryOffReadsNothing(t *testing.T) {
	t.Parallel()
	path := folder(t, "off")
	cfg := config.Default()
	cfg.Memory = config.MemoryOff
	s := openWith(t, path, memory.New(memory.Options{Now: clock()}), cfg)
	for _, call := range []string{"context", "agent|dev", "failures", "sessions", "run"} {
		if _, err := s.answers(strings.Split(call, "|")...); !fault.Is(err, fault.NotAllowed) {
			t.Errorf("%s: %v", call, err)
		}
	}
}
