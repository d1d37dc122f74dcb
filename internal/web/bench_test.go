package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// world is a person's projects with a dashboard that shows them.
type world struct {
	t      testing.TB
	root   string
	engine *engine.Engine
	memory *memory.Memory
	server *httptest.Server
	d      *dashboard.Dashboard
	reads  *reads
	// acting is the person on whose behalf the engine acts.
	acting workflow.Person
	// theirs are texts of others: documents, objectives, notes.
	theirs []string

	mu    sync.Mutex
	clock time.Time
	// still keeps the clock from going on with each look at it.
	still bool
	ids   int
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.still {
		w.clock = w.clock.Add(time.Second)
	}
	return w.clock
}

func (w *world) newID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("%08d-0000-4000-8000-000000000000", w.ids)
}

// newWorld returns a world without projects.
func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOn(t, nil, nil)
}

// newWorldOn returns a world whose sessions are in a store of others and whose runs are in a queue, nil for files and
// for none.
func newWorldOn(t testing.TB, backend func(store.Place) (store.Backend, error), queue dashboard.Queue) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir(), clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), reads: &reads{}}
	state := trust.UserState(filepath.Join(w.root, "state"))
	if err := os.CopyFS(filepath.Join(w.root, "config"), os.DirFS("../../testdata/person")); err != nil {
		t.Fatal(err)
	}
	w.memory = memory.New(memory.Options{Now: w.now, NewID: w.newID})
	kept := filestore.NewSummaries(w.now)
	if backend == nil {
		backend = func(place store.Place) (store.Backend, error) { return kept.Store(place.Dir), nil }
	}
	w.engine = engine.New(engine.Options{
		Names: engine.Names{Confirm: "bmad-confirm", Program: "bmad-mcp"},
		Projects: project.New(project.Options{
			OpenDir:  w.reads.open,
			Backend:  backend,
			Known:    project.Known{Folder: string(state)},
			Settings: config.Source{UserFolder: filepath.Join(w.root, "config")},
		}),
		Who: func(string) workflow.Person { return w.acting }, Trust: state, Typed: state, Notes: w.memory, Now: w.now, NewID: w.newID,
	})
	d, err := dashboard.New(dashboard.Options{
		Version: "1.2.3", Engine: w.engine, State: filepath.Join(w.root, "state", "dashboard"), Memory: w.memory, Health: health, Queue: queue,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.d, w.server = d, httptest.NewServer(d.Handler())
	t.Cleanup(func() { d.Close(context.Background()); w.server.Close() })
	return w
}

// health stands for the program's own state, which the program gives.
func health(_ context.Context, _ lang.Language, folder string, whole bool) (dashboard.Health, error) {
	out := dashboard.Health{UserFile: "/home/ada/.config/bmad-mcp/config.yaml", Places: []dashboard.Place{
		{Folder: "/home/ada/src", From: "added"}, {Folder: "/home/ada/.ssh", From: "form", Why: "…"}, {Folder: "/home/ada/a", From: "settings"}, {Folder: "/home/ada/b", From: "sessions"},
	}}
	out.Checks = []dashboard.Check{{Name: "program", Status: "ok", Detail: "/usr/bin/bmad-mcp"}, {Name: "hosts", Status: "warning", Detail: "…", Remedy: "bmad-mcp install"}}
	if whole {
		out.Checks = append(out.Checks, dashboard.Check{Name: "sessions", Status: "problem", Detail: "…", Items: []string{folder + ": …"}, Remedy: "bmad-mcp doctor --fix"})
	}
	return out, nil
}

// project makes the folder of a project.
func (w *world) project(name string) string {
	w.t.Helper()
	folder := filepath.Join(w.root, name)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		w.t.Fatal(err)
	}
	return folder
}

// put writes a file.
func (w *world) put(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// sample returns a document of a run that is kept, whose text is then one of others.
func (w *world) sample(run, name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "submissions", run, name))
	if err != nil {
		w.t.Fatal(err)
	}
	w.theirs = append(w.theirs, string(data))
	return string(data)
}

// do carries out an action in a project, on its session of the name that the last start gave.
func (w *world) do(folder string, req request.Request) *reply.Reply {
	w.t.Helper()
	req.Cwd, req.By = folder, "test"
	out, err := w.engine.Do(w.t.Context(), req)
	if err != nil {
		w.t.Fatalf("%s: %v", req.Action, err)
	}
	return out.Reply
}

// play begins a run, and makes the steps that are given as lines: "stage file" hands a document in,
// "answer file" answers questions, "yes" confirms or approves, "no words" asks for changes.
func (w *world) play(folder, run string, steps ...string) *reply.Reply {
	w.t.Helper()
	start := request.Start{Objective: strings.TrimSpace(w.sample(run, "objective.txt")), Workflow: "six"}
	if name, named := strings.CutPrefix(steps[0], "as "); named {
		start.TaskName, steps = name, steps[1:]
	}
	at := w.do(folder, request.Request{Action: workflow.ActionStart, Start: start})
	for _, step := range steps {
		word, rest, _ := strings.Cut(step, " ")
		req := request.Request{Address: project.Address{Session: at.SessionID}}
		yes := word == "yes"
		switch word {
		case "yes", "no":
			req.Action, req.Yes, req.Feedback = workflow.ActionConfirm, &yes, rest
			w.theirs = append(w.theirs, rest)
			if at.State == workflow.AwaitingApproval {
				req.Action, req.Yes, req.Yes = workflow.ActionApprove, nil, &yes
			}
		case "answer":
			req.Action = workflow.ActionAnswer
			if err := json.Unmarshal([]byte(w.sample(run, rest)), &req.Answers); err != nil {
				w.t.Fatal(err)
			}
		default:
			req.Action, req.Stage = workflow.ActionSubmit, word
			text := w.sample(run, rest)
			req.Results = []request.Result{{Engine: workflow.Claude, Text: text}}
			if word == string(workflow.Dev) {
				w.build(folder, at.SessionID, text)
			}
		}
		at = w.do(folder, req)
	}
	w.own(folder, at.SessionID)
	return at
}

