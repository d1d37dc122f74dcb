package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// overMem returns a bench whose sessions and texts are kept in memory. It shares the
// person's folder with another one, so that both seal with the same key.
func overMem(t *testing.T, like *bench) *bench {
	t.Helper()
	b := newBench(t)
	kept := storetest.NewMem()
	b.state, b.clock = like.state, benchStart
	b.backend = func(store.Place) (store.Backend, error) { return kept, nil }
	b.restart()
	return b
}

// transcript keeps all that an engine answers.
type transcript struct {
	*bench
	out []string
}

func (w *transcript) note(what string, v any, err error) {
	w.t.Helper()
	text, encErr := workflow.MarshalIndent(v)
	if encErr != nil {
		w.t.Fatal(encErr)
	}
	if err != nil {
		f := fault.From(err)
		text = fmt.Appendf(text, "%s: %v\n%s\n%v\n", f.Code, err, f.Hint, f.Allowed)
	}
	w.out = append(w.out, what+"\n"+strings.ReplaceAll(string(text), w.dir, "PROJECT"))
}

func (w *transcript) do(req request.Request) {
	w.t.Helper()
	reply, err := w.try(req)
	w.note(fmt.Sprintf("%s %s %s", req.Action, req.Stage, req.View), reply, err)
}

// look reads all that can be read of the run and its project.
func (w *transcript) look() {
	w.t.Helper()
	for _, view := range []string{"", engine.ViewSession, engine.ViewHistory, engine.ViewSessions, "po"} {
		w.do(request.Request{Action: workflow.ActionStatus, Status: request.Status{View: view}})
	}
	w.do(request.Request{Action: workflow.ActionResume})
	here := request.Request{Address: project.Address{Cwd: w.dir, Session: w.session}}
	for _, view := range []string{engine.ViewSession, engine.ViewHistory, engine.ViewSessions} {
		res, _, err := w.engine.Resource(ctx, here.Address, view)
		w.note("resource "+view, res, err)
	}
	entries, _, err := w.engine.Index(ctx, here.Address, 10)
	for i := range entries { // a file's own time is not the engine's
		if entries[i].View != engine.ViewSession {
			entries[i].Changed = w.clock
		}
	}
	w.note("index", entries, err)
	_, found, _, err := w.engine.Inspect(ctx, here.Address)
	w.note("inspect", found, err)
	changed, err := w.engine.Changed(ctx, here.Address, summaries(w.session), true)
	w.note("changed", changed, err)
	rounds, err := w.engine.Submissions(ctx, here.Address, workflow.PO, 1)
	w.note("rounds", rounds, err)
}

// wholeRun takes a session through every kind of step, well and badly.
func (w *transcript) wholeRun() {
	t := w.t
	const run = "webhook-relay"
	w.do(start("build a thing"))
	stale := w.stored().Revision
	w.do(submit(workflow.PO, sample(t, run, "01-po-first.md")))
	w.look()
	w.do(request.Request{Action: workflow.ActionAnswer, Revision: &stale, Decision: request.Decision{Answers: map[string]string{"q1": "us"}}}) // lost
	w.do(request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "us"}}})
	w.restart()
	w.do(submit(workflow.PO, sample(t, run, "03-po-second.json")))
	w.look()

	// The working copy is edited, submitted again, removed, and laid out anew.
	draft := w.draft(workflow.PO)
	w.write(draft, w.read(draft)+"\nOne more line.\n")
	w.do(confirm(true))
	w.do(request.Request{Action: workflow.ActionSubmit, Stage: "po"})
	w.write(draft, w.read(draft)+"\nQuality Score: 95/100\n")
	w.do(request.Request{Action: workflow.ActionSubmit, Stage: "po"})
	if err := os.Remove(filepath.Join(w.dir, draft)); err != nil {
		t.Fatal(err)
	}
	w.look()

	// What stands in the way of the artifact makes the decision fail, and leaves nothing.
	w.write(".claude/specs", "a file")
	w.do(confirm(true))
	w.look()
	if err := os.Remove(filepath.Join(w.dir, ".claude/specs")); err != nil {
		t.Fatal(err)
	}
	w.do(confirm(true))
	w.do(confirm(true)) // repeated
	w.do(submit(workflow.Architect, sample(t, run, "05-architect-second.md")))
	w.do(confirm(false))
	w.do(submit(workflow.Architect, sample(t, run, "05-architect-second.md")))
	w.do(confirm(true))
	w.do(submit(workflow.SM, sample(t, run, "06-sm-first.json")))
	w.do(approve(true, ""))
	w.do(submit(workflow.Dev, sample(t, run, "07-dev-first.md")))
	w.do(submit(workflow.Review, sample(t, run, "08-review-first.json")))
	w.look()
	w.do(approve(false, "fix R1 first"))
	w.restart()
	w.do(submit(workflow.Dev, sample(t, run, "09-dev-second.md")))
	w.do(submit(workflow.Review, sample(t, run, "10-review-second.md")))
	w.do(submit(workflow.QA, sample(t, run, "11-qa.md")))
	w.look()
	w.do(request.Request{Action: workflow.ActionReopen, Stage: "architect", Decision: request.Decision{Feedback: "one more"}})
	w.do(submit(workflow.Architect, sample(t, run, "05-architect-second.md")+"\nQuality Score: 91/100\n"))
	w.look()

	// Several sessions: which one is meant, and lists.
	first := w.session
	w.do(start("build a thing"))
	w.do(start("another"))
	w.do(request.Request{Action: workflow.ActionCancel})
	out, err := w.engine.Do(ctx, request.Request{Action: workflow.ActionStatus, Address: project.Address{Cwd: w.dir}})
	w.note("list", out.Reply, err)
	out, err = w.engine.Do(ctx, request.Request{Action: workflow.ActionResume, Address: project.Address{Cwd: w.dir}})
	w.note("resume of many", out.Reply, err)
	w.session = first
	w.do(request.Request{Action: workflow.ActionCancel})
	w.look()
}

