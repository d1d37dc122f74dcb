package headless_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// TestWholeRun takes a workflow of six stages from an objective to its end.
func TestWholeRun(t *testing.T) {
	b := newBench(t, wholeRun())
	out := b.start("Build a to-do list for the terminal")
	b.at(out, headless.Done, "qa/completed")
	if got := b.worker.stages(); got != "po architect sm dev review qa" {
		t.Errorf("the engine worked for %s", got)
	}
	if out.Cost.Spent != cost(6) || out.Reported == nil || *out.Reported < 0.0059 || *out.Reported > 0.0061 {
		t.Errorf("cost %s, reported %v; want %s and 0.006", out.Cost.Spent, out.Reported, cost(6))
	}
	for i, job := range b.worker.jobs {
		id := b.worker.who[i]
		if job.Writes != (id == "dev" || id == "qa") || job.Session != "" || job.Dir != b.dir {
			t.Errorf("%s: writes %v, session %q, folder %s", id, job.Writes, job.Session, job.Dir)
		}
		for _, words := range []string{"next_call", "in the file"} {
			if strings.Contains(job.Prompt, words) {
				t.Errorf("%s: the prompt says %q", id, words)
			}
		}
		if !strings.Contains(job.Prompt, "Your final answer is the document itself") || strings.Contains(job.Prompt, "Change no file") == (id == "dev") {
			t.Errorf("%s: the form of the answer is missing:\n%s", id, job.Prompt)
		}
		if i > 0 && !strings.Contains(job.Prompt, "01-product-requirements.md") {
			t.Errorf("%s: the prompt does not refer to the requirements", id)
		}
	}
	if dev := b.worker.jobs[3].Prompt; !strings.Contains(dev, `"build":[`) {
		t.Errorf("dev is not told which sprints to build:\n%s", dev)
	}
	s := b.session()
	for _, e := range s.History {
		if g := e.Grant; g != nil && (g.Channel != workflow.ChannelScript || g.Feedback != "--yes of the command line" || g.Assurance != workflow.AssuranceLow) {
			t.Errorf("grant %+v", g)
		}
	}
	want := "run_started" + strings.Repeat(" stage_started cost submitted gate gate", 3) + strings.Repeat(" stage_started cost submitted", 3) + " completed"
	if got := b.types(); got != want {
		t.Errorf("events %s\nwant   %s", got, want)
	}
	for i, e := range b.events {
		if e.Seq != i+1 || e.SessionID != s.SessionID {
			t.Fatalf("event %d: %+v", i, e)
		}
	}
}

// TestQuick runs a workflow without a plan.
func TestQuick(t *testing.T) {
	b := newBench(t, map[string][]act{"po": {{text: scoredDocument(95)}}, "dev": {{text: report, file: "todo.go"}}, "qa": {{text: tested}}})
	b.options.Flags.Workflow = "quick"
	b.at(b.start("Build a thing"), headless.Done, "qa/completed")
}

// TestFixBeginsWithAScope: nothing is changed before the person has approved the scope.
func TestFixBeginsWithAScope(t *testing.T) {
	scope := "# Scope\n\n" + strings.Repeat("The list loses a task because the file is truncated before it is written. ", 4)
	b := newBench(t, map[string][]act{"dev": {{text: scope}, {text: report, file: "todo.go"}}, "review": {{text: clean}}, "qa": {{text: tested}}})
	b.options.Flags.Workflow = "fix"
	b.at(b.start("Fix the list"), headless.Done, "qa/completed")
	if b.worker.jobs[0].Writes || !b.worker.jobs[1].Writes {
		t.Errorf("writes: %v for the scope, %v for the change", b.worker.jobs[0].Writes, b.worker.jobs[1].Writes)
	}
}

