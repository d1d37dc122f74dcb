package headless_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// errKilled ends a run as a kill does: nothing after it is done.
var errKilled = errors.New("killed")

// till is a worker that writes what Claude Code prints, and counts each answer that is paid for.
type till struct {
	*script
	hostcli.Claude
	paid int
	// stop, if not nil, is called with the number of a call, before and after the result is written.
	stop func(call int, done bool)
}

func (w *till) Name() string { return "claude" }

func (w *till) Work(ctx context.Context, job hostcli.Job) (*hostcli.Outcome, error) {
	out, err := w.script.Work(ctx, job)
	w.paid++
	say := func(line map[string]any) {
		data, _ := json.Marshal(line)
		_, _ = job.Raw.Write(append(data, '\n'))
	}
	usage := map[string]any{"input_tokens": 100, "output_tokens": 10}
	say(map[string]any{"type": "system", "subtype": "init", "session_id": out.Session})
	say(map[string]any{"type": "assistant", "message": map[string]any{"id": "m", "model": model, "content": []any{map[string]any{"type": "text", "text": out.Text}}, "usage": usage}})
	if w.stop != nil {
		w.stop(w.paid, false)
	}
	say(map[string]any{
		"type": "result", "subtype": "success", "result": out.Text, "session_id": out.Session, "total_cost_usd": 0.001,
		"modelUsage": map[string]any{model: map[string]any{"inputTokens": 100, "outputTokens": 10}},
	})
	if w.stop != nil {
		w.stop(w.paid, true)
	}
	return out, err
}

// TestPaidOnce stops a run in each way at each of its calls, and resumes it: each answer that has arrived is paid for
// once, and handed in once, and every call is in the sum at the end.
func TestPaidOnce(t *testing.T) {
	for how, stop := range map[string]func(interrupt func(), done bool){
		"killed after the result": func(_ func(), done bool) { panicIf(done) },
		"killed in the work":      func(_ func(), done bool) { panicIf(!done) },
		"given up in the work":    func(interrupt func(), _ bool) { interrupt() },
		"given up after the result": func(interrupt func(), done bool) {
			if done {
				interrupt()
			}
		},
	} {
		for at := 1; at <= 6; at++ {
			t.Run(fmt.Sprintf("%s of call %d", how, at), func(t *testing.T) {
				b := newBench(t, wholeRun())
				w := &till{script: b.worker}
				b.options.Workers = []headless.Worker{w}
				running, interrupt := context.WithCancel(ctx)
				w.stop = func(call int, done bool) {
					if call == at {
						stop(interrupt, done)
					}
				}
				lost := how == "killed in the work"
				if lost { // the same work, once more
					for id, acts := range w.acts {
						w.acts[id] = append(acts, acts[0])
					}
				}
				runs := func() (err error) {
					defer func() {
						if r := recover(); r != nil {
							err = r.(error)
						}
					}()
					_, err = headless.New(b.options).Start(running, "Build a to-do list", "")
					return err
				}
				if err := runs(); !errors.Is(err, context.Canceled) && !errors.Is(err, errKilled) {
					t.Fatalf("the run ended with %v", err)
				}
				w.stop = nil
				out := b.resume("build-a-to-do-list")
				b.at(out, headless.Done, "qa/completed")
				submitted := 0
				for _, e := range b.session().History {
					if e.Action == workflow.ActionSubmit {
						submitted++
					}
				}
				if want := map[bool]int{false: 6, true: 7}[lost]; w.paid != want || submitted != 6 || out.Cost.Spent != cost(want) {
					t.Errorf("%d calls for %d submissions, %s in all; want %d and %s", w.paid, submitted, out.Cost.Spent, want, cost(want))
				}
			})
		}
	}
}

func panicIf(now bool) {
	if now {
		panic(errKilled)
	}
}

// TestKilledCallOfThePast checks that the answer of a killed call is not handed in once others have taken the session
// on, and is in the sum all the same.
func TestKilledCallOfThePast(t *testing.T) {
	b := newBench(t, wholeRun())
	w := &till{script: b.worker, stop: func(_ int, done bool) { panicIf(done) }}
	b.options.Workers, b.options.Gates = []headless.Worker{w}, headless.Stop
	func() {
		defer func() { _ = recover() }()
		b.start("Build a to-do list")
	}()
	w.stop = nil
	b.do(submitRequest("po", scoredDocument(96)))
	out := b.resume("build-a-to-do-list")
	b.at(out, headless.Person, "po/awaiting_confirmation")
	if rec := b.session().Record("po"); rec.Iteration != 1 || *rec.Score != 96 || out.Cost.Spent != cost(1) {
		t.Errorf("%d rounds, score %g, %s", rec.Iteration, *rec.Score, out.Cost.Spent)
	}
	yes := true
	b.do(request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &yes}})
	b.at(b.resume("build-a-to-do-list"), headless.Person, "architect/awaiting_confirmation")
}
