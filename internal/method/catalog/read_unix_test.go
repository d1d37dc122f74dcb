//go:build unix

package catalog_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// TestReadSpecial: a pipe would keep its reader waiting for ever, and a file that may not be
// read is told apart from one that is not there.
func TestReadSpecial(t *testing.T) {
	s := onDisk(t, layout(t, "v6-skills"))
	for _, name := range []string{"_bmad/pipe.md", "_bmad/core/tasks/pipe.md", "_bmad/custom/bmad-prd.toml", "_bmad/_config/files.csv", ".claude/skills/bmad-pipe/SKILL.md", ".claude/skills/bmad-help/customize.toml"} {
		name = filepath.Join(s.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(name, 0o644); err != nil {
			t.Skipf("no pipes can be made here: %v", err)
		}
	}
	c := catalog.Open(s)
	_, err := follow(c, "_bmad/pipe.md")
	wantFault(t, "a pipe", err, fault.NotAllowed, "is not a regular file", "only regular files")
	_, err = follow(c, "_bmad/pipe.md?view=resolved")
	wantFault(t, "a pipe, resolved", err, fault.NotAllowed, "is not a regular file", "only regular files")
	_, err = resolve.Item(c, find(t, c, catalog.Workflow, "bmad-prd"), at)
	wantFault(t, "a layer that is a pipe", err, fault.NotAllowed, "bmad-prd.toml", "only regular files")
	listed, err := c.Files("**/*pipe*")
	if err != nil || len(listed) != 0 {
		t.Errorf("listed %v, %v", listed, err)
	}

	t.Run("closed", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root may read everything")
		}
		closed := filepath.Join(s.Dir, "_bmad", "core", "config.yaml")
		if err := os.Chmod(closed, 0); err != nil {
			t.Fatal(err)
		}
		_, err = follow(c, "_bmad/core/config.yaml")
		wantFault(t, "a file that may not be read", err, fault.Storage, "permission denied", "check its permissions")
	})
}
