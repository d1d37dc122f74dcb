package feed_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestAwait returns for each reason that there is, and for no other, on a file system that
// reports nothing.
func TestAwait(t *testing.T) {
	for name, tt := range map[string]struct {
		after time.Duration // from the beginning to the reason to return
		end   func(state *atomic.Value, cancel func(), close func())
		want  time.Duration
	}{
		"the state has changed before": {0, func(state *atomic.Value, _, _ func()) { state.Store("2") }, 0},
		"the state changes":            {5 * time.Second, func(state *atomic.Value, _, _ func()) { state.Store("2") }, 6 * time.Second},
		"the call is cancelled":        {5 * time.Second, func(_ *atomic.Value, cancel, _ func()) { cancel() }, 5 * time.Second},
		"the feed is closed":           {5 * time.Second, func(_ *atomic.Value, _, shut func()) { shut() }, 5 * time.Second},
		"the time is over":             {time.Hour, func(*atomic.Value, func(), func()) {}, 50 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFeed()
				defer f.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
				defer cancel()
				var state atomic.Value
				state.Store("1")
				if tt.after == 0 {
					tt.end(&state, cancel, f.Close)
				} else {
					timer := time.AfterFunc(tt.after, func() { tt.end(&state, cancel, f.Close) })
					defer timer.Stop()
				}
				began := time.Now()
				f.Await(ctx, "", "1", func(context.Context) string { return state.Load().(string) })
				if got := time.Since(began); got != tt.want {
					t.Errorf("it waited %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// TestAwaitIsTold looks because the system reports a change, not because time has passed.
func TestAwaitIsTold(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, ".bmad-task")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	f := newFeed()
	defer f.Close()
	var looks atomic.Int64
	changed := make(chan struct{})
	var once atomic.Bool
	f.Await(t.Context(), dir, "1", func(context.Context) string {
		if looks.Add(1) == 1 && once.CompareAndSwap(false, true) {
			// Only the feed's own look, on another goroutine, sees the change that is made here.
			go func() {
				defer close(changed)
				if err := os.WriteFile(filepath.Join(state, "session-1.json"), nil, 0o600); err != nil {
					t.Error(err)
				}
			}()
			return "1"
		}
		return "2"
	})
	<-changed
	if looks.Load() < 2 {
		t.Error("nobody looked")
	}
}
