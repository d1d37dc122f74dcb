//go:build unix && !solaris && !aix

package scratch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSweep: the folder of a run that was killed goes at the next one; that of one that is under way, and files
// not of tests, stay.
func TestSweep(t *testing.T) {
	in := t.TempDir()
	if folder := os.Getenv("SCRATCH_KILLED"); folder != "" {
		if _, _, err := create(folder); err != nil {
			t.Fatal(err)
		}
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	killed := exec.Command(self, "-test.run", "^TestSweep$")
	killed.Env = append(os.Environ(), "SCRATCH_KILLED="+in)
	if err := killed.Run(); err == nil {
		t.Fatal("it was not killed")
	}
	left, _ := os.ReadDir(in)
	used, remove, err := create(in)
	if err != nil || len(left) != 1 || !strings.HasPrefix(left[0].Name(), name) {
		t.Fatalf("left %v, %v", left, err)
	}
	other := filepath.Join(in, "bmad-mcp")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	sweep(in)
	after, _ := os.ReadDir(in)
	if len(after) != 2 || after[0].Name() != "bmad-mcp" || after[1].Name() != filepath.Base(used) {
		t.Errorf("after: %v, want %s and %s", after, other, used)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(used); err == nil {
		t.Error("it was not removed at its end")
	}
}
