package memory

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// kit copies a project that a kit has written to, with files that settled long ago.
func kit(t testing.TB, name string) (*Book, string) {
	t.Helper()
	path := t.TempDir()
	if err := os.CopyFS(path, os.DirFS(filepath.Join("internal", "grimoire", "testdata", name))); err != nil {
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
	return m.Of(&project.Project{Dir: dir, Config: config.Default()}), path
}

// TestForeignIsKept: the content of the files is the same value until one of them changes, comes or goes.
func TestForeignIsKept(t *testing.T) {
	t.Parallel()
	b, path := kit(t, "kit")
	read := func() cabinet {
		t.Helper()
		r, err := b.readAll(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		return r.files
	}
	first := read()
	if len(first.notes) < 30 || len(first.notes) != len(b.foreign) || &read().notes[0] != &first.notes[0] {
		t.Fatalf("%d notes, %d keys, kept: %v", len(first.notes), len(b.foreign), &read().notes[0] == &first.notes[0])
	}
	learnings := filepath.Join(path, "_bmad/_memory/agent-learnings/qa.md")
	text, err := os.ReadFile(learnings)
	if err != nil {
		t.Fatal(err)
	}
	id := func(f cabinet, text string) string {
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
	if &second.notes[0] == &first.notes[0] || id(second, "one more") == "" || id(second, "CRLF and a byte order mark") != id(first, "CRLF and a byte order mark") {
		t.Errorf("a new line: one more is %q", id(second, "one more"))
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

// TestIDsAreTheKits: a note gets the id that the kit of the project gives its text.
func TestIDsAreTheKits(t *testing.T) {
	t.Parallel()
	b, path := kit(t, "grimoire")
	if err := os.WriteFile(filepath.Join(path, "project-context.yaml"), []byte("project:\n  name: Demo Projet\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := b.Remember(context.Background(), notes.Note{Type: notes.AgentLearnings, Agent: "forge", Text: "Le provider aws doit être >= 5.0"})
	if err != nil || out.ID != "f70d1396-77e8-5fd8-bdf8-added10a239d" {
		t.Errorf("got %+v, %v", out, err)
	}
}

// BenchmarkForeign asks again for files that have not changed.
func BenchmarkForeign(b *testing.B) {
	book, _ := kit(b, "kit")
	for b.Loop() {
		r, err := book.readAll(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		r.close()
	}
}
