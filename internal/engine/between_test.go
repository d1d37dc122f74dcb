package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// hooks are a file system that lets a test do something between the steps of an action.
type hooks struct {
	durable.FS
	locking, unlocked func(name string)
	renaming          func(to string) error
}

func (h hooks) TryLock(name, holder string) (func() error, bool, error) {
	if h.locking != nil {
		h.locking(name)
	}
	unlock, ok, err := h.FS.TryLock(name, holder)
	if !ok || err != nil || h.unlocked == nil {
		return unlock, ok, err
	}
	return func() error {
		err := unlock()
		h.unlocked(name)
		return err
	}, true, nil
}

func (h hooks) Rename(from, to string) error {
	if h.renaming != nil {
		if err := h.renaming(to); err != nil {
			return err
		}
	}
	return h.FS.Rename(from, to)
}

// tryWith makes a call as another process, with something done in between.
func (b *bench) tryWith(h hooks, req request.Request) (*reply.Reply, error) {
	b.t.Helper()
	e := engine.New(engine.Options{Now: time.Now, Names: names, Projects: project.New(project.Options{
		OpenDir: func(name string) (*durable.Dir, error) {
			dir, err := durable.OpenDir(name)
			if err != nil {
				return nil, err
			}
			h.FS = dir.FS
			return durable.NewDir(name, h), nil
		},
		Backend: storetest.At, Settings: config.Source{},
	})})
	req.Cwd, req.Session, req.By = b.dir, b.session, "the other"
	out, err := e.Do(ctx, req)
	return out.Reply, err
}

// failCommit fails the rename of the session file, after doing something.
func failCommit(before func()) func(to string) error {
	return func(to string) error {
		if !strings.Contains(to, "/session-") {
			return nil
		}
		before()
		return &os.LinkError{Op: "rename", Old: "temp", New: to, Err: syscall.ENOSPC}
	}
}

const prd = ".claude/specs/build-a-thing/01-product-requirements.md"

// TestFailedActionUndoesItsOwnOnly has a confirm fail at its commit while others are at work.
func TestFailedActionUndoesItsOwnOnly(t *testing.T) {
	t.Run("another call that waited for the lock", func(t *testing.T) {
		b := newBench(t)
		b.to(workflow.PO, workflow.AwaitingConfirmation)
		// The same folder under another path, so that the lock within the process does not matter.
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(b.dir, link); err != nil {
			t.Skip(err)
		}
		done := false
		_, err := b.tryWith(hooks{renaming: failCommit(func() {}), unlocked: func(name string) {
			if !done && strings.Contains(name, b.session) {
				done = true
				req := confirm(true)
				req.Cwd = link
				b.at("architect/generating", req)
			}
		}}, confirm(true))
		if !fault.Is(err, fault.Storage) || !done {
			t.Fatalf("got %v", err)
		}
		checkStored(t, b)
	})
	t.Run("a person who saves the artifact", func(t *testing.T) {
		b := newBench(t)
		b.to(workflow.Architect, workflow.Generating)
		b.do(request.Request{Action: workflow.ActionReopen, Stage: "po"})
		b.do(submit(workflow.PO, `{"prd_updated":"# P new","quality_score":97}`))
		_, err := b.tryWith(hooks{renaming: failCommit(func() { b.write(prd, "# a person's work\n") })}, confirm(true))
		if got := b.artifact("build-a-thing", "01-product-requirements.md"); !fault.Is(err, fault.Storage) || got != "# a person's work\n" {
			t.Errorf("%v, and the file holds %q", err, got)
		}
	})
	t.Run("nobody, on a session of an older server", func(t *testing.T) {
		b := newBench(t)
		b.install("v0", "0b6f9b1e-3d55-4c0e-9a4e-5b8c8f0a7d22", map[string]string{})
		before := b.files()
		if _, err := b.tryWith(hooks{renaming: failCommit(func() {})}, confirm(true)); !fault.Is(err, fault.Storage) || b.files() != before {
			t.Errorf("%v, and the disk changed", err)
		}
	})
	t.Run("nobody", func(t *testing.T) {
		b := newBench(t)
		b.to(workflow.Architect, workflow.Generating)
		b.do(request.Request{Action: workflow.ActionReopen, Stage: "po"})
		b.do(submit(workflow.PO, `{"prd_updated":"# P new","quality_score":97}`))
		b.write(prd, "# edited before\n")
		before := b.snapshot()
		if _, err := b.tryWith(hooks{renaming: failCommit(func() {})}, confirm(true)); !fault.Is(err, fault.Storage) || b.snapshot() != before {
			t.Errorf("%v, and the disk changed", err)
		}
	})
}

// TestDraftEditedWhileTheCallWaits edits the draft after the call was admitted.
func TestDraftEditedWhileTheCallWaits(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	draft := b.draft(workflow.PO)
	_, err := b.tryWith(hooks{locking: func(name string) {
		if strings.Contains(name, b.session) {
			b.write(draft, "# never scored\n")
		}
	}}, confirm(true))
	if !fault.Is(err, fault.Conflict) || b.stored().CurrentState != workflow.AwaitingConfirmation {
		t.Errorf("%v; the run is at %s", err, b.stored().Place())
	}
}

// TestPlainMistakesAreNoConflicts has one caller, who knows where the run stands.
func TestPlainMistakesAreNoConflicts(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	mistake := func(code fault.Code, req request.Request) {
		t.Helper()
		if _, err := b.try(req); !fault.Is(err, code) {
			t.Errorf("%s: %v, want %s", req.Action, err, code)
		}
	}
	again := submit(workflow.PO, "# Again\nQuality Score: 99/100")
	mistake(fault.GatePending, again)
	b.clock = b.clock.Add(-24 * time.Hour) // a clock that was set back
	mistake(fault.GatePending, again)
	mistake(fault.GatePending, approve(true, ""))
	b.at("po/refining", confirm(false))
	mistake(fault.NotAllowed, confirm(true)) // another decision than the one taken

	// Another program, which has learned of the runs from a list.
	other := newBench(t)
	b.at("po/awaiting_confirmation", again)
	b.do(start("another thing"))
	other.dir, other.session = b.dir, "build-a-thing"
	other.clock = b.clock.Add(time.Hour)
	if list := other.do(request.Request{Action: workflow.ActionStatus, Address: project.Address{Places: []string{b.dir}, Session: ""}}); list.SessionID == "" && len(list.Sessions) != 2 {
		t.Fatalf("%+v", list)
	}
	if _, err := other.try(again); !fault.Is(err, fault.GatePending) {
		t.Errorf("after a list: %v", err)
	}
}
