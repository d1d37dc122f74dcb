package trust_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// TestPrograms: a program is allowed as its file is, in one project.
func TestPrograms(t *testing.T) {
	f, here, other := folder(t), t.TempDir(), t.TempDir()
	file := filepath.Join(t.TempDir(), "pandoc")
	write := func(text string) trust.Allowance {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := trust.ReadProgram(here, file)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := write("first")
	if len(f.OfKind(here, trust.KindProgram)) > 0 || f.Allowed(first) {
		t.Error("nobody has allowed it")
	}
	if err := f.Allow(t.Context(), first); err != nil || !f.Allowed(first) || len(f.OfKind(here, trust.KindProgram)) != 1 {
		t.Errorf("%v, and it is not allowed", err)
	}
	if len(f.OfKind(other, trust.KindProgram)) > 0 {
		t.Error("it is allowed elsewhere")
	}
	second := write("second")
	if f.Allowed(second) {
		t.Error("another file is allowed")
	}
	if err := f.Allow(t.Context(), second); err != nil || !f.Allowed(second) || f.Allowed(first) || len(f.OfKind(here, trust.KindProgram)) != 1 {
		t.Errorf("%v; the newer one does not replace the older one", err)
	}
	for what, name := range map[string]string{"a missing file": file + "x", "a folder": here} {
		if _, err := trust.ReadProgram(here, name); err == nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
