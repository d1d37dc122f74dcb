package durable_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

func open(t *testing.T) (*durable.Dir, string) {
	t.Helper()
	path := t.TempDir()
	d, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, path
}

func names(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestReplaceLeavesOnlyTheFile(t *testing.T) {
	d, path := open(t)
	for _, text := range []string{"one", "two"} {
		if err := d.Replace("f.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, _ := d.ReadFile("f.json", durable.MaxText); string(b) != text {
			t.Errorf("read %q", b)
		}
	}
	if got := names(t, path); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

func TestReplaceThatFailsLeavesTheOldAndNoTemp(t *testing.T) {
	d, path := open(t)
	if err := os.MkdirAll(filepath.Join(path, "f.json", "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Replace("f.json", []byte("x")); err == nil {
		t.Fatal("a folder was replaced by a file")
	}
	if got := names(t, path); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

func TestCreateIsExclusive(t *testing.T) {
	d, _ := open(t)
	if err := d.CreateUnsynced("n", []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := d.CreateUnsynced("n", []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("got %v", err)
	}
	if b, _ := d.ReadFile("n", durable.MaxText); string(b) != "first" {
		t.Errorf("read %q", b)
	}
}

func TestNothingLeadsOut(t *testing.T) {
	d, path := open(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(path, "link")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"../x", "link/x", "/etc/x"} {
		if err := d.Replace(name, []byte("x")); err == nil {
			t.Errorf("%s was written", name)
		}
		if err := d.CreateUnsynced(name, []byte("x")); err == nil {
			t.Errorf("%s was created", name)
		}
		if _, err := d.Lock(context.Background(), name); err == nil {
			t.Errorf("%s was locked", name)
		}
	}
	if _, err := d.MkdirAll("link/sub/x"); err == nil {
		t.Error("a folder was made outside")
	}
	if got := names(t, outside); len(got) != 0 {
		t.Errorf("outside holds %v", got)
	}
}

func TestMkdirAllOverAFile(t *testing.T) {
	d, _ := open(t)
	if err := d.CreateUnsynced("f", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.MkdirAll("f"); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("got %v", err)
	}
	if _, err := d.MkdirAll("a/b/c"); err != nil {
		t.Error(err)
	}
	if _, err := d.MkdirAll("a/b/c"); err != nil {
		t.Error(err)
	}
}

func TestLockExcludesWithinTheProcess(t *testing.T) {
	d, _ := open(t)
	var wg sync.WaitGroup
	inside, most := 0, 0
	for range 20 {
		wg.Go(func() {
			l, err := d.Lock(context.Background(), "l")
			if err != nil {
				t.Error(err)
				return
			}
			inside++
			most = max(most, inside)
			inside--
			if err := l.Unlock(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most != 1 {
		t.Errorf("%d were inside at once", most)
	}
}

func TestLockEndsWithTheContextAndNamesTheHolder(t *testing.T) {
	d, _ := open(t)
	l, err := d.Lock(context.Background(), "l")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = d.Lock(ctx, "l")
	var busy *durable.BusyError
	if !errors.As(err, &busy) || !strings.Contains(busy.Error(), "process ") {
		t.Errorf("got %v", err)
	}
	cancelled, cancel2 := context.WithCancel(context.Background())
	cancel2()
	if _, err := d.Lock(cancelled, "l"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := d.Lock(context.Background(), "l")
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Unlock()
}

// TestLockOfADeadProcessIsFree has a child take the lock, kills it, and takes the lock.
func TestLockOfADeadProcessIsFree(t *testing.T) {
	if path := os.Getenv("DURABLE_TEST_HOLD"); path != "" {
		d, err := durable.OpenDir(path)
		if err != nil {
			t.Fatal(err)
		}
		held, err := d.Lock(context.Background(), "l")
		if err != nil {
			t.Fatal(err)
		}
		if err := d.CreateUnsynced("held", nil); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, os.Stdin) // until killed
		runtime.KeepAlive(held)              // or the collector closes its file, which unlocks it
		return
	}
	d, path := open(t)
	child := exec.Command(os.Args[0], "-test.run", t.Name())
	child.Env = append(os.Environ(), "DURABLE_TEST_HOLD="+path)
	if _, err := child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for !d.Exists("held") {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if l, err := d.Lock(ctx, "l"); err == nil {
		t.Error("two processes hold the lock")
		_ = l.Unlock()
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	l, err := d.Lock(context.Background(), "l")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Unlock()
}
