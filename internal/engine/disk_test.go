package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// everyAction returns a call of each action that an active run can get.
func everyAction() []request.Request {
	return []request.Request{
		start("another thing"), submit(workflow.PO, "# P\nQuality Score: 95/100"), confirm(true), approve(true, ""),
		{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "a"}}},
		{Action: workflow.ActionStatus}, {Action: workflow.ActionResume}, {Action: workflow.ActionReopen, Stage: "po"}, {Action: workflow.ActionCancel},
	}
}

// TestStateFolderReplaced puts a file, and a link out of the project, in place of
// the state folder in the middle of a run.
func TestStateFolderReplaced(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"is a file":          func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) },
		"is a symbolic link": func(path string) error { return os.Symlink(t.TempDir(), path) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.to(workflow.PO, workflow.AwaitingConfirmation)
			folder := filepath.Join(b.dir, ".bmad-task")
			if err := os.Rename(folder, folder+".aside"); err != nil {
				t.Fatal(err)
			}
			if err := replace(folder); err != nil {
				t.Skip(err)
			}
			for _, req := range everyAction() {
				for _, places := range [][]string{nil, {b.dir}} {
					req.Places = places
					if _, err := b.try(req); !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), name) || fault.From(err).Hint == "" {
						t.Errorf("%s: %v", req.Action, err)
					}
				}
			}
			if err := errors.Join(os.Remove(folder), os.Rename(folder+".aside", folder)); err != nil {
				t.Fatal(err)
			}
			b.at("architect/generating", confirm(true))
			b.rest()
		})
	}
}

// TestClockThatGoesBack sets the clock back by a day before every action.
func TestClockThatGoesBack(t *testing.T) {
	b := newBench(t)
	back := func() { b.clock = b.clock.Add(-24 * time.Hour) }
	b.to(workflow.PO, workflow.Clarifying)
	back()
	b.at("po/refining", request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "a"}}})
	back()
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# P\nQuality Score: 95/100"))
	back()
	b.at("architect/generating", confirm(true))
	for range 3 { // the same instant again and again
		at := b.clock
		b.at("architect/refining", submit(workflow.Architect, "# A\nQuality Score: 50/100"))
		b.clock = at
	}
	back()
	b.rest()
	checkStored(t, b)
	seen := map[string]bool{}
	for _, e := range b.stored().History {
		if e.Action == workflow.ActionSubmit && seen[e.Path] {
			t.Errorf("two submissions are at %s", e.Path)
		}
		seen[e.Path] = seen[e.Path] || e.Action == workflow.ActionSubmit
	}
	for _, step := range b.stored().Steps(workflow.Verification{}) {
		if step.Waited != nil && *step.Waited < 0 {
			t.Errorf("%s waited %v", step.Event, *step.Waited)
		}
	}
}

// TestHeldLockGivesWay has another process hold the run: the call ends after a
// time, and names the process.
func TestHeldLockGivesWay(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	b.patience = 100 * time.Millisecond
	dir, err := durable.OpenDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	lock, err := dir.Lock(ctx, ".bmad-task/locks/"+b.session+".lock")
	if err != nil {
		t.Fatal(err)
	}
	before := b.snapshot()
	_, err = b.try(confirm(true))
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), fmt.Sprintf("held by process %d since", os.Getpid())) || b.snapshot() != before {
		t.Errorf("got %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	b.at("architect/generating", confirm(true))
}

// sound checks the files of the bench's project: every JSON parses, nothing is left
// of a write.
func (b *bench) sound() {
	b.t.Helper()
	err := filepath.WalkDir(b.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, temp := durable.IsTemp(d.Name()); temp {
			b.t.Errorf("left behind: %s", name)
		}
		if data, err := os.ReadFile(name); strings.HasSuffix(name, ".json") && (err != nil || !json.Valid(data)) {
			b.t.Errorf("%s is no JSON: %v", name, err)
		}
		return nil
	})
	if err != nil {
		b.t.Error(err)
	}
}
