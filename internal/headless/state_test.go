package headless_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// file returns a file of the run of the bench's session.
func (b *bench) file(name string) string {
	return filepath.Join(b.dir, filepath.FromSlash(store.RunFolder(b.session().SessionID)), name)
}

func (b *bench) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.file(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// TestTwoRuns: a session has one run at a time, and the other is named.
func TestTwoRuns(t *testing.T) {
	acts := wholeRun()
	b := newBench(t, acts)
	asked := false
	acts["po"][0].meanwhile = func() {
		asked = true
		_, err := headless.New(b.options).Resume(ctx, "build-a-to-do-list")
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "process ") {
			t.Errorf("a second run: %v", err)
		}
	}
	b.at(b.start("Build a to-do list"), headless.Done, "qa/completed")
	if !asked {
		t.Error("no second run was tried")
	}
}

// TestTwoRunsInOneFolder checks that both of two runs are told of the other, each once.
func TestTwoRunsInOneFolder(t *testing.T) {
	b := newBench(t, wholeRun())
	told := func(events []headless.Event) (out []string) {
		for _, e := range events {
			if e.Type == headless.Noticed {
				out = append(out, e.Why)
			}
		}
		return out
	}
	first, second := make(chan bool), make(chan bool)
	b.worker.acts["po"][0].meanwhile = func() { close(first); <-second }
	other := *b
	other.events = nil
	other.worker = &script{t: t, name: "claude", acts: wholeRun()}
	other.options.Workers = []headless.Worker{other.worker}
	other.options.Tell = func(e headless.Event) { other.events = append(other.events, e) }
	goOn := make(chan bool)
	other.worker.acts["architect"][0].meanwhile = func() { close(second); <-goOn }
	b.worker.acts["qa"][0].meanwhile = func() { close(goOn) }
	done := make(chan error)
	go func() {
		<-first
		_, err := headless.New(other.options).Start(ctx, "Build a clock", "clock")
		done <- err
	}()
	if _, err := headless.New(b.options).Start(ctx, "Build a to-do list", "list"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for who, events := range map[string][]headless.Event{"clock": b.events, "list": other.events} {
		if got := told(events); len(got) != 1 || !strings.Contains(got[0], "the run "+who+" works in this folder too") {
			t.Errorf("told %q of %s", got, who)
		}
	}
}

// TestStateFile: keys of a newer program survive, a newer format is refused, and nothing is written
// over a broken file.
func TestStateFile(t *testing.T) {
	b := newBench(t, wholeRun())
	b.options.Gates = headless.Stop
	b.start("Build a to-do list")
	var kept map[string]any
	if err := json.Unmarshal([]byte(b.read("run.json")), &kept); err != nil {
		t.Fatal(err)
	}
	if kept["version"] != 1.0 || kept["session_id"] != b.session().SessionID || kept["calls"] != 1.0 {
		t.Errorf("run.json has %v", kept)
	}
	kept["sandbox"] = map[string]any{"kind": "vm"}
	write := func(value any) {
		data, err := json.Marshal(value)
		if err == nil {
			err = os.WriteFile(b.file("run.json"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write(kept)
	b.resume("build-a-to-do-list")
	if got := b.read("run.json"); !strings.Contains(got, `"sandbox"`) || !strings.Contains(got, `"vm"`) {
		t.Errorf("the key of another program is lost:\n%s", got)
	}
	kept["version"] = 2
	for _, broken := range []any{kept, "not a run"} {
		write(broken)
		before := b.read("run.json")
		if _, err := headless.New(b.options).Resume(ctx, "build-a-to-do-list"); !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), "run.json") {
			t.Errorf("%v: %v", broken, err)
		}
		if b.read("run.json") != before {
			t.Errorf("%v was written over", broken)
		}
	}
}

// TestInterrupted: a run that ends while its engine works goes on with the same work, and knows the
// state of the project before it.
func TestInterrupted(t *testing.T) {
	acts := wholeRun()
	interrupted, stop := context.WithCancel(ctx)
	acts["dev"] = []act{{text: report, file: "todo.go", meanwhile: stop}, {text: report}} // nothing is left to change
	b := newBench(t, acts)
	if _, err := headless.New(b.options).Start(interrupted, "Build a to-do list", ""); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if s := b.session(); s.CurrentStage != "dev" || s.Record("dev").Iteration != 0 {
		t.Fatalf("at %s", s.CurrentStage)
	}
	out := b.resume("build-a-to-do-list")
	b.at(out, headless.Done, "qa/completed")
	if out.Cost.Spent != cost(7) {
		t.Errorf("cost %s; want %s, with the call that was cut off", out.Cost.Spent, cost(7))
	}
	if rec := b.session().Record("dev"); rec.Iteration != 1 {
		t.Errorf("dev has %d rounds", rec.Iteration)
	}
	for _, want := range []string{`"type":"stopped"`, `"why":"interrupted"`, `"activity":"uses_tool"`, `"type":"completed"`} {
		if !strings.Contains(b.read("events.jsonl"), want) {
			t.Errorf("events.jsonl has no %s", want)
		}
	}
}

// TestInterruptedAtTheBeginning: a run that is given up before it has looked at its session ends.
func TestInterruptedAtTheBeginning(t *testing.T) {
	interrupted, stop := context.WithCancel(ctx)
	b := newBench(t, wholeRun())
	b.options.Tell = func(e headless.Event) {
		if e.Type == headless.RunStarted {
			stop()
		}
	}
	if _, err := headless.New(b.options).Start(interrupted, "Build a to-do list", ""); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	b.options.Tell = nil
	b.at(b.resume("build-a-to-do-list"), headless.Done, "qa/completed")
}

// TestOthersSubmitMeanwhile: an answer for a point that has passed is not submitted.
func TestOthersSubmitMeanwhile(t *testing.T) {
	b := newBench(t, map[string][]act{"po": {{text: scoredDocument(95)}}})
	b.worker.acts["po"][0].meanwhile = func() {
		b.do(submitRequest("po", scoredDocument(96)))
	}
	_, err := headless.New(b.options).Start(ctx, "Build a to-do list", "")
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v; want a conflict", err)
	}
	if rec := b.session().Record("po"); rec.Iteration != 1 || *rec.Score != 96 {
		t.Errorf("%d rounds, score %g", rec.Iteration, *rec.Score)
	}
	b.options.Gates = headless.Stop
	b.at(b.resume("build-a-to-do-list"), headless.Person, "po/awaiting_confirmation")
}

// repository plays git.
type repository struct{ trees []*headless.Tree }

func (r *repository) Look(context.Context, string) (*headless.Tree, error) {
	tree := r.trees[0]
	if len(r.trees) > 1 {
		r.trees = r.trees[1:]
	}
	return tree, nil
}

// TestDirtyTree: the work of an engine has to be told from that of people.
func TestDirtyTree(t *testing.T) {
	clean, own := &headless.Tree{Head: "abc"}, &headless.Tree{Head: "abc", Changed: []string{"?? .bmad-task/x.json", " M .claude/specs/y/01.md"}}
	notes := &headless.Tree{Head: "abc", Changed: []string{" M _bmad/_memory/structured/decisions.jsonl", "?? events.jsonl"}}
	beside := &headless.Tree{Head: "abc", Changed: []string{"?? events.jsonl.txt"}}
	dirty := &headless.Tree{Head: "abc", Changed: []string{"?? .bmad-task/x.json", " M main.go"}}
	for name, tt := range map[string]struct {
		trees   []*headless.Tree
		allow   bool
		stages  string
		refused string
	}{
		"clean":                 {trees: []*headless.Tree{clean}},
		"its own files":         {trees: []*headless.Tree{own}},
		"its notes and events":  {trees: []*headless.Tree{notes}},
		"a file beside them":    {trees: []*headless.Tree{beside}, refused: "such as events.jsonl.txt"},
		"dirty":                 {trees: []*headless.Tree{dirty}, refused: "such as main.go"},
		"dirty, allowed":        {trees: []*headless.Tree{dirty}, allow: true},
		"dirty, nothing built":  {trees: []*headless.Tree{dirty}, stages: "po..sm"},
		"no git":                {trees: []*headless.Tree{nil}, refused: "not in a git repository"},
		"no git, allowed":       {trees: []*headless.Tree{nil}, allow: true},
		"dirty before the work": {trees: []*headless.Tree{clean, dirty}, refused: "such as main.go"},
	} {
		b := newBench(t, wholeRun())
		b.options.Look, b.options.Flags = (&repository{tt.trees}).Look, headless.Flags{Dirty: tt.allow, Stages: tt.stages}
		b.options.Own = []string{"_bmad/_memory/structured/", "events.jsonl"}
		out, err := headless.New(b.options).Start(ctx, "Build a to-do list", "")
		switch {
		case tt.refused == "" && (err != nil || out.Reason != headless.Done):
			t.Errorf("%s: %+v, %v", name, out, err)
		case tt.refused != "" && (!fault.Is(err, fault.NotAllowed) || !strings.Contains(err.Error(), tt.refused)):
			t.Errorf("%s: %v; want %s", name, err, tt.refused)
		case tt.refused != "" && strings.Contains(b.worker.stages(), "dev"):
			t.Errorf("%s: the engine has built all the same", name)
		case tt.refused == "" && tt.stages == "" && tt.trees[0] != nil && (out.Before == nil || out.Before.Head != "abc" || out.After == nil):
			t.Errorf("%s: the tree was not recorded: %+v, %+v", name, out.Before, out.After)
		}
	}
}

// TestUnreadableRepository: a repository that cannot be read is done without, if the person says so.
func TestUnreadableRepository(t *testing.T) {
	b := newBench(t, wholeRun())
	b.options.Look = func(context.Context, string) (*headless.Tree, error) {
		return nil, fault.New(fault.NotAllowed, "the git repository cannot be used")
	}
	b.at(b.start("Build a to-do list"), headless.Done, "qa/completed")
	b.options.Flags.Dirty = false
	if _, err := headless.New(b.options).Start(ctx, "Build another", ""); !fault.Is(err, fault.NotAllowed) {
		t.Errorf("not allowed: %v", err)
	}
}

// TestHiddenChanges: work in a hidden folder is work, as the repository shows. Without one, the server asks whether
// that is all.
func TestHiddenChanges(t *testing.T) {
	acts := wholeRun()
	const hidden = ".lists/first.txt"
	acts["dev"] = []act{{text: strings.Replace(report, "todo.go", hidden, 1)}}
	b := newBench(t, acts)
	before := &headless.Tree{Head: "abc"}
	git := &repository{[]*headless.Tree{before}}
	acts["dev"][0].meanwhile = func() {
		git.trees = []*headless.Tree{{Head: "abc", Changed: []string{"?? " + hidden}}}
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(b.dir, hidden)), 0o700), os.WriteFile(filepath.Join(b.dir, hidden), nil, 0o600)); err != nil {
			t.Error(err)
		}
	}
	b.options.Look, b.options.Flags.Dirty = git.Look, false
	out := b.start("Build a to-do list")
	b.at(out, headless.Person, "review/awaiting_approval")
	if len(out.After.Changed) != 1 || len(out.Before.Changed) != 0 {
		t.Errorf("before %v, after %v", out.Before, out.After)
	}
}

