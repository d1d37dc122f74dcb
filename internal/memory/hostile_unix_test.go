//go:build unix

package memory_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
)

// TestHostileFiles: a pipe, a folder, a link that leads out or a huge file in the place of notes is
// named, keeps nothing else from being read, and is not written to.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	outside := t.TempDir() + "/notes"
	if err := os.WriteFile(outside, []byte(`{"v":1,"id":"x","text":"not ours"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, lay := range map[string]func(name string) error{
		"pipe":   func(name string) error { return syscall.Mkfifo(name, 0o644) },
		"folder": func(name string) error { return os.Mkdir(name, 0o755) },
		"link":   func(name string) error { return os.Symlink(outside, name) },
		"huge":   func(name string) error { return os.WriteFile(name, make([]byte, 17<<20), 0o644) },
	} {
		s := readForeign(t, folder(t, "p"))
		s.remember(t, notes.Note{Type: notes.Decisions, Text: "kept"}, notes.Created)
		if err := lay(s.file("failures.jsonl")); err != nil {
			t.Fatal(err)
		}
		if got := texts(s.list(t)); got != "kept[]" {
			t.Errorf("%s: the notes are %s", name, got)
		}
		if problems, err := s.Check(ctx); err != nil || len(problems) != 1 || !strings.HasSuffix(problems[0].Path, "failures.jsonl") || problems[0].Line != 0 {
			t.Errorf("%s: %v, %v", name, problems, err)
		}
		if _, err := s.Remember(ctx, notes.Note{Type: notes.Failures, Agent: "a", Text: "x"}); !fault.Is(err, fault.Storage) || fault.From(err).Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
		s.remember(t, notes.Note{Type: notes.Decisions, Text: "more"}, notes.Created)
	}
	if data, err := os.ReadFile(outside); err != nil || !strings.Contains(string(data), "not ours") {
		t.Errorf("outside: %q, %v", data, err)
	}
	// The folder itself leads out.
	s := readForeign(t, folder(t, "p"))
	if err := os.Symlink(t.TempDir(), s.path+"/.claude"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remember(ctx, notes.Note{Type: notes.Failures, Agent: "a", Text: "x"}); !fault.Is(err, fault.Storage) {
		t.Errorf("a folder outside: %v", err)
	}
}

// TestHeldLock: who cannot get the lock in time is told who has it, and nothing is written.
func TestHeldLock(t *testing.T) {
	t.Parallel()
	s := readForeign(t, folder(t, "p"))
	s.remember(t, notes.Note{Text: "x"}, notes.Created)
	before := s.read(t, "failures.jsonl")
	dir := s.dir(t)
	lock, err := dir.Lock(ctx, notes.LockFile)
	if err != nil {
		t.Fatal(err)
	}
	s.Impatient(50 * time.Millisecond)
	_, err = s.Remember(ctx, notes.Note{Type: notes.Failures, Agent: "a", Text: "y"})
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "memory.lock") {
		t.Errorf("%v", err)
	}
	if _, err := s.tasks(t).Add(ctx, queue.Draft{Agent: "a", Task: "t", OutputKey: "o"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("the queue: %v", err)
	}
	if got := s.read(t, "failures.jsonl"); got != before {
		t.Errorf("it wrote %s", got)
	}
	if got := s.recall(t, memory.Query{Text: "x"}); got.Searched != 1 {
		t.Errorf("nothing can be read meanwhile: %+v", got)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	s.remember(t, notes.Note{Text: "y"}, notes.Created)
}
