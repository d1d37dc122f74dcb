package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// TestHeldFolder: a folder that is held is the one of its path again once all have released it, and what it holds is
// read each time.
func TestHeldFolder(t *testing.T) {
	f := folder(t)
	want := func(n int) {
		t.Helper()
		if got, err := f.Places(); len(got) != n || err != nil {
			t.Errorf("got %v, %v; want %d", got, err, n)
		}
	}
	first, second := f.Hold(), f.Hold()
	want(0) // there is none yet
	for n := range 2 {
		_, err := f.AddPlace(t.Context(), trust.Place{Folder: t.TempDir(), By: trust.ByTerminal, At: at})
		check(t, err)
		want(n + 1)
	}
	first()
	want(2)
	second()
	check(t, os.Rename(string(f), string(f)+"-old"))
	want(0)
	defer f.Hold()()
	want(0)
	check(t, os.Rename(string(f)+"-old", string(f)))
	want(2)
}

// TestCheck: whatever keeps the program from signing is told, and the check changes nothing.
func TestCheck(t *testing.T) {
	f := folder(t)
	want := func(text string) {
		t.Helper()
		err := f.Check()
		if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
	want("") // it can be made
	if _, err := os.Stat(filepath.Dir(string(f))); err == nil {
		t.Error("the check has made the folder")
	}
	_, err := f.Signer(t.Context())
	check(t, err)
	want("")
	check(t, os.WriteFile(filepath.Join(string(f), "key"), []byte("short"), 0o600))
	want("is broken")
	check(t, os.RemoveAll(string(f)))
	check(t, os.WriteFile(string(f), nil, 0o600))
	want("cannot be")
	f = ""
	want("there is no state folder")
}
