package headless_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

const crashID = "11111111-2222-4333-8444-555555555555"

// author is a worker that writes one text, however often it is asked.
type author struct{ calls int }

func (w *author) Name() string { return "claude" }

func (w *author) Work(context.Context, hostcli.Job) (*hostcli.Outcome, error) {
	w.calls++
	return &hostcli.Outcome{Text: scoredDocument(95), Session: "s", Usage: map[string]provider.Usage{model: {Input: 100, Output: 10}}}, nil
}

// onDisk returns an engine and a runner for a project on a simulated disk, with the rights that are
// kept on another.
func onDisk(t testing.TB, disk *durabletest.Disk, kept vault) (*engine.Engine, *author, *headless.Runner) {
	path, err := filepath.Abs(filepath.Join(string(filepath.Separator), "simulated", "run"))
	if err != nil {
		t.Fatal(err)
	}
	w := &author{}
	e := engine.New(engine.Options{
		Projects: project.New(project.Options{
			OpenDir: func(name string) (*durable.Dir, error) {
				if name != path {
					return nil, fs.ErrNotExist
				}
				return disk.Dir(path), nil
			},
			Backend: storetest.At, Settings: config.Source{Environ: []string{"BMAD_AUDIT_FLOOR=0"}},
		}),
		Now: func() time.Time { return time.Unix(1_800_000_000, 0) }, NewID: func() string { return crashID }, Names: engine.Names{Program: "bmad-mcp"},
	})
	return e, w, headless.New(headless.Options{
		Engine: e, Workers: []headless.Worker{w}, Folder: path, By: "test", Gates: headless.Yes,
		Flags: headless.Flags{Stages: "po", Dirty: true}, Rights: func(string) sdk.Rights { return kept },
	})
}

// TestEveryCut cuts a run of one round and a decision at each of its writes, in every way: the run
// then goes on to the same end, submits the round once, and asks the engine at most once more than
// without the cut.
func TestEveryCut(t *testing.T) {
	if testing.Short() {
		t.Skip("goes through every write of a run")
	}
	disk := durabletest.New()
	kept := vault{}
	e, w, r := onDisk(t, disk, kept)
	if _, err := e.Do(ctx, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "Build a list"}, Address: project.Address{Cwd: folder(t)}}); err != nil {
		t.Fatal(err)
	}
	var calls int
	steps, outcomes := durabletest.Sample(t, disk, func(d *durabletest.Disk) error {
		kept = vault{}
		e, w, r = onDisk(t, d, kept)
		out, err := r.Resume(ctx, crashID)
		calls = w.calls
		if err == nil && out.Reason != headless.Done {
			t.Fatalf("the run ended with %s: %s", out.Reason, out.Why)
		}
		return err
	}, func(o durabletest.Outcome) {
		e, w, r = onDisk(t, o.Disk, kept)
		at := project.Address{Cwd: folder(t), Session: crashID}
		out, err := r.Resume(ctx, crashID)
		if err != nil || out.Reason != headless.Done {
			t.Fatalf("%v: the run does not go on: %+v, %v", o, out, err)
		}
		s, _, err := e.Session(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		submitted := 0
		for _, h := range s.History {
			if h.Action == workflow.ActionSubmit {
				submitted++
			}
		}
		if rec := s.Record("po"); rec.Iteration != 1 || submitted != 1 || !rec.Approved || s.CurrentStage != "architect" {
			t.Errorf("%v: %d rounds, %d submissions, at %s", o, rec.Iteration, submitted, s.CurrentStage)
		}
		if all := calls + w.calls; all < 1 || all > 2 {
			t.Errorf("%v: the engine was called %d times before and %d times after", o, calls, w.calls)
		}
		if o.Acknowledged && w.calls > 0 {
			t.Errorf("%v: a run that had ended was repeated", o)
		}
		sound(t, o)
	})
	if len(steps) < 50 || outcomes < 100 {
		t.Errorf("%d steps, %d outcomes", len(steps), outcomes)
	}
	t.Logf("%d steps, %d outcomes", len(steps), outcomes)
}

func folder(t testing.TB) string {
	path, err := filepath.Abs(filepath.Join(string(filepath.Separator), "simulated", "run"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// sound checks the files of the run: the state is JSON, and each event is, but for a line that a cut has
// torn, or several that did not fit onto the disk.
func sound(t *testing.T, o durabletest.Outcome) {
	t.Helper()
	dir := o.Disk.Dir(folder(t))
	data, err := dir.ReadFile(store.RunFolder(crashID)+"/run.json", durable.MaxText)
	if err != nil || !json.Valid(data) {
		t.Errorf("%v: run.json: %v\n%s", o, err, data)
	}
	events, err := dir.ReadFile(store.RunFolder(crashID)+"/events.jsonl", durable.MaxText)
	if err != nil || !strings.Contains(string(events), `"type":"completed"`) {
		t.Errorf("%v: events.jsonl: %v\n%s", o, err, events)
	}
	torn := 0
	for line := range strings.Lines(string(events)) {
		if !json.Valid([]byte(line)) {
			torn++
		}
	}
	if torn > 1 && o.Fault.Kind != durabletest.Full {
		t.Errorf("%v: %d events cannot be read", o, torn)
	}
}
