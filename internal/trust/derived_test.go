package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// TestDerived: derived data comes back as it was kept under its name, and only if this person's program has
// written it.
func TestDerived(t *testing.T) {
	t.Parallel()
	u := trust.UserState(t.TempDir())
	if got := u.Derived("a"); got != nil {
		t.Errorf("before: %q", got)
	}
	for _, data := range []string{"first", "second"} {
		if err := u.KeepDerived("a", []byte(data)); err != nil {
			t.Fatal(err)
		}
		if got := string(u.Derived("a")); got != data {
			t.Errorf("got %q, want %q", got, data)
		}
	}
	files, err := filepath.Glob(string(u) + "/derived/*")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	ours, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	other := trust.UserState(t.TempDir())
	if err := other.KeepDerived("a", []byte("theirs")); err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(filepath.Join(string(other), "derived", filepath.Base(files[0])))
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte(nil), ours...)
	flipped[len(flipped)-1] ^= 1
	for name, data := range map[string][]byte{"of another person": theirs, "flipped": flipped, "cut": ours[:len(ours)-1], "short": ours[:10], "empty": {}} {
		if err := os.WriteFile(files[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := u.Derived("a"); got != nil {
			t.Errorf("%s: got %q", name, got)
		}
	}
	// Of another name.
	if err := u.KeepDerived("b", []byte("b")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], ours, 0o600); err != nil {
		t.Fatal(err)
	}
	all, _ := filepath.Glob(string(u) + "/derived/*")
	for _, name := range all {
		if err := os.WriteFile(name, ours, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := u.Derived("a"), u.Derived("b"); string(a) != "second" || b != nil {
		t.Errorf("got %q and %q", a, b)
	}
	for range 2 {
		if err := u.DropDerived("a"); err != nil || u.Derived("a") != nil {
			t.Errorf("dropped: %q, %v", u.Derived("a"), err)
		}
	}
	for n := range 30 {
		if err := u.KeepDerived(fmt.Sprint(n), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if all, _ := filepath.Glob(string(u) + "/derived/*"); len(all) != 16 {
		t.Errorf("%d files are kept, want 16", len(all))
	}
	if err := trust.UserState("").KeepDerived("a", nil); err == nil || trust.UserState("").Derived("a") != nil || trust.UserState("").DropDerived("a") != nil {
		t.Errorf("without a state folder: %v", err)
	}
}
