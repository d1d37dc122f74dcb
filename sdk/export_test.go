package sdk

import (
	"os"
	"path/filepath"
	"testing"
)

// agentFolder returns a folder with the agent "writer".
func agentFolder(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	text := "# writer\n\n```yaml\nagent:\n  name: Ada\n  id: writer\n  title: Technical Writer\npersona:\n  role: Writes short documents\n```\n"
	if err := os.WriteFile(filepath.Join(folder, "writer.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