// TestPerson has someone answer, ask for changes, and send failed work back.
func TestPerson(t *testing.T) {
	acts := wholeRun()
	acts["po"] = []act{{text: asking}, {text: scoredDocument(95)}, {text: scoredDocument(97)}}
	acts["dev"] = append(acts["dev"], act{text: again, file: "todo.go"})
	acts["review"] = []act{{text: failed}, {text: passed}}
	b := newBench(t, acts)
	changes := gate.Response{Decision: workflow.DecisionChanges, Feedback: "name the users"}
	p := &person{t: t, said: []gate.Response{{Answers: map[string]string{"q1": "me", "q2": "a laptop"}}, changes, approve, approve, approve, {Decision: workflow.DecisionChanges, Feedback: "keep the tasks"}}}
	b.options.Gates, b.options.Person = headless.Ask, p
	b.at(b.start("Build a to-do list"), headless.Done, "qa/completed")
	if len(p.said) > 0 {
		t.Errorf("not asked for %+v", p.said)
	}
	if got := b.worker.stages(); got != "po po po architect sm dev review dev review qa" {
		t.Fatalf("the engine worked for %s", got)
	}
	jobs := b.worker.jobs
	for i, want := range map[int]string{1: "claude-po-1", 2: "claude-po-2", 7: "claude-dev-6", 6: "", 8: ""} {
		if jobs[i].Session != want {
			t.Errorf("call %d (%s) continues %q; want %q", i, b.worker.who[i], jobs[i].Session, want)
		}
	}
	for i, words := range map[int][]string{1: {"a laptop", `"answer":"me"`}, 2: {"name the users"}, 7: {"tasks are lost", "keep the tasks"}} {
		for _, w := range words {
			if !strings.Contains(jobs[i].Prompt, w) {
				t.Errorf("call %d (%s) is not told %q:\n%s", i, b.worker.who[i], w, jobs[i].Prompt)
			}
		}
	}
	if got := b.types(); strings.Count(got, "rework") != 2 || strings.Count(got, "question") != 1 {
		t.Errorf("events %s", got)
	}
}

// TestStopsAtAGate: without a person the run ends, another program decides, and it goes on.
func TestStopsAtAGate(t *testing.T) {
	b := newBench(t, wholeRun())
	b.options.Gates = headless.Stop
	out := b.start("Build a to-do list")
	b.at(out, headless.Person, "po/awaiting_confirmation")
	if out.Command != "bmad-mcp decide build-a-to-do-list" || out.Resume != "bmad-mcp run --resume build-a-to-do-list" {
		t.Errorf("command %q, resume %q", out.Command, out.Resume)
	}
	if out.Session.Draft == nil || out.Session.Score == nil || *out.Session.Score != 95 || out.Session.Audit == nil {
		t.Errorf("the gate is not described: %+v", out.Session)
	}
	same := b.resume("build-a-to-do-list")
	b.at(same, headless.Person, "po/awaiting_confirmation")
	yes := true
	b.do(request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &yes}})
	b.at(b.resume("build-a-to-do-list"), headless.Person, "architect/awaiting_confirmation")
	if got := b.worker.stages(); got != "po architect" {
		t.Errorf("the engine worked for %s", got)
	}
	if last := b.events[len(b.events)-1]; last.Seq != len(b.events) {
		t.Errorf("the numbers of events do not go on: %d of %d", last.Seq, len(b.events))
	}
}

// TestYesHasLimits: failed work, a low audit, questions and strict gates are the person's.
func TestYesHasLimits(t *testing.T) {
	acts := wholeRun()
	acts["review"] = []act{{text: failed}}
	b := newBench(t, acts)
	out := b.start("Build a to-do list")
	b.at(out, headless.Person, "review/awaiting_approval")
	if !strings.Contains(out.Why, "has not passed") || out.Command != "bmad-mcp decide build-a-to-do-list" {
		t.Errorf("%s, %s", out.Why, out.Command)
	}

	b = newBench(t, wholeRun(), "BMAD_AUDIT_FLOOR=60")
	out = b.start("Build a to-do list")
	b.at(out, headless.Person, "po/awaiting_confirmation")
	if !strings.Contains(out.Why, "below the floor of 60") || out.Command != "bmad-mcp decide build-a-to-do-list" {
		t.Errorf("%s, %s", out.Why, out.Command)
	}

	b = newBench(t, map[string][]act{"po": {{text: asking}}})
	out = b.start("Build a to-do list")
	b.at(out, headless.Person, "po/clarifying")
	if len(out.Session.Questions) != 2 {
		t.Errorf("%+v", out.Session.Questions)
	}

	b = newBench(t, nil, "BMAD_SM_GATE=strict")
	if _, err := headless.New(b.options).Start(ctx, "Build a to-do list", ""); !fault.Is(err, fault.NotAllowed) || !strings.Contains(err.Error(), "strict") {
		t.Errorf("strict: %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, ".bmad-task")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused run has left files: %v", err)
	}
}