// TestRepositoryMoves checks that a run tells what became of branches and commits while an engine worked, and at the end.
func TestRepositoryMoves(t *testing.T) {
	before := headless.Tree{Head: "1111111111111111111111111111111111111111", Branch: "main", Refs: "r"}
	for name, c := range map[string]struct {
		change func(*headless.Tree)
		told   string
	}{
		"nothing":          {func(*headless.Tree) {}, ""},
		"files":            {func(t *headless.Tree) { t.Changed = []string{"?? todo.go"} }, ""},
		"a commit":         {func(t *headless.Tree) { t.Head = "2222222222222222222222222222222222222222" }, "git was on main at commit 111111111, and is on main at commit 222222222"},
		"a reset to none":  {func(t *headless.Tree) { t.Head = "" }, "git was on main at commit 111111111, and is on main at commit (none)"},
		"another branch":   {func(t *headless.Tree) { t.Branch = "other" }, "is on other at commit 111111111"},
		"no branch":        {func(t *headless.Tree) { t.Branch = "" }, "is on (no branch) at commit 111111111"},
		"a tag or a stash": {func(t *headless.Tree) { t.Refs = "s" }, "branches, tags or the stash of git were changed"},
	} {
		acts := wholeRun()
		b := newBench(t, acts)
		at := &repository{[]*headless.Tree{&before}}
		acts["dev"][0].meanwhile = func() {
			after := before
			c.change(&after)
			at.trees = []*headless.Tree{&after}
		}
		b.options.Look, b.options.Flags.Dirty = at.Look, false
		out := b.start("Build a to-do list")
		b.at(out, headless.Done, "qa/completed")
		notice := ""
		for _, e := range b.events {
			if e.Type == headless.Noticed {
				notice += e.Why
			}
		}
		if !strings.Contains(out.Moved, c.told) || !strings.Contains(notice, c.told) || (out.Moved == "") != (c.told == "") || (notice == "") != (c.told == "") {
			t.Errorf("%s: told %q, and at the end %q", name, notice, out.Moved)
		}
	}
}

