package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestSnapshotSeesEachWrite(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("a"), []byte("a"), 0o600), os.WriteFile(at("b"), nil, 0o600), os.Symlink("a", at("link"))); err != nil {
		t.Fatal(err)
	}
	before := Look(t, dir, at("none"))
	if got := before.Changes(Look(t, dir)); len(got) > 0 {
		t.Errorf("untouched: %q", got)
	}
	if err := errors.Join(os.WriteFile(at("c"), nil, 0o600), os.Remove(at("c"))); err != nil { // the folder has another time
		t.Fatal(err)
	}
	if got := fmt.Sprint(before.Changes(Look(t, dir))); got != "[changed: "+dir+"]" {
		t.Error(got)
	}
	if err := errors.Join(os.WriteFile(at("a"), []byte("x"), 0o600), os.Remove(at("b")), os.Mkdir(at("c"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(before.Changes(Look(t, dir))), fmt.Sprintf("[changed: %s changed: %s new: %s removed: %s]", dir, at("a"), at("c"), at("b")); got != want {
		t.Error(got)
	}
}