// TestAnswers come from a file, all or none; those that nothing asks for are reported.
func TestAnswers(t *testing.T) {
	b := newBench(t, map[string][]act{"po": {{text: asking}, {text: scoredDocument(95)}}})
	b.options.Gates, b.options.Answers = headless.Stop, map[string]string{"q1": "me", "q9": "?"}
	out := b.start("Build a to-do list")
	b.at(out, headless.Person, "po/clarifying")
	if got := strings.Join(out.Unused, " "); got != "q9" {
		t.Errorf("unused answers: %s", got)
	}
	b.options.Answers["q2"] = "a laptop"
	out = b.resume("build-a-to-do-list")
	b.at(out, headless.Person, "po/awaiting_confirmation")
	rec := b.session().Record("po")
	if rec.Answers["q1"] != "me" || rec.Answers["q2"] != "a laptop" || rec.AnswerChannels["q1"] != workflow.ChannelScript || strings.Join(out.Unused, " ") != "q9" {
		t.Errorf("answers %v by %v; unused %v", rec.Answers, rec.AnswerChannels, out.Unused)
	}
}

// TestFailures: an answer that only looks like work is not submitted, and the engine is told why.
func TestFailures(t *testing.T) {
	acts := wholeRun()
	acts["po"] = []act{{err: &hostcli.Failure{Engine: "claude", Why: "API Error: overloaded"}}, {text: "side"}, {text: scoredDocument(95)}}
	acts["architect"] = []act{{text: `{"architecture_draft": "` + strings.Repeat("x", 300)}, {text: scoredDocument(94)}}
	acts["dev"] = []act{{text: report}, {text: report, file: "todo.go"}}
	b := newBench(t, acts)
	out := b.start("Build a to-do list")
	b.at(out, headless.Done, "qa/completed")
	if out.Cost.Spent != cost(10) {
		t.Errorf("cost %s; failed calls cost too: %s", out.Cost.Spent, cost(10))
	}
	for i, want := range map[int]string{1: "API Error: overloaded", 2: `the answer "side" is not the document`, 4: "the JSON in claude_result", 7: "no file of the project has changed"} {
		if !strings.Contains(b.worker.jobs[i].Prompt, want) {
			t.Errorf("call %d is not told %q", i, want)
		}
	}
	if rec := b.session().Record("po"); rec.Iteration != 1 {
		t.Errorf("po has %d rounds", rec.Iteration)
	}

	b = newBench(t, map[string][]act{"po": {{text: "side"}, {text: ""}, {text: "API Error: 401"}}})
	out = b.start("Build a to-do list")
	b.at(out, headless.Failed, "po/generating")
	if !strings.Contains(out.Why, "Nothing was submitted") || b.session().Record("po").Iteration != 0 {
		t.Errorf("%s; %d rounds", out.Why, b.session().Record("po").Iteration)
	}

	b = newBench(t, map[string][]act{"po": {{err: &hostcli.Failure{Engine: "claude", Why: "not logged in", Final: true}}}})
	b.at(b.start("Build a to-do list"), headless.Failed, "po/generating")
}

