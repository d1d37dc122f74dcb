package doctor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
)

func TestMachine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs are told by their permissions here")
	}
	home, project := t.TempDir(), t.TempDir()
	m := doctor.MachineCheck{Program: filepath.Join(home, "bmad-mcp"), Hosts: hosts.Machine{
		OS: "linux", Home: home, Folder: project,
		Getenv:   func(string) string { return "" },
		LookPath: func(string) string { return "" },
	}}
	check := func(status doctor.CheckStatus, words string) {
		t.Helper()
		c := m.Check()[1]
		if all := fmt.Sprintf("%+v", c); c.Status != status || !strings.Contains(all, words) {
			t.Errorf("want %s, %q: %s", status, words, all)
		}
	}
	write := func(name, body string) {
		t.Helper()
		full := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(body), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	check(doctor.Warning, "bmad-mcp install")
	write(".claude.json", `{"projects": {"/src/bmad-mcp": {"mcpServers": {"bmad": {"command": "`+home+`/bmad-mcp"}}}}}`)
	check(doctor.Warning, "no host's settings start bmad-mcp") // it is for another project
	write(".codex/config.toml", "[mcp_servers.bmad]\ncommand = \""+home+"/bmad-mcp\"\n")
	check(doctor.Warning, "Codex is to start "+home+"/bmad-mcp, which is not there")
	write("bmad-mcp", "#!/bin/sh\n")
	check(doctor.OK, "set up for Codex ("+home+"/.codex/config.toml); not for Claude Code")
	write(".claude.json", `{"projects": {"`+project+`": {"mcpServers": {"bmad": {"command": "`+home+`/bmad-mcp"}}}}}`)
	check(doctor.OK, "set up for Claude Code ("+home+"/.claude.json), Codex")
	write(".codex/config.toml", "[mcp_servers.bmad]\ncommand = \""+home+"/bmad-mcp\"\n[mcp_servers.flow]\ncommand = \"bmad-mcp\"\n")
	check(doctor.Warning, "Codex has this server in "+home+"/.codex/config.toml too, as \"flow\", and shows each tool twice")
	write(".codex/config.toml", "[mcp_servers.bmad]\ncommand = \""+home+"/bmad-mcp\"\n")
	write(".gemini/settings.json", `{"mcpServers": {"bmad": {"command": "bmad-mcp"},}}`)
	check(doctor.Warning, "Gemini CLI cannot read it: line 1 ends with a comma")
	write(".gemini/settings.json", `{broken`)
	check(doctor.Warning, "Gemini CLI cannot read it")
	write(".gemini/settings.json", `{"mcpServers": {"bmad": {"httpUrl": "http://127.0.0.1:7777/mcp"}}}`)
	check(doctor.OK, ".gemini/settings.json, at http://127.0.0.1:7777/mcp")

	program := func() doctor.Check { return m.Check()[0] }
	t.Setenv("PATH", home)
	if c := program(); c.Status != doctor.OK {
		t.Errorf("%+v", c)
	}
	if err := os.Remove(m.Program); err != nil {
		t.Fatal(err)
	}
	if c := program(); c.Status != doctor.Warning || !strings.Contains(c.Items[0].What, "not on the PATH") {
		t.Errorf("%+v", c)
	}
}
