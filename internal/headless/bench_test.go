package headless_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

var ctx = context.Background()

// model has a known price: 2,000 nano-dollars for a token in, 10,000 for one out.
const model = "claude-sonnet-5-5"

// act is one answer of a scripted worker, and the changes that it makes first.
type act struct {
	text string
	// file is written into the project first.
	file string
	err  error
	// model used 100 tokens in and 10 out; model if empty.
	model string
	// meanwhile, if not nil, happens while the engine works.
	meanwhile func()
}

// script is a worker that plays acts in order, those of each stage by themselves.
type script struct {
	t    testing.TB
	name string
	// acts are by stage; the first line of the role prompt names the stage's role.
	acts map[string][]act
	jobs []hostcli.Job
	who  []string
	// until has the ends of the time of each job.
	until []time.Time
}

func (w *script) Name() string { return w.name }

// roles are the words in a prompt that name its role.
var roles = map[string]string{"po": "the Product Owner", "architect": "the System Architect", "sm": "the Scrum Master", "dev": "the Developer", "review": "the Reviewer", "qa": "the QA Engineer"}

func (w *script) Work(ctx context.Context, job hostcli.Job) (*hostcli.Outcome, error) {
	stage := ""
	head, _, _ := strings.Cut(job.Prompt, "\n## ")
	for id, role := range roles {
		if strings.Contains(head, "You are "+role) || strings.Contains(head, "You are still "+role) {
			stage = id
		}
	}
	until, _ := ctx.Deadline()
	w.jobs, w.who, w.until = append(w.jobs, job), append(w.who, stage), append(w.until, until)
	if len(w.acts[stage]) == 0 {
		w.t.Errorf("the engine %s is asked for %q once more than the test expects:\n%.300s", w.name, stage, job.Prompt)
		return nil, &hostcli.Failure{Engine: w.name, Why: "the script is over", Final: true}
	}
	next := w.acts[stage][0]
	w.acts[stage] = w.acts[stage][1:]
	if next.file != "" {
		if err := os.WriteFile(filepath.Join(job.Dir, next.file), []byte(fmt.Sprintf("work %d\n%s", len(w.jobs), next.text)), 0o600); err != nil {
			w.t.Error(err)
		}
	}
	if job.Tell != nil {
		job.Tell(hostcli.Activity{Kind: hostcli.Began, Session: "s"})
		job.Tell(hostcli.Activity{Kind: hostcli.UsesTool, Text: "Read README.md"})
	}
	if next.meanwhile != nil {
		next.meanwhile()
	}
	used := model
	if next.model != "" {
		used = next.model
	}
	reported := 0.001
	out := &hostcli.Outcome{Text: next.text, Session: fmt.Sprintf("%s-%s-%d", w.name, stage, len(w.jobs)), Usage: map[string]provider.Usage{used: {Input: 100, Output: 10}}, Reported: &reported}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	return out, next.err
}

// stages are those for which a worker was asked, in order.
func (w *script) stages() string { return strings.Join(w.who, " ") }

// document is a text with a block at its end.
func document(title, block string) string {
	return "# " + title + "\n\n## Summary\n\n" + strings.Repeat("It says what is built, for whom and why, in whole sentences. ", 5) + "\n\n```json\n" + block + "\n```\n"
}

func scoredDocument(score int) string {
	return document("Requirements", fmt.Sprintf(`{"quality_score": %d, "gaps": [], "questions": []}`, score))
}

const plan = "# Sprint plan\n\n## Sprint 1: the list\n\nOne story of a day, with its tests.\n\n## Sprint 2: the dates\n\nAnother story of a day, which is about dates and how they are shown to people who have many tasks to do.\n"

var (
	report = document("Implementation report", `{"sprints": [1, 2], "files": ["todo.go"], "resolved": []}`)
	again  = document("Rework report", `{"sprints": [1, 2], "files": ["todo.go"], "resolved": [{"id": "R1", "how": "the task is kept"}]}`)
	failed = document("Review", `{"verdict": "fail", "findings": [{"id": "R1", "severity": "critical", "file": "todo.go:3", "problem": "tasks are lost", "fix": "keep them", "status": "open"}]}`)
	passed = document("Review", `{"checks": [{"id": "C1", "command": "go test ./...", "exit": 0}], "findings": [{"id": "R1", "severity": "critical", "file": "todo.go:3", "problem": "tasks were lost", "status": "fixed"}]}`)
	tested = document("QA report", `{"checks": [{"id": "C1", "command": "go test ./...", "exit": 0}], "criteria": [{"id": "AC-1.1", "result": "pass", "check": "C1", "evidence": "go test ./... ok"}], "findings": []}`)
	clean  = document("Review", `{"checks": [{"id": "C1", "command": "go test ./...", "exit": 0}], "findings": []}`)
	asking = document("Requirements", `{"quality_score": 60, "questions": [{"id": "q1", "question": "Who uses it?"}, {"id": "q2", "question": "On what?"}]}`)
)

