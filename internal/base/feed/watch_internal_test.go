package feed

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// waiting bounds the time that a test waits for a report.
const waiting = 20 * time.Second

// ofRuns are the places of runs in the projects of these tests.
var ofRuns = Folders{Sessions: ".bmad-task", Documents: ".claude/specs"}

func watch(t *testing.T) (*watcher, chan struct{}) {
	t.Helper()
	changed := make(chan struct{}, 100)
	w, err := newWatcher(func(bool) { changed <- struct{}{} }, slog.New(slog.DiscardHandler), ofRuns, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.close() })
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
	w, changed := watch(t)
	w.watchProject(cwd)

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
	w, changed := watch(t)
	dir := t.TempDir()
	w.watchFolder(filepath.Join(dir, "not-there"))
	w.watchFolder(dir)
	w.watchFolder(dir)
	write(t, filepath.Join(dir, "checkpoints.lock"))
	select {
	case <-changed:
		t.Fatal("a lock was told")
	case <-time.After(500 * time.Millisecond):
	}
	write(t, filepath.Join(dir, "01-product-requirements.md"))
	expect(t, changed, "an edited file")
}

// TestOutside tells the documents of runs from all else, even if the program makes the folder that holds both.
func TestOutside(t *testing.T) {
	t.Parallel()
	const skill = ".claude/skills/x/SKILL.md"
	for name, later := range map[string]string{
		".bmad-task/session-1.json": skill, ".claude/specs/demo/01.md": skill, skill: "", "_bmad/core/config.yaml": "",
		"home/state/bmad-mcp/projects.json": "home/state/bmad-mcp/sources.json", "home/state/bmad-mcp/sources.json": "", "home/state/other/key": "",
	} {
		cwd, told, want := t.TempDir(), make(chan bool, 100), later == ""
		write(t, filepath.Join(cwd, "home", ".profile"))
		w, err := newWatcher(func(outside bool) { told <- outside }, slog.New(slog.DiscardHandler), ofRuns, filepath.Join(cwd, "home", "state", "bmad-mcp"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.close() }()
		w.watchFolder(cwd)
		w.watchFolder(filepath.Join(cwd, "home"))
		next := func() bool {
			select {
			case outside := <-told:
				return outside
			case <-time.After(waiting):
				t.Fatalf("%s: nothing was told", name)
				return false
			}
		}
		write(t, filepath.Join(cwd, name))
		if got := next(); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		if want {
			continue
		}
		// What comes into the folder later is not missed.
		write(t, filepath.Join(cwd, later))
		for outside := next(); !outside; outside = next() {
		}
	}
}

// TestFoldersThatAreNotWatched: a log has one line for all folders that are not watched, with their number.
func TestFoldersThatAreNotWatched(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		folder func(dir string, i int) (string, error)
		n      int
		want   []string
	}{
		"too many": {func(dir string, i int) (string, error) {
			name := filepath.Join(dir, strconv.Itoa(i))
			return name, os.Mkdir(name, 0o700)
		}, maxFolders + 300, []string{"folders=300", "too many"}},
		"refused": {func(dir string, i int) (string, error) {
			return filepath.Join(dir, strings.Repeat("x", 300+i)), nil // Windows says that there is no such folder
		}, 20, []string{"folders=20", "xxx: file name too long"}},
	} {
		if name == "refused" && runtime.GOOS == "windows" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			w, err := newWatcher(func(bool) {}, slog.New(slog.NewTextHandler(&log, nil)), ofRuns, "")
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			var folders []string
			for i := range tt.n {
				folder, err := tt.folder(dir, i)
				if err != nil {
					t.Fatal(err)
				}
				folders = append(folders, folder)
			}
			for range 3 { // three looks
				for _, folder := range folders {
					w.watchFolder(folder)
				}
				w.logUnwatched()
			}
			if err := w.close(); err != nil {
				t.Fatal(err)
			}
			got := log.String()
			if strings.Count(got, "\n") != 1 {
				t.Errorf("got %d lines: %.500s", strings.Count(got, "\n"), got)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %.500s, want %s in it", got, want)
				}
			}
		})
	}
}

// TestUnwantedSessions: the runs of a project are watched only if somebody wants them.
func TestUnwantedSessions(t *testing.T) {
	t.Parallel()
	cwd, other := t.TempDir(), t.TempDir()
	w, changed := watch(t)
	for _, dir := range []string{cwd, other} {
		w.watchFolder(dir)
	}
	w.watchProject(other)
	session := filepath.Join(cwd, ".bmad-task", "session-1.json")
	for _, dir := range []string{cwd, other} {
		write(t, filepath.Join(dir, ".bmad-task", "session-1.json"))
		expect(t, changed, "the folder for sessions")
	}
	write(t, session)
	select {
	case <-changed:
		t.Fatal("a session was told that nobody has asked for")
	case <-time.After(500 * time.Millisecond):
	}
	w.watchProject(cwd)
	for _, dir := range []string{cwd, other} {
		write(t, filepath.Join(dir, ".bmad-task", "session-1.json"))
		expect(t, changed, "a session")
	}
}