// build writes the files that a report of the developer names, and one that differs in each run.
func (w *world) build(folder, session, report string) {
	w.t.Helper()
	stage, _ := workflow.Default().Stage(workflow.Dev)
	for _, name := range append(intake.Read(stage, report).Files, "built.txt") {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.t.Fatal(err)
		}
		w.put(path, "built in "+session+"\n")
	}
}

// own removes the text that a run has in its own language: its audits, and its question.
func (w *world) own(folder, session string) {
	w.t.Helper()
	req := request.Request{Address: project.Address{Cwd: folder, Session: session}, Caller: request.Caller{By: "test"}}
	s, _, err := w.engine.Session(w.t.Context(), req.Address)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range s.Stages {
		w.theirs = append(w.theirs, fmt.Sprintf("%+v %+v", r.Findings, r.Questions))
		if r.Audit != nil {
			for _, f := range r.Audit.Findings {
				w.theirs = append(w.theirs, f.Problem+"; "+f.Fix, fmt.Sprintf("%+v", f))
			}
		}
	}
	if s.CurrentState.WaitsForHuman() {
		q, err := w.engine.Gate(w.t.Context(), req)
		if err != nil {
			w.t.Fatal(err)
		}
		w.theirs = append(w.theirs, fmt.Sprintf("%+v", q))
	}
}

// relay is the whole English run, one that waits at the architect's gate, and one with questions.
func (w *world) relay() {
	const run = "webhook-relay"
	folder := w.project("webhook-relay")
	w.play(folder, run, "po 01-po-first.md", "answer 02-answers.json", "po 03-po-second.json", "yes",
		"architect 04-architect-first.md", "no explain how ordering is kept for each merchant", "architect 05-architect-second.md", "yes",
		"sm 06-sm-first.json", "yes", "dev 07-dev-first.md", "review 08-review-first.json", "no fix R1 first", "dev 09-dev-second.md", "review 10-review-second.md", "qa 11-qa.md")
	w.play(folder, run, "po 01-po-first.md", "answer 02-answers.json", "po 03-po-second.json", "yes", "architect 04-architect-first.md", "no explain how ordering is kept for each merchant", "architect 05-architect-second.md")
	w.play(folder, run, "po 01-po-first.md")
	w.put(filepath.Join(folder, config.ProjectFile), "gate: relay\nverify: \"make test\\u202e\"\n")
	w.remember(folder, notes.Note{Type: notes.Decisions, Agent: "architect", Text: "Sessions are kept in PostgreSQL. It says <b>so</b>.", Tags: []string{"storage"}},
		notes.Note{Type: notes.Failures, Agent: "dev", Text: "Retries doubled the deliveries\nUse an idempotency key.", Tags: []string{"high"}})
	w.headless(folder, w.sample(run, "03-po-second.json"))
}

// booking is the Chinese run, which waits at the plan, and one that has just begun.
func (w *world) booking() {
	const run = "zh-booking"
	folder := w.project("zh-booking")
	w.play(folder, run, "po 01-po-first.md", "yes", "architect 02-architect-first.md", "yes", "sm 03-sm-first.md", "yes", "dev 04-dev-first.md", "review 05-review-first.md", "qa 06-qa.json")
	w.play(folder, run, "po 01-po-first.md", "yes", "architect 02-architect-first.md", "yes", "sm 03-sm-first.md")
	w.remember(folder, notes.Note{Type: notes.SharedContext, Agent: "shared", Text: "图书馆周一闭馆。"})
	w.headless(folder, w.sample(run, "01-po-first.md"))
}

// remember keeps notes.
func (w *world) remember(folder string, drafts ...notes.Note) {
	w.t.Helper()
	p, err := w.engine.Projects().Open(folder)
	if err != nil {
		w.t.Fatal(err)
	}
	defer p.Close()
	b := w.memory.Of(p)
	for _, d := range drafts {
		w.theirs = append(w.theirs, d.Text)
		if _, err := b.Remember(w.t.Context(), d); err != nil {
			w.t.Fatal(err)
		}
	}
}

// writer is an engine that hands in a document.
type writer string

func (writer) Name() string { return "claude" }

func (d writer) Work(_ context.Context, job hostcli.Job) (*hostcli.Outcome, error) {
	if job.Tell != nil {
		job.Tell(hostcli.Activity{Kind: hostcli.UsesTool, Text: "Read README.md"})
	}
	reported := 0.0025
	return &hostcli.Outcome{Text: string(d), Session: "s", Usage: map[string]provider.Usage{"claude-sonnet-5-5": {Input: 1200, Output: 300}, "unheard-of": {Input: 7, Output: 1}}, Reported: &reported}, nil
}

// headless runs a project without a host, up to the first gate.
func (w *world) headless(folder, document string) {
	w.t.Helper()
	r := headless.New(headless.Options{Engine: w.engine, Workers: []headless.Worker{writer(document)}, Folder: folder, By: "run", Flags: headless.Flags{Workflow: "six", Dirty: true}})
	if _, err := r.Start(w.t.Context(), "无宿主运行", "headless"); err != nil {
		w.t.Fatal(err)
	}
}

// get fetches a page.
func (w *world) get(path, language string) (int, string, http.Header) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.server.URL+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Accept-Language", language)
	res, err := w.server.Client().Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header
}