// TestSameOverEveryStore checks that the engine answers the same to the last byte, whatever keeps
// its sessions; what it does not keep in files, it does not look for there.
func TestSameOverEveryStore(t *testing.T) {
	t.Parallel()
	files := &transcript{bench: newBench(t)}
	files.write(workflow.ProjectFile, "local:test\n")
	files.wholeRun()
	mem := &transcript{bench: overMem(t, files.bench)}
	mem.write(workflow.ProjectFile, "local:test\n")
	mem.wholeRun()
	if len(files.out) != len(mem.out) || len(files.out) < 100 {
		t.Fatalf("%d answers over files and %d over memory", len(files.out), len(mem.out))
	}
	for i := range files.out {
		over, other := strings.Split(mem.out[i], "\n"), strings.Split(files.out[i], "\n")
		for n := range min(len(over), len(other)) {
			if over[n] != other[n] {
				at := 0
				for at < min(len(over[n]), len(other[n])) && over[n][at] == other[n][at] {
					at++
				}
				at = max(at-60, 0)
				t.Fatalf("answer %d, %s, line %d: over memory\n…%.400s\nover files\n…%.400s", i, over[0], n+1, over[n][at:], other[n][at:])
			}
		}
		if len(over) != len(other) {
			t.Fatalf("answer %d, %s: %d lines over memory, %d over files", i, over[0], len(over), len(other))
		}
	}
	entries, err := os.ReadDir(filepath.Join(mem.dir, store.Folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := store.Folder + "/" + e.Name(); name != artifact.WorkFolder && name != workflow.ProjectFile && e.Name() != durable.IgnoreFile { // files of the project
			t.Errorf("the run over memory made %s/%s", store.Folder, e.Name())
		}
	}
}

// TestOneDecisionCounts checks that of several at once, over any store, one moves the run, and
// the others are told where it stands.
func TestOneDecisionCounts(t *testing.T) {
	t.Parallel()
	files := newBench(t)
	for name, b := range map[string]*bench{"files": files, "memory": overMem(t, files)} {
		b.to(workflow.PO, workflow.AwaitingConfirmation)
		before := b.stored()
		const callers = 8
		errs := make([]error, callers)
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				req := confirm(true)
				req.Cwd, req.Session, req.Revision = b.dir, b.session, &before.Revision
				_, errs[i] = b.engine.Do(ctx, req)
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !fault.Is(err, fault.Conflict):
				t.Errorf("%s: got %v, want a conflict", name, err)
			}
		}
		after := b.stored()
		if got, want := len(after.History), len(before.History)+1; won != 1 || got != want || after.Place() != "architect/generating" {
			t.Errorf("%s: %d decisions counted, %d entries, at %s; want one, %d entries, at architect/generating", name, won, got, after.Place(), want)
		}
	}
}
