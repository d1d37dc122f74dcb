package filestore_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
)

// TestKnownWithoutLinks: the list of an older version is read as it is, and has no links once
// it is written; so a link that comes later is another folder.
func TestKnownWithoutLinks(t *testing.T) {
	ctx := context.Background()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	k := filestore.Known{Folder: filepath.Join(top, "state")}
	project, other, link := filepath.Join(top, "project"), filepath.Join(top, "other"), filepath.Join(top, "link")
	for _, dir := range []string{k.Folder, project, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(project, link); err != nil {
		t.Skip(err)
	}
	gone := filepath.Join(top, "gone")
	expect := func(real bool, want ...string) {
		t.Helper()
		if got, is := k.Recorded(); is != real || !slices.Equal(got, want) || !slices.Equal(k.List(), want) {
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
	expect(true, other, project, gone)
	for _, again := range []string{link, project, other} {
		if err := k.Add(ctx, again); err != nil {
			t.Fatal(err)
		}
	}
	expect(true, other, project, gone)
	for _, folder := range []string{gone, link} {
		if removed, err := k.Remove(ctx, folder); !removed || err != nil {
			t.Errorf("%s: %v, %v", folder, removed, err)
		}
	}
	expect(true, other)
}
