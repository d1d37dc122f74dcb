package project_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// TestKnownWithoutLinks: the list of an older version is read as it is, and has no links once
// it is written; so a link that comes later is another folder.
func TestKnownWithoutLinks(t *testing.T) {
	ctx := context.Background()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	k := project.Known{Folder: filepath.Join(top, "state")}
	own, other, link := filepath.Join(top, "project"), filepath.Join(top, "other"), filepath.Join(top, "link")
	for _, dir := range []string{k.Folder, own, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(own, link); err != nil {
		t.Skip(err)
	}
	gone := filepath.Join(top, "gone")
	expect := func(real bool, want ...string) {
		t.Helper()
		if got, is, err := k.Recorded(); err != nil || is != real || !slices.Equal(got, want) || !slices.Equal(k.List(), want) {
			t.Errorf("%v, %v, want %v, %v", got, is, want, real)
		}
	}
	if err := os.WriteFile(filepath.Join(k.Folder, "projects.json"), []byte(`{"projects":["`+link+`","`+gone+`"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(false, link, gone)
	if removed, err := k.Remove(ctx, other); removed || err != nil {
		t.Errorf("removed what is not on it: %v, %v", removed, err)
	}
	expect(false, link, gone)
	if err := k.Add(ctx, other); err != nil {
		t.Fatal(err)
	}
	expect(true, other, own)
	for _, again := range []string{link, own, other} {
		if err := k.Add(ctx, again); err != nil {
			t.Fatal(err)
		}
	}
	expect(true, other, own)
	if removed, err := k.Remove(ctx, link); !removed || err != nil {
		t.Errorf("%v, %v", removed, err)
	}
	expect(true, other)
}

func TestKnownProjects(t *testing.T) {
	k := project.Known{Folder: filepath.Join(t.TempDir(), "state", "bmad-mcp")}
	if got := k.List(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	a, b, gone := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{gone, a} {
		if err := k.Add(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{b, a} { // a new one takes the folders off that are gone
		if err := k.Add(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(k.List(), " "); got != b+" "+a {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(filepath.Join(k.Folder, "projects.json"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := k.Add(t.Context(), "/c"); err == nil || !strings.Contains(err.Error(), "projects.json cannot be read") {
		t.Errorf("a broken list is replaced: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(k.Folder, "projects.json")); string(text) != "nonsense" {
		t.Errorf("%s, %v", text, err)
	}
}