// wholeRun are the acts of a run of the workflow six without trouble.
func wholeRun() map[string][]act {
	return map[string][]act{
		"po": {{text: scoredDocument(95)}}, "architect": {{text: scoredDocument(94)}}, "sm": {{text: plan}},
		"dev": {{text: report, file: "todo.go"}}, "review": {{text: clean}}, "qa": {{text: tested}},
	}
}

// bench is a project with an engine, a scripted worker, and a person.
type bench struct {
	t       testing.TB
	dir     string
	engine  *engine.Engine
	worker  *script
	options headless.Options
	events  []headless.Event
	clock   *atomic.Int64
	told    []string // the notices to the person
	// kept are the rights outside of the project, by session.
	kept vault
}

// vault keeps rights in memory.
type vault map[string][]byte

func (v vault) Keep(_ context.Context, id string, data []byte) error {
	v[id] = data
	return nil
}

func (v vault) Kept(_ context.Context, id string) []byte { return v[id] }

func newBench(t testing.TB, acts map[string][]act, environ ...string) *bench {
	b := &bench{t: t, dir: t.TempDir(), worker: &script{t: t, name: "claude", acts: acts}, clock: new(atomic.Int64), kept: vault{}}
	ids := 0
	environ = append([]string{
		"BMAD_AUDIT_FLOOR=0", // its documents say little
		"BMAD_WORKFLOW=six",  // six stages that stay as they are when a built-in workflow changes
	}, environ...)
	now := func() time.Time { return time.Unix(1_790_000_000+b.clock.Add(1), 0) }
	person := t.TempDir()
	if err := errors.Join(os.CopyFS(person, os.DirFS("../../testdata/person")), os.WriteFile(filepath.Join(person, config.UserFile), []byte("notify: beep\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	b.engine = engine.New(engine.Options{
		Notify:   func(h notify.Handed) { b.told = append(b.told, h.Stage+" "+string(h.Event)) },
		Projects: project.New(project.Options{Backend: storetest.At, Settings: config.Source{UserFolder: person, Environ: environ}}),
		Now:      now, Names: engine.Names{Program: "bmad-mcp"},
		NewID: func() string { ids++; return fmt.Sprintf("%08d-2222-4333-8444-555555555555", ids) },
	})
	if err := os.WriteFile(filepath.Join(b.dir, "README.md"), []byte("# A project\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.options = headless.Options{
		Engine: b.engine, Workers: []headless.Worker{b.worker}, Folder: b.dir, By: "test", Gates: headless.Yes, Flags: headless.Flags{Dirty: true},
		Tell: func(e headless.Event) { b.events = append(b.events, e) }, Rights: func(string) sdk.Rights { return b.kept },
	}
	return b
}

func (b *bench) start(objective string) *headless.Result {
	b.t.Helper()
	out, err := headless.New(b.options).Start(ctx, objective, "")
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) resume(task string) *headless.Result {
	b.t.Helper()
	out, err := headless.New(b.options).Resume(ctx, task)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// session is the only one of the project.
func (b *bench) session() *workflow.Session {
	b.t.Helper()
	all, _, _, err := b.engine.Sessions(ctx, project.Address{Cwd: b.dir})
	if err != nil || len(all) != 1 {
		b.t.Fatal(all, err)
	}
	s, _, err := b.engine.Session(ctx, project.Address{Cwd: b.dir, Session: all[0].SessionID})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// at fails if the run has ended for another reason.
func (b *bench) at(r *headless.Result, reason headless.Reason, place string) {
	b.t.Helper()
	s := b.session()
	if got := string(s.CurrentStage) + "/" + string(s.CurrentState); r.Reason != reason || got != place {
		b.t.Fatalf("the run ended at %s (%s: %s); want %s (%s)", got, r.Reason, r.Why, place, reason)
	}
}

// do takes an action as another program does.
func (b *bench) do(req request.Request) *reply.Reply {
	b.t.Helper()
	req.Cwd = b.dir
	out, err := b.engine.Do(ctx, req)
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Reply
}

// person is a channel that answers from a list.
type person struct {
	t    testing.TB
	said []gate.Response
	seen []gate.Question
}

func (p *person) Ask(_ context.Context, q gate.Question) (gate.Response, error) {
	p.seen = append(p.seen, q)
	if len(p.said) == 0 {
		p.t.Errorf("the person is asked once more than the test expects: %s", q.Lead)
		return gate.Response{}, nil
	}
	next := p.said[0]
	p.said = p.said[1:]
	next.Channel = workflow.ChannelTerminal
	return next, nil
}

var approve = gate.Response{Decision: workflow.DecisionApprove}

// types lists the events, without those of engines.
func (b *bench) types() string {
	var out []string
	for _, e := range b.events {
		if e.Type != headless.EngineEvent {
			out = append(out, string(e.Type))
		}
	}
	return strings.Join(out, " ")
}

// cost returns the cost of some calls of a worker.
func cost(calls int) price.Money { return price.Money(calls) * (100*2_000 + 10*10_000) }

// submitRequest returns the request with which another program submits a text.
func submitRequest(stage workflow.StageID, text string) request.Request {
	return request.Request{Action: workflow.ActionSubmit, Stage: string(stage), Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: text}}}}
}
