package upkeep_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bmad-mcp/internal/upkeep"
)

func TestMachine(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	m := upkeep.Machine{Program: filepath.Join(home, "bmad-mcp"), Home: home, Project: project}
	hosts := func() upkeep.Check { return m.Check()[1] }
	if c := hosts(); c.Status != upkeep.Warning || !strings.Contains(c.Remedy, "claude mcp add") {
		t.Errorf("%+v", c)
	}
	write := func(name, body string) {
		t.Helper()
		full := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".claude.json", `{"projects": {"/src/bmad-mcp": {}}}`)
	if c := hosts(); c.Status != upkeep.Warning {
		t.Errorf("a project of that name counts as a server: %+v", c)
	}
	write(".codex/config.toml", "[mcp_servers.bmad]\ncommand = \"/opt/bmad-mcp\"\n")
	if c := hosts(); c.Status != upkeep.OK || !strings.Contains(c.Detail, "Codex") {
		t.Errorf("%+v", c)
	}
	write(".cursor/mcp.json", `{"mcpServers": {"bmad": {"command": "bmad-mcp"}},}`)
	if c := hosts(); c.Status != upkeep.Warning || !strings.Contains(c.Items[0].What, "Cursor") {
		t.Errorf("%+v", c)
	}
	if runtime.GOOS == "windows" {
		return
	}
	program := func() upkeep.Check { return m.Check()[0] }
	t.Setenv("PATH", home)
	if c := program(); c.Status != upkeep.Warning || !strings.Contains(c.Items[0].What, "not on the PATH") {
		t.Errorf("%+v", c)
	}
	write("bmad-mcp", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(home, "bmad-mcp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if c := program(); c.Status != upkeep.OK {
		t.Errorf("%+v", c)
	}
}
