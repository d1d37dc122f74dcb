package trust_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// TestPlaces: folders are recorded once, without links, for their owner alone.
func TestPlaces(t *testing.T) {
	ctx := context.Background()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := trust.UserState(filepath.Join(top, "state", "bmad-mcp"))
	if list, err := f.Places(); len(list) != 0 || err != nil {
		t.Fatalf("%v, %v", list, err)
	}
	if removed, err := f.RemovePlace(ctx, top); removed || err != nil {
		t.Fatalf("%v, %v", removed, err)
	}
	src, link := filepath.Join(top, "src"), filepath.Join(top, "link")
	if err := os.Mkdir(src, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(src, link); err != nil {
		t.Skip(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, step := range []struct {
		folder, by string
		added      bool
		want       string
	}{{link, trust.ByForm, true, trust.ByForm}, {src, trust.ByForm, false, trust.ByForm}, {src, trust.ByTerminal, false, trust.ByTerminal}, {link, trust.ByForm, false, trust.ByTerminal}} {
		added, err := f.AddPlace(ctx, trust.Place{Folder: step.folder, By: step.by, At: at})
		list, listErr := f.Places()
		if added != step.added || err != nil || listErr != nil || len(list) != 1 || list[0].Folder != src || list[0].By != step.want {
			t.Errorf("%v: %v, %v, %v, %v", step, added, err, list, listErr)
		}
	}
	file := filepath.Join(string(f), "folders.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if removed, err := f.RemovePlace(ctx, link); !removed || err != nil {
		t.Errorf("%v, %v", removed, err)
	}
	if err := os.WriteFile(file, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Places(); err == nil {
		t.Error("a broken list is read")
	}
	if _, err := f.AddPlace(ctx, trust.Place{Folder: src}); err == nil {
		t.Error("a broken list is written over")
	}
}
