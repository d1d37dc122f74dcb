package doctor_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + listener.Addr().String() + "/mcp"
	write(".gemini/settings.json", `{"mcpServers": {"bmad": {"httpUrl": "`+at+`"}}}`)
	check(doctor.OK, ".gemini/settings.json, at "+at)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	check(doctor.Warning, "nothing answers at "+at)
	write(".gemini/settings.json", `{"mcpServers": {"bmad": {"httpUrl": "https://example.org/mcp"}}}`) // another machine's is not asked
	check(doctor.OK, ".gemini/settings.json, at https://example.org/mcp")

	// The variables of an entry, and of all that a host starts, are named without what they say; those that are the same here are not.
	t.Setenv("BMAD_LANGUAGE", "zh")
	m.Judge = func(args, environ []string) error {
		if len(args) > 0 {
			return fault.New(fault.InvalidArgument, "%s %s", args[0], strings.Join(environ, " "))
		}
		return nil
	}
	codex := "[mcp_servers.bmad]\ncommand = \"" + home + "/bmad-mcp\"\n"
	write(".codex/config.toml", codex+"env = {BMAD_LANGUAGE = \"zh\", BMAD_QUORUM = 2, PATH = \"/x\"}\n")
	check(doctor.OK, "Codex sets BMAD_QUORUM for the server, and it counts there alone")
	write(".codex/config.toml", codex+"args = [\"--toolsets\"]\nenv = {BMAD_STORE = \"postgres://secret\"}\n")
	check(doctor.Warning, "Codex starts it so that it cannot work: --toolsets BMAD_STORE=postgres://secret")
	check(doctor.Warning, "correct the entry bmad")
	write(".codex/config.toml", codex+"env = {BMAD_STORE = \"postgres://secret\"}\n")
	check(doctor.Warning, "Codex sets BMAD_STORE for the server: your settings, keys, runs or gates are others there")
	if all := fmt.Sprintf("%+v", m.Check()[1]); strings.Contains(all, "secret") || strings.Contains(all, "BMAD_LANGUAGE") || strings.Contains(all, "PATH for") {
		t.Errorf("got %s", all)
	}
	write(".codex/config.toml", codex)
	write(".claude/settings.json", `{"env": {"XDG_CONFIG_HOME": "/x", "OTHER": "1"}}`)
	check(doctor.Warning, "Claude Code sets XDG_CONFIG_HOME for the server")

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
