package mcpserver_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// TestMethodIsNeverChanged calls every tool of the method and finds the installation as it was.
func TestMethodIsNeverChanged(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	before := filesBelow(t, dir)
	c, err := mcpserver.Connect(context.Background(), mcpserver.Launch{Command: binary, Dir: dir, Env: isolatedEnv(t, "BMAD_TOOLSETS=method,method-classic")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for _, step := range []struct {
		tool string
		args object
	}{
		{"list_workflows", object{}}, {"get_workflow_details", object{"workflow_name": "dev-story"}}, {"execute_workflow", object{"workflow_name": "dev-story", "params": object{"story": "1"}}},
		{"list_tasks", object{}}, {"execute_task", object{"task_name": "index-docs"}}, {"get_knowledge", object{}},
		{"bmad-resources", object{"operation": "agents"}}, {"bmad-resources", object{"operation": "list"}}, {"bmad-resources", object{"operation": "read", "uri": "bmad://config/current"}},
		{"bmad-workflow", object{"workflow": "dev-story"}}, {"bmad-agent", object{"agent": "analyst", "message": "hi"}},
	} {
		if text, refused, err := c.Call(context.Background(), step.tool, step.args); err != nil || refused {
			t.Errorf("%s %v: %v %.200s", step.tool, step.args, err, text)
		}
	}
	if after := filesBelow(t, dir); after != before {
		t.Errorf("the project was changed:\n%s\nbefore:\n%s", after, before)
	}
}

// filesBelow lists the files below a folder with the hash of each.
func filesBelow(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %x\n", strings.TrimPrefix(path, dir), sha256.Sum256(data))
		return err
	})
	if err != nil || out.Len() == 0 {
		t.Fatalf("nothing below %s: %v", dir, err)
	}
	return out.String()
}
