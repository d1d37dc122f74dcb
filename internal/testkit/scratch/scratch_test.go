package scratch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

// TestPlaces: temporary folders are in memory if Run has put them there, and Dir is not.
func TestPlaces(t *testing.T) {
	kept := Dir(t)
	if filepath.Dir(kept) != filepath.Clean(Disk()) {
		t.Errorf("%s is not in %s", kept, Disk())
	}
	if !roomy(memory) || !strings.HasPrefix(os.TempDir(), memory) {
		t.Skip("no memory to write in, or TMPDIR was set")
	}
	if in := t.TempDir(); !strings.HasPrefix(in, memory+"/"+name) || !roomy(in) {
		t.Errorf("%s is not in memory", in)
	}
	if strings.HasPrefix(kept, os.TempDir()) {
		t.Errorf("%s is in memory", kept)
	}
}
