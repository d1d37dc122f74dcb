//go:build unix

package fleet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// TestSprintsByOldGit refuses sprints that this git could not merge before anything is paid for.
func TestSprintsByOldGit(t *testing.T) {
	s := newSite(t)
	s.run("todo", "po..sm", false)
	calls, bin := len(s.worker.calls), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho git version 2.34.1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := os.Getenv("PATH")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+before)
	_, err := s.build(t.Context(), 1)
	if !fault.Is(err, fault.NotAllowed) || !strings.Contains(err.Error(), "2.34.1") {
		t.Errorf("got %v", err)
	}
	t.Setenv("PATH", before)
	if got := s.git(s.dir, "branch", "--list", "bmad/*"); got != "" || len(s.worker.calls) > calls {
		t.Errorf("branches: %q, %d calls", got, len(s.worker.calls)-calls)
	}
}
