package filestore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// waits counts how often the disk is waited for, with each lock held and with none. Syncs that
// are done together count once.
type waits struct {
	durable.FS
	held string
	// together is true while several syncs are done.
	together bool
	times    map[string]int
}

func (w *waits) wait() {
	if !w.together {
		w.times[w.held]++
	}
}

func (w *waits) Together(steps []func() error) error {
	w.wait()
	w.together = true
	defer func() { w.together = false }()
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (w *waits) SyncDir(name string) error {
	w.wait()
	return w.FS.SyncDir(name)
}

func (w *waits) Create(name string) (durable.File, error) {
	f, err := w.FS.Create(name)
	return waitedFor{f, w}, err
}

func (w *waits) TryLock(name, holder string) (func() error, bool, error) {
	unlock, ok, err := w.FS.TryLock(name, holder)
	if !ok {
		return unlock, ok, err
	}
	before := w.held
	w.held = name
	return func() error {
		w.held = before
		return unlock()
	}, ok, err
}

type waitedFor struct {
	durable.File
	by *waits
}

func (f waitedFor) Sync() error {
	f.by.wait()
	return f.File.Sync()
}

// TestWaitsForTheDisk: a start holds the lock of the project for two waits of its three, and a
// change waits twice for any number of texts.
func TestWaitsForTheDisk(t *testing.T) {
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	w := &waits{FS: dir.FS}
	dir.FS = w
	s := storetest.Files(dir)
	names := store.Names{Candidate: func(n int) string { return fmt.Sprint("task-", n) }}
	id := ""
	for n := range 2 { // the first makes folders
		w.times = map[string]int{}
		id = fmt.Sprintf("0000000%d-1111-4222-8333-444444444444", n)
		if err := s.Create(context.Background(), workflow.Default().NewSession(id, "build", "/p", "me", time.Unix(1_800_000_000, 0)), names); err != nil {
			t.Fatal(err)
		}
	}
	if w.times[filestore.ProjectLock] != 2 || w.times[""] != 1 {
		t.Errorf("a start waits %v", w.times)
	}
	for n, texts := range []int{1, 3} { // the first makes the folder of the texts
		w.times = map[string]int{}
		_, err := s.Update(context.Background(), id, func(tx store.Tx, _ *workflow.Session) error {
			list := make([]store.Text, texts)
			for i := range list {
				list[i] = store.Text{Stage: workflow.PO, Kind: "final_result", Body: "# P", At: time.Unix(1_800_000_000, 0)}
			}
			_, err := tx.Put(context.Background(), list)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := w.times[filestore.SessionLock(id)]; n > 0 && got != 2 {
			t.Errorf("a change with %d texts waits %v", texts, w.times)
		}
	}
}
