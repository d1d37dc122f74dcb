package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// TestReplaceAfter checks that a file takes its name once the files that it refers to are durable, and not at all if
// one is not.
func TestReplaceAfter(t *testing.T) {
	for name, tt := range map[string]struct {
		fails bool
		want  string
	}{"durable": {false, "new"}, "not durable": {true, "old"}} {
		d, path := open(t)
		if err := d.Replace("f.json", []byte("old")); err != nil {
			t.Fatal(err)
		}
		var synced atomic.Int32 // texts are synced at once
		sync := func() error {
			synced.Add(1)
			if b, _ := d.ReadFile("f.json", durable.MaxText); string(b) != "old" {
				t.Errorf("%s: it has %q before its texts are durable", name, b)
			}
			if tt.fails {
				return os.ErrInvalid
			}
			return nil
		}
		err := d.ReplaceAfter([]func() error{sync, sync}, "f.json", []byte("new"))
		b, _ := d.ReadFile("f.json", durable.MaxText)
		if string(b) != tt.want || errors.Is(err, os.ErrInvalid) != tt.fails || synced.Load() == 0 || !tt.fails && synced.Load() != 2 {
			t.Errorf("%s: got %q (%v) after %d syncs, want %q", name, b, err, synced.Load(), tt.want)
		}
		if got := names(t, path); len(got) != 1 {
			t.Errorf("%s: left behind: %v", name, got)
		}
	}
}

// TestUnlockFrees checks that a lock can be taken again, by this process and, as far as the file shows, by another.
func TestUnlockFrees(t *testing.T) {
	d, path := open(t)
	d.LockTimeout = 300 * time.Millisecond
	for _, what := range []string{"the first time", "once it was released", "once it was refused"} {
		lock, err := d.Lock(t.Context(), "a.lock")
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		var busy *durable.BusyError
		if _, err := d.Lock(t.Context(), "a.lock"); !errors.As(err, &busy) || busy.Name != "a.lock" || busy.Holder == "" {
			t.Errorf("%s: taken twice: %v", what, err)
		}
		if err := lock.Unlock(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if b, err := os.ReadFile(filepath.Join(path, "a.lock")); err != nil || len(b) != 0 {
			t.Errorf("%s: the file of a free lock has %q (%v)", what, b, err)
		}
	}
}

// TestTextLimit checks the limit for a text whose recorded size can be anything: a file of the project says it.
func TestTextLimit(t *testing.T) {
	for recorded, want := range map[int64]int64{-1: 64 << 20, 0: 64 << 20, 64 << 20: 64 << 20, 64<<20 + 1: 64<<20 + 1, 1 << 30: 1 << 30, 1<<30 + 1: 1 << 30, 1 << 62: 1 << 30} {
		if got := durable.TextLimit(recorded); got != want {
			t.Errorf("recorded %d: got %d, want %d", recorded, got, want)
		}
	}
}