// TestWaitsForTheServer checks that a run calls a model's server again when it wants to be called, and ends if that is late.
func TestWaitsForTheServer(t *testing.T) {
	for name, c := range map[string]struct {
		after   time.Duration
		minutes int
		waits   string
		reason  headless.Reason
		why     string
	}{
		"no wish":            {0, 0, "[]", headless.Person, ""},
		"soon":               {3 * time.Minute, 0, "[3m0s]", headless.Person, ""},
		"late":               {time.Hour, 0, "[]", headless.Failed, "slow; its server takes no call for 1h0m0s"},
		"after the time":     {9 * time.Minute, 5, "[4m", headless.Person, ""},
		"within the time":    {time.Minute, 5, "[1m0s]", headless.Person, ""},
		"less than nothing":  {-time.Minute, 0, "[]", headless.Person, ""},
		"longer than can be": {math.MaxInt64, 0, "[]", headless.Failed, "its server takes no call for"},
	} {
		b := newBench(t, map[string][]act{"po": {{err: &hostcli.Failure{Engine: "api", Why: "slow", After: c.after}}, {text: scoredDocument(95)}}})
		waits := []time.Duration{}
		b.options.Wait = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
		b.options.Gates, b.options.Flags.Minutes = headless.Stop, c.minutes
		out := b.start("Build a to-do list")
		if got := fmt.Sprint(waits); !strings.HasPrefix(got, c.waits) || out.Reason != c.reason || !strings.Contains(out.Why, c.why) {
			t.Errorf("%s: it waits %s and ends with %s: %s", name, got, out.Reason, out.Why)
		}
	}
	b := newBench(t, map[string][]act{"po": {{err: &hostcli.Failure{Engine: "api", Why: "slow", After: time.Minute}}}})
	waiting, stop := context.WithCancel(ctx)
	b.worker.acts["po"][0].meanwhile = func() { time.AfterFunc(20*time.Millisecond, stop) }
	if _, err := headless.New(b.options).Start(waiting, "Build a to-do list", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("given up while it waits: %v", err)
	}
}

// TestReturned: a report that lacks its rows goes back into its conversation with the reasons. If
// that cannot go on, a new one is told the role and the form besides.
func TestReturned(t *testing.T) {
	acts := wholeRun()
	acts["review"] = []act{{text: "Status: Pass"}, {err: &hostcli.Failure{Engine: "claude", Why: "API Error: overloaded"}}, {text: passed}}
	b := newBench(t, acts)
	b.at(b.start("Build a to-do list"), headless.Done, "qa/completed")
	const reason = "it has no block of JSON with its rows"
	calls := b.worker.jobs[4:7]
	for i, session := range []string{"", "claude-review-5", ""} {
		prompt := calls[i].Prompt
		if calls[i].Session != session || strings.Contains(prompt, reason) != (i > 0) || !strings.Contains(prompt, "You are the Reviewer") || !strings.Contains(prompt, `"checks": [`) {
			t.Errorf("call %d goes into %q and is told\n%s", i+1, calls[i].Session, prompt)
		}
	}
	var lines []string
	for _, e := range b.events {
		if e.Type == headless.Submitted && e.Stage == "review" {
			lines = append(lines, e.Line(lang.English))
		}
	}
	if want := []string{"review: returned, because " + reason, "review: submitted, pass"}; !slices.Equal(lines, want) {
		t.Errorf("the person is told %q", lines)
	}

	acts = wholeRun()
	acts["review"] = []act{{text: "Status: Pass"}, {text: "Status: pass"}, {text: "Status: PASS"}}
	b = newBench(t, acts)
	out := b.start("Build a to-do list")
	b.at(out, headless.Person, "review/awaiting_approval")
	if !strings.Contains(out.Why, "has no verdict; nobody but you can accept that, or ask for another one") {
		t.Errorf("it ends because %s", out.Why)
	}
}