// TestRawOutputIsBounded keeps the output of an engine up to a limit.
func TestRawOutputIsBounded(t *testing.T) {
	b := newBench(t, nil)
	b.options.Workers, b.options.Gates = []headless.Worker{talker{}}, headless.Stop
	b.at(b.start("Build a to-do list"), headless.Person, "po/awaiting_confirmation")
	info, err := os.Stat(b.file("engine-po-1.jsonl"))
	if err != nil || info.Size() != 64<<20 {
		t.Errorf("%v, %v", info, err)
	}
}

// talker prints a lot before its answer.
type talker struct{}

func (talker) Name() string { return "claude" }

func (talker) Work(_ context.Context, job hostcli.Job) (*hostcli.Outcome, error) {
	line := []byte(strings.Repeat("x", 1<<20-1) + "\n")
	for range 65 {
		if n, err := job.Raw.Write(line); n != len(line) || err != nil {
			return nil, err
		}
	}
	return &hostcli.Outcome{Text: scoredDocument(95)}, nil
}

func TestNotFound(t *testing.T) {
	b := newBench(t, nil)
	if _, err := headless.New(b.options).Resume(ctx, "nothing"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	b.options.Flags.Workflow = "nothing"
	if _, err := headless.New(b.options).Start(ctx, "Build it", ""); !fault.Is(err, fault.InvalidArgument) && !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	b.options.Flags.Workflow, b.options.Workers = "", nil
	if _, err := headless.New(b.options).Start(ctx, "Build it", ""); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "no worker") {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(b.dir); err != nil || len(entries) != 1 {
		t.Errorf("refused runs have left %v, %v", entries, err)
	}
}

// TestChinese: a run for an objective in Chinese speaks Chinese.
func TestChinese(t *testing.T) {
	b := newBench(t, map[string][]act{"po": {{text: "side"}, {text: asking}}})
	b.options.Gates = headless.Stop
	out := b.start("做一个终端待办清单")
	b.at(out, headless.Person, "po/clarifying")
	if out.Why != "产品负责人有问题要问你" {
		t.Error(out.Why)
	}
	for _, e := range b.events {
		if e.Type == headless.Retry && !strings.Contains(e.Why, "不是该阶段的文档") || e.Type == headless.StageStarted && e.Why != "工作流为该阶段指定了它" {
			t.Errorf("%s: %s", e.Type, e.Why)
		}
	}
}
