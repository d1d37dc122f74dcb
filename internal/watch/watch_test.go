package watch_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/watch"
)

// waiting bounds the time that a test waits for a report.
const waiting = 20 * time.Second

func watcher(t *testing.T) (*watch.Watcher, chan struct{}) {
	t.Helper()
	changed := make(chan struct{}, 100)
	w, err := watch.New(func(bool) { changed <- struct{}{} }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w, changed
}

func write(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(time.Now().String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, changed chan struct{}, what string) {
	t.Helper()
	select {
	case <-changed:
	case <-time.After(waiting):
		t.Fatalf("%s was not told", what)
	}
	for { // the rest of it
		select {
		case <-changed:
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	cwd := t.TempDir()
	w, changed := watcher(t)
	w.Project(cwd)

	// First a change that does not matter: if it were reported, it would be reported before the rest.
	write(t, filepath.Join(cwd, "main.go"))
	select {
	case <-changed:
		t.Fatal("a source file was told")
	case <-time.After(500 * time.Millisecond):
	}
	session := filepath.Join(cwd, ".bmad-task", "session-1.json")
	write(t, session)
	expect(t, changed, "the first session")

	write(t, filepath.Join(cwd, ".bmad-task", ".session-1.json.tmp-0011223344556677"))
	write(t, filepath.Join(cwd, ".bmad-task", "task-mapping.json"))
	write(t, filepath.Join(cwd, "main.go"))
	select {
	case <-changed:
		t.Fatal("something under way was told")
	case <-time.After(500 * time.Millisecond):
	}
	write(t, session)
	expect(t, changed, "a changed session")

	if err := os.RemoveAll(filepath.Join(cwd, ".bmad-task")); err != nil {
		t.Fatal(err)
	}
	expect(t, changed, "the removal")
	write(t, session)
	expect(t, changed, "a session after the removal")
}

func TestFolder(t *testing.T) {
	t.Parallel()
	w, changed := watcher(t)
	dir := t.TempDir()
	w.Folder(filepath.Join(dir, "not-there"))
	w.Folder(dir)
	w.Folder(dir)
	write(t, filepath.Join(dir, "checkpoints.lock"))
	select {
	case <-changed:
		t.Fatal("a lock was told")
	case <-time.After(500 * time.Millisecond):
	}
	write(t, filepath.Join(dir, "01-product-requirements.md"))
	expect(t, changed, "an edited file")
}