// TestFilesThatOtherProgramsObey: whatever way one was changed while an engine worked, the run stops and says so, until
// the person has seen it or opens the file. The answer is handed in then. What this program writes itself does not count.
func TestFilesThatOtherProgramsObey(t *testing.T) {
	for name, c := range map[string]struct {
		file, names string // names is "" if the run goes on
		open        []string
	}{
		"a file":                     {".envrc", "while it worked, .envrc was changed, which other programs obey (direnv", nil},
		"a file that is opened":      {".envrc", "", []string{".envrc"}},
		"a hook":                     {".git/hooks/pre-commit", "while it worked, .git/hooks/pre-commit was changed, which other programs obey (git)", nil},
		"settings of git":            {".git/config", "while it worked, .git/config was changed", nil},
		"a hook below":               {"sub/.git/hooks/post-checkout", "while it worked, sub/.git/hooks/post-checkout was changed", nil},
		"another repository":         {"new/.git/HEAD", "while it worked, new/.git was changed", nil},
		"a document of this program": {".claude/specs/other/01-product-requirements.md", "", nil},
		"a note of this program":     {".claude/bmad-memory/structured/decisions.jsonl", "", nil},
		"events of this program":     {".vscode/events.jsonl", "", nil},
		"what git keeps":             {".git/COMMIT_EDITMSG", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			acts := wholeRun()
			b := newBench(t, acts)
			for _, repository := range []string{".git", "sub/.git"} {
				for _, folder := range []string{"objects", "refs/heads", "hooks"} {
					if err := os.MkdirAll(filepath.Join(b.dir, repository, folder), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				write(t, b.dir, repository+"/HEAD", "ref: refs/heads/main\n")
			}
			acts["dev"][0].meanwhile = func() { write(t, b.dir, c.file, "x\n") }
			b.options.Flags.Budget = cost(4) // which the call of dev spends
			b.options.Flags.Open, b.options.Own = c.open, []string{".claude/bmad-memory/structured/", ".vscode/events.jsonl"}
			out := b.start("Build a to-do list")
			if c.names == "" {
				b.at(out, headless.Spent, "review/generating")
				return
			}
			b.at(out, headless.Failed, "dev/generating")
			for _, want := range []string{c.names, "Nothing was submitted", "claude has done the work of dev, but"} {
				if !strings.Contains(out.Why, want) {
					t.Errorf("%q does not say %q", out.Why, want)
				}
			}
			if offers := strings.Contains(out.Why, "--allow-path"); offers != (c.file == ".envrc") {
				t.Errorf("%q offers to open the file: %v", out.Why, offers)
			}
			b.options.Flags.Budget = cost(9)
			b.at(b.resume(b.session().SessionID), headless.Done, "qa/completed")
			if got := b.worker.stages(); got != "po architect sm dev review qa" {
				t.Errorf("the engine worked for %s", got)
			}
		})
	}
}

// write writes a file of a folder.
func write(t testing.TB, folder, name, text string) {
	t.Helper()
	at := filepath.Join(folder, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestBudget: a call that goes beyond it is the last, and its answer is not lost.
func TestBudget(t *testing.T) {
	b := newBench(t, wholeRun())
	b.options.Flags.Budget = cost(2)
	out := b.start("Build a to-do list")
	b.at(out, headless.Spent, "sm/generating")
	percents := ""
	for _, e := range b.events {
		if e.Percent > 0 {
			percents += " " + string(e.Stage) + lang.English.Say(" %d", e.Percent)
		}
	}
	if percents != " po 50 architect 90" || b.worker.jobs[0].Left != cost(2) || b.worker.jobs[1].Left != cost(1) {
		t.Errorf("warnings%s; left %s, %s", percents, b.worker.jobs[0].Left, b.worker.jobs[1].Left)
	}
	b.options.Flags.Budget = cost(9)
	b.at(b.resume("build-a-to-do-list"), headless.Done, "qa/completed")

	b = newBench(t, map[string][]act{"po": {{text: scoredDocument(95), model: "llama3"}}})
	b.options.Flags.Budget = price.Dollar
	out = b.start("Build a to-do list")
	b.at(out, headless.Spent, "architect/generating")
	if !strings.Contains(out.Why, "price is not known") || !strings.HasSuffix(out.Resume, " --budget none") {
		t.Errorf("%s: %s", out.Why, out.Resume)
	}

	b = newBench(t, nil)
	b.options.Flags.Budget, b.options.Flags.ModelFor = price.Dollar, map[workflow.StageID]string{"qa": "llama3"}
	var unknown *price.UnknownError
	if _, err := headless.New(b.options).Start(ctx, "Build a to-do list", ""); !fault.Is(err, fault.InvalidArgument) || !errors.As(err, &unknown) {
		t.Errorf("a model without a price: %v", err)
	}
}

// expensive is a worker whose model has no known price, as it says before the work.
type expensive struct{ *script }

func (expensive) ModelOf(hostcli.Job) string { return "llama3" }

// TestBudgetBeforePaying checks that a budget which cannot hold is refused before anything is made or paid, and that a
// stage which is done does not count.
func TestBudgetBeforePaying(t *testing.T) {
	b := newBench(t, wholeRun())
	b.options.Workers, b.options.Flags.Budget, b.options.Gates = []headless.Worker{expensive{b.worker}}, price.Dollar, headless.Stop
	var unknown *price.UnknownError
	if _, err := headless.New(b.options).Start(ctx, "Build a to-do list", ""); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "llama3") {
		t.Fatalf("it begins: %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, ".bmad-task")); err == nil || len(b.worker.jobs) > 0 {
		t.Errorf("%v, after %d calls", err, len(b.worker.jobs))
	}
	b.options.Flags.Budget, b.options.Flags.Stages, b.options.Gates = 0, "po", headless.Yes
	b.at(b.start("Build a to-do list"), headless.Done, "architect/generating")
	b.options.Flags.Budget, b.options.Flags.Stages = price.Dollar, "po..architect"
	if _, err := headless.New(b.options).Resume(ctx, "build-a-to-do-list"); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "architect") {
		t.Errorf("resumed: %v", err)
	}
}

// TestBudgetOfAPI: a model behind an API that has no room left ends the run as any engine does. The
// person is warned while the money is spent, and told a budget with which the run goes on.
func TestBudgetOfAPI(t *testing.T) {
	var percents []int
	counted := make(chan bool, 9)
	var steps []fake.Step
	for i, tokens := range []int64{60_000, 21_000, 10_000, 8_000} { // of 100,000 that the budget allows
		step := use("read_file", map[string]any{"file_path": "/README.md"})
		step.Usage = provider.Usage{Input: 1, Output: tokens}
		step.Before = func(context.Context, provider.Request) error {
			if i > 0 {
				<-counted
			}
			if want := []int{50, 80, 90}[:min(i, 3)]; !slices.Equal(percents, want) {
				t.Errorf("before call %d the person was warned at %v; want %v", i+1, percents, want)
			}
			return nil
		}
		steps = append(steps, step)
	}
	worker, model := api(t, steps...)
	b := newBench(t, nil)
	b.options.Workers, b.options.Prices = []headless.Worker{worker}, fake.Prices()
	b.options.Flags.Budget, b.options.Flags.Stages = price.Dollar/5, "po"
	b.options.Tell = func(e headless.Event) {
		if e.Percent > 0 {
			percents = append(percents, e.Percent)
		}
		if e.Activity == hostcli.Counted {
			counted <- true
		}
	}
	out := b.start("Build a to-do list")
	b.at(out, headless.Spent, "po/generating")
	if !slices.Equal(percents, []int{50, 80, 90}) || !strings.Contains(out.Why, "too little left for another call ($0.198004 of $0.20 are spent)") || out.Resume != "bmad-mcp run --resume build-a-to-do-list --budget 0.40" {
		t.Errorf("warned at %v; %s; %s", percents, out.Why, out.Resume)
	}
	model.Add(fake.Text(scoredDocument(95)))
	b.options.Flags.Budget = price.Dollar * 2 / 5
	b.at(b.resume("build-a-to-do-list"), headless.Done, "architect/generating")

	worker, _ = api(t)
	b = newBench(t, nil)
	b.options.Workers, b.options.Prices = []headless.Worker{worker}, fake.Prices()
	b.options.Flags.Budget = price.Dollar / 1000
	out = b.start("Build a to-do list")
	b.at(out, headless.Spent, "po/generating")
	if out.Why != "the budget of $0.001 is too small for the first call" || !strings.HasSuffix(out.Resume, " --budget 0.002") {
		t.Errorf("before the first call: %s; %s", out.Why, out.Resume)
	}

	stop := &hostcli.Failure{Engine: "claude", Why: "Reached maximum budget ($1)", Final: true, Spent: true}
	for budget, want := range map[price.Money]headless.Reason{0: headless.Failed, price.Dollar: headless.Spent} {
		b := newBench(t, map[string][]act{"po": {{err: stop}}})
		b.options.Flags.Budget = budget
		b.at(b.start("Build a to-do list"), want, "po/generating")
	}
}

// TestTime: the time is that of one invocation.
func TestTime(t *testing.T) {
	acts := wholeRun()
	b := newBench(t, acts)
	acts["po"][0].meanwhile = func() { b.clock.Add(3601) }
	b.options.Flags.Minutes = 60
	b.at(b.start("Build a to-do list"), headless.Spent, "architect/generating")
	b.at(b.resume("build-a-to-do-list"), headless.Done, "qa/completed")
}

// TestStages ends after some, and begins after others with documents of the person.
func TestStages(t *testing.T) {
	b := newBench(t, wholeRun())
	b.options.Flags.Stages = "po..architect"
	out := b.start("Build a to-do list")
	b.at(out, headless.Done, "sm/generating")
	for name, text := range map[string]string{"prd.md": scoredDocument(96), "design.md": scoredDocument(95)} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.options.Flags.Stages = "sm.."
	if _, err := headless.New(b.options).Start(ctx, "Build another", ""); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "has no document") {
		t.Errorf("no documents: %v", err)
	}
	b.options.Flags.Stages = "sm" // resumed for the rest: the run has the documents before
	b.at(b.resume("build-a-to-do-list"), headless.Done, "dev/generating")
	b.options.Flags.Stages = "po..qa"
	b.at(b.resume("build-a-to-do-list"), headless.Done, "qa/completed")

	for name, flags := range map[string]headless.Flags{
		"documents": {Stages: "sm..", Docs: map[workflow.StageID]string{"po": "prd.md", "architect": "design.md"}, Dirty: true},
		"a task":    {Stages: "sm..", From: "build-a-to-do-list", Dirty: true},
	} {
		b.worker.acts, b.worker.who = wholeRun(), nil
		b.options.Flags = flags
		out, err := headless.New(b.options).Start(ctx, "Build it from "+name, "")
		if err != nil || out.Reason != headless.Done || b.worker.stages() != "sm dev review qa" {
			t.Errorf("%s: %+v, %v; the engine worked for %s", name, out, err, b.worker.stages())
		}
	}
	from, _, err := b.options.Engine.Session(ctx, project.Address{Cwd: b.dir, Session: "build-a-to-do-list"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range from.Record(workflow.PO).Refs() {
		if err := os.WriteFile(filepath.Join(b.dir, ref.FilePath), []byte(scoredDocument(99)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.options.Flags = headless.Flags{Stages: "sm..", From: "build-a-to-do-list", Dirty: true}
	if _, err := headless.New(b.options).Start(ctx, "Build it from an exchanged text", ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("a document that was exchanged: %v", err)
	}
	b.options.Flags = headless.Flags{Stages: "architect", Docs: map[workflow.StageID]string{"po": "README.md"}, Dirty: true}
	out, err = headless.New(b.options).Start(ctx, "Build it from little", "")
	if err != nil || out.Reason != headless.Person || !strings.Contains(out.Why, "does not open its gate") {
		t.Errorf("a document below the gate: %+v, %v", out, err)
	}
}

// TestNothingIsLeft: a start that cannot be carried out as it was typed leaves nothing behind, and a plan
// says so.
func TestNothingIsLeft(t *testing.T) {
	nameless := &headless.API{Engine: "openai", Provider: func(string) (provider.Provider, error) {
		return nil, fault.New(fault.InvalidArgument, "no model of the server is named")
	}}
	doc := func(path string) headless.Flags {
		return headless.Flags{Stages: "architect", Docs: map[workflow.StageID]string{"po": path}}
	}
	for name, c := range map[string]struct {
		flags headless.Flags
		want  string
		code  fault.Code
	}{
		"a document outside":     {doc("../po.md"), "is not inside the project", fault.InvalidArgument},
		"a missing document":     {doc("no.md"), "does not exist", fault.NotFound},
		"a task that is missing": {headless.Flags{Stages: "sm", From: "other"}, "other", fault.NotFound},
		"no rule":                {headless.Flags{Engine: "claude", Commands: []string{"go (test"}}, "cannot be a rule", fault.InvalidArgument},
		"no model":               {headless.Flags{Engine: "openai"}, "no model of the server", fault.InvalidArgument},
	} {
		b := newBench(t, nil)
		b.options.Workers = []headless.Worker{&hostcli.Claude{}, nameless}
		b.options.Flags = c.flags
		b.options.Flags.Dirty = true
		for range 2 {
			if _, err := headless.New(b.options).Start(ctx, "Build it", ""); !fault.Is(err, c.code) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v; want %s", name, err, c.want)
			}
		}
		if _, err := headless.New(b.options).Plan(ctx, "Build it"); !fault.Is(err, c.code) {
			t.Errorf("%s: the plan says %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(b.dir, ".bmad-task")); err == nil {
			t.Errorf("%s: a session is left", name)
		}
	}

	b := newBench(t, wholeRun()) // neither does a resumed run keep such flags
	b.options.Flags.Stages = "po"
	b.at(b.start("Build a to-do list"), headless.Done, "architect/generating")
	before, err := os.ReadFile(filepath.Join(b.dir, headless.RunFile(b.session().SessionID)))
	if err != nil {
		t.Fatal(err)
	}
	b.options.Flags = headless.Flags{Stages: "sm", Docs: map[workflow.StageID]string{"architect": "no.md"}, Dirty: true}
	if _, err := headless.New(b.options).Resume(ctx, "build-a-to-do-list"); !fault.Is(err, fault.NotFound) {
		t.Errorf("resumed with a missing document: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(b.dir, headless.RunFile(b.session().SessionID))); err != nil || string(after) != string(before) {
		t.Errorf("run.json has become %s, %v", after, err)
	}
}

// TestPause: each invocation is the person's word for one round.
func TestPause(t *testing.T) {
	b := newBench(t, wholeRun(), "BMAD_PAUSE=stages")
	b.at(b.start("Build a to-do list"), headless.Person, "architect/generating")
	b.at(b.resume("build-a-to-do-list"), headless.Person, "sm/generating")
}

// BenchmarkWholeRun is the price of six stages and three gates besides the engines.
func BenchmarkWholeRun(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		bench := newBench(b, wholeRun())
		b.StartTimer()
		bench.at(bench.start("Build a to-do list"), headless.Done, "qa/completed")
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/6, "ms/stage")
}

// TestCountsOfEngines: an engine that reports less than nothing, or more than there is, gives no
// budget back.
func TestCountsOfEngines(t *testing.T) {
	for name, said := range map[string]struct {
		usage    provider.Usage
		reported float64
	}{
		"less than nothing": {provider.Usage{Input: -40_000_000, Output: -40_000_000}, -480},
		"nothing":           {provider.Usage{}, math.NaN()},
		"all there is":      {provider.Usage{Input: math.MaxInt64, CacheRead: math.MaxInt64, Output: math.MaxInt64}, math.Inf(1)},
	} {
		b := newBench(t, wholeRun())
		b.options.Workers = []headless.Worker{boaster{b.worker, hostcli.Outcome{Usage: map[string]provider.Usage{model: said.usage}, Reported: &said.reported}}}
		b.options.Flags.Budget = 8_000_000 // of about four answers
		out := b.start("Build a to-do list")
		if out.Reason != headless.Spent || out.Cost.Spent < 8_000_000 || out.Cost.Spent > 20_000_000 || out.Reported != nil {
			t.Errorf("%s: %s: %s, reported %v, after %d calls", name, out.Reason, out.Cost.Spent, out.Reported, len(b.worker.jobs))
		}
	}
}

// boaster does the work of a worker, and reports its own count.
type boaster struct {
	*script
	says hostcli.Outcome
}

func (w boaster) Work(ctx context.Context, job hostcli.Job) (*hostcli.Outcome, error) {
	out, err := w.script.Work(ctx, job)
	out.Usage, out.Reported = w.says.Usage, w.says.Reported
	return out, err
}
