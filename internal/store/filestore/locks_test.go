package filestore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// brief opens a store that waits a moment for a lock, and no longer.
func brief(t *testing.T, path string) *filestore.Store {
	t.Helper()
	dir, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	dir.LockTimeout = 300 * time.Millisecond
	return storetest.Files(dir)
}

// TestLocksAreReleased checks that no act keeps a lock, however it ends: the next one would wait for nothing.
func TestLocksAreReleased(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	s := brief(t, path)
	session := start(t, s, "clock")
	nothing := func(store.Tx, *workflow.Session) error { return nil }
	refused := errors.New("refused")
	another := func() *workflow.Session {
		return workflow.Default().NewSession(uuid.NewString(), "x", "/p", "test", time.Unix(1, 0))
	}
	away := func(do func() error) error { // while the runs are in another store
		moved := filepath.Join(path, filepath.FromSlash(store.MovedFile))
		if err := os.WriteFile(moved, []byte("postgres://x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return errors.Join(do(), os.Remove(moved))
	}
	for _, tt := range []struct {
		name string
		do   func() error
		want bool // that it succeeds
	}{
		{"a change", func() error { _, err := s.Update(ctx, session.SessionID, nothing); return err }, true},
		{"a change that is refused", func() error {
			_, err := s.Update(ctx, session.SessionID, func(store.Tx, *workflow.Session) error { return refused })
			return err
		}, false},
		{"a change with a text that is refused", func() error {
			_, err := s.Update(ctx, session.SessionID, func(tx store.Tx, _ *workflow.Session) error {
				_, err := tx.Put(ctx, []store.Text{{Stage: "po", Kind: "k", Body: "x"}})
				return errors.Join(err, refused)
			})
			return err
		}, false},
		{"a change of none", func() error { _, err := s.Update(ctx, "22222222-2222-4333-8444-555555555555", nothing); return err }, false},
		{"a cancelled change", func() error {
			cancelled, cancel := context.WithCancel(ctx)
			cancel()
			_, err := s.Update(cancelled, session.SessionID, nothing)
			return err
		}, false},
		{"a second start", func() error { return s.Create(ctx, session, storetest.Numbered("clock")) }, false},
		{"a change of sessions that were moved", func() error {
			return away(func() error { _, err := s.Update(ctx, session.SessionID, nothing); return err })
		}, false},
		{"a start where they were moved", func() error {
			return away(func() error { return s.Create(ctx, another(), storetest.Numbered("x")) })
		}, false},
		{"to leave", func() error {
			undo, err := s.Leave(ctx, "postgres://x")
			return errors.Join(err, undo())
		}, true},
	} {
		if err := tt.do(); (err == nil) != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
		if _, err := s.Update(ctx, session.SessionID, nothing); err != nil {
			t.Fatalf("after %s the run cannot be changed: %v", tt.name, err)
		}
		if err := s.Create(ctx, another(), storetest.Numbered("x")); err != nil {
			t.Fatalf("after %s none can be started: %v", tt.name, err)
		}
	}
}

// TestChangesExclude checks that a session is read and stored under one lock: who comes meanwhile waits, and is told so.
func TestChangesExclude(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	s := brief(t, path)
	session := start(t, s, "clock")
	for name, other := range map[string]*filestore.Store{"the same store": s, "another": brief(t, path)} {
		changed, err := s.Update(ctx, session.SessionID, func(_ store.Tx, now *workflow.Session) error {
			_, err := other.Update(ctx, session.SessionID, func(store.Tx, *workflow.Session) error { return nil })
			if !fault.Is(err, fault.Conflict) {
				t.Errorf("%s has changed it meanwhile: %v", name, err)
			}
			now.Objective += "."
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		read, err := other.Get(ctx, session.SessionID)
		if err != nil || read.Objective != changed.Objective || read.Revision != changed.Revision {
			t.Errorf("%s reads %q at revision %d, want %q at %d (%v)", name, read.Objective, read.Revision, changed.Objective, changed.Revision, err)
		}
	}
}
