package memory

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// kit copies a project that a kit has written to, with files that settled long ago.
func kit(t testing.TB, name string) (*Book, string) {
	t.Helper()
	path := t.TempDir()
	if err := os.CopyFS(path, os.DirFS(filepath.Join("..", "grimoire", "testdata", name))); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := filepath.WalkDir(path, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(name, old, old)
	}); err != nil {
		t.Fatal(err)
	}
	dir, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	m := New(Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
	return m.Of(&project.Project{Dir: dir, Config: config.Default(path)}), path
}

// TestForeignIsKept: what the files say is the same value until one of them changes, comes or goes.
func TestForeignIsKept(t *testing.T) {
	t.Parallel()
	b, path := kit(t, "kit")
	read := func() *foreign {
		t.Helper()
		f, err := b.foreign(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := read()
	if len(first.notes) < 30 || len(first.notes) != len(first.byID) || read() != first {
		t.Fatalf("%d notes, %d ids, kept: %v", len(first.notes), len(first.byID), read() == first)
	}
	learnings := filepath.Join(path, "_bmad/_memory/agent-learnings/qa.md")
	text, err := os.ReadFile(learnings)
	if err != nil {
		t.Fatal(err)
	}
	id := func(f *foreign, text string) string {
		for _, n := range f.notes {
			if n.Text == text {
				return n.ID
			}
		}
		return ""
	}
	if err := os.WriteFile(learnings, append(text, "\n- one more"...), 0o600); err != nil {
		t.Fatal(err)
	}
	second := read()
	if second == first || id(second, "one more") == "" || id(second, "CRLF and a byte order mark") != id(first, "CRLF and a byte order mark") {
		t.Errorf("a new line: new %v, one more %q", second != first, id(second, "one more"))
	}
	if err := os.Remove(learnings); err != nil {
		t.Fatal(err)
	}
	if third := read(); id(third, "one more") != "" || len(third.notes) != len(first.notes)-2 {
		t.Errorf("after the file has gone there are %d notes", len(third.notes))
	}
	if err := os.Symlink("/etc", filepath.Join(path, "_grimoire")); err != nil {
		t.Skipf("SKIPPED: no links here: %v", err)
	}
	if f := read(); len(f.problems) != len(first.problems)+1 || !strings.HasPrefix(f.problems[0].Path, "_grimoire") {
		t.Errorf("the problems are %v", f.problems)
	}
}

// TestShown: what leaves the program has neither credentials nor characters that steer.
func TestShown(t *testing.T) {
	t.Parallel()
	key := "ghp_" + strings.Repeat("a1B2", 10)
	if got := shown("use \u202e"+key+"\x1b now", 100); strings.Contains(got, key) || strings.ContainsAny(got, "\u202e\x1b") || !strings.Contains(got, "use [masked]") {
		t.Errorf("got %q", got)
	}
	if got := shown(strings.Repeat("é", 100), 10); got != "ééééé…" {
		t.Errorf("got %q", got)
	}
}

// BenchmarkForeign asks again for files that have not changed.
func BenchmarkForeign(b *testing.B) {
	book, _ := kit(b, "kit")
	for b.Loop() {
		if _, err := book.foreign(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
