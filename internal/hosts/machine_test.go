package hosts_test

import (
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
)

// TestPlaces finds each host's files on systems that this test does not run on.
func TestPlaces(t *testing.T) {
	type places map[string][2]string // by host: user, project
	for _, c := range []struct {
		name   string
		os     string
		home   string
		folder string
		env    map[string]string
		exists []string
		want   places
	}{
		{"linux", "linux", "/home/ana", "/src/shop", nil, nil, places{
			"claude-code":    {"/home/ana/.claude.json", "/src/shop/.mcp.json"},
			"claude-desktop": {"/home/ana/.config/Claude/claude_desktop_config.json", ""},
			"codex":          {"/home/ana/.codex/config.toml", "/src/shop/.codex/config.toml"},
			"cursor":         {"/home/ana/.cursor/mcp.json", "/src/shop/.cursor/mcp.json"},
			"vscode":         {"/home/ana/.config/Code/User/mcp.json", "/src/shop/.vscode/mcp.json"},
			"gemini":         {"/home/ana/.gemini/settings.json", "/src/shop/.gemini/settings.json"},
		}},
		{"linux, moved", "linux", "/home/ana/", "/", map[string]string{
			"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x/", "GEMINI_CLI_HOME": "/g", "XDG_CONFIG_HOME": "/config",
		}, nil, places{
			"claude-code":    {"/c/.claude.json", ""},
			"claude-desktop": {"/config/Claude/claude_desktop_config.json", ""},
			"codex":          {"/x/config.toml", ""},
			"vscode":         {"/config/Code/User/mcp.json", ""},
			"gemini":         {"/g/.gemini/settings.json", ""},
		}},
		{"darwin", "darwin", "/Users/ana", "/Users/ana/shop", nil, nil, places{
			"claude-desktop": {"/Users/ana/Library/Application Support/Claude/claude_desktop_config.json", ""},
			"vscode":         {"/Users/ana/Library/Application Support/Code/User/mcp.json", "/Users/ana/shop/.vscode/mcp.json"},
		}},
		{"windows", "windows", `C:\Users\ana`, `D:\src\shop`, map[string]string{"APPDATA": `C:\Users\ana\AppData\Roaming`}, nil, places{
			"claude-code":    {`C:\Users\ana\.claude.json`, `D:\src\shop\.mcp.json`},
			"claude-desktop": {`C:\Users\ana\AppData\Roaming\Claude\claude_desktop_config.json`, ""},
			"codex":          {`C:\Users\ana\.codex\config.toml`, `D:\src\shop\.codex\config.toml`},
			"vscode":         {`C:\Users\ana\AppData\Roaming\Code\User\mcp.json`, `D:\src\shop\.vscode\mcp.json`},
		}},
		{"windows, from the store", "windows", `C:\Users\ana`, `D:\`, map[string]string{"LOCALAPPDATA": `C:\L`},
			[]string{`C:\L\Packages\Claude_abc`, `C:\L\Packages\Claude_abc\LocalCache\Roaming\Claude\claude_desktop_config.json`}, places{
				"claude-desktop": {`C:\L\Packages\Claude_abc\LocalCache\Roaming\Claude\claude_desktop_config.json`, ""},
				"vscode":         {`C:\Users\ana\AppData\Roaming\Code\User\mcp.json`, `D:\.vscode\mcp.json`},
			}},
		{"no home", "linux", "", "", nil, nil, places{"claude-code": {"", ""}, "cursor": {"", ""}}},
	} {
		m := hosts.Machine{
			OS: c.os, Home: c.home, Folder: c.folder,
			Getenv:   func(name string) string { return c.env[name] },
			LookPath: func(string) string { return "" },
			Exists:   func(path string) bool { return slices.Contains(c.exists, path) },
			Glob: func(pattern string) []string {
				if pattern == `C:\L\Packages\Claude_*` {
					return c.exists[:1]
				}
				return nil
			},
		}
		for id, want := range c.want {
			h, ok := hosts.Lookup(id)
			if !ok {
				t.Fatal(id)
			}
			for i, scope := range []hosts.Scope{hosts.User, hosts.Project} {
				if c.folder == "/" && scope == hosts.Project {
					continue
				}
				if got := h.File(m, scope); got != want[i] {
					t.Errorf("%s: %s, %s: %q, want %q", c.name, id, scope, got, want[i])
				}
			}
		}
	}
}

func TestPresent(t *testing.T) {
	m := hosts.Machine{
		OS: "linux", Home: "/home/ana",
		Getenv:   func(string) string { return "" },
		LookPath: func(program string) string { return map[string]string{"codex": "/usr/bin/codex"}[program] },
		Exists:   func(path string) bool { return path == "/home/ana/.cursor" || path == "/home/ana/.gemini" },
	}
	var got []string
	for _, h := range hosts.All() {
		if h.Present(m) != "" {
			got = append(got, h.ID)
		}
	}
	// .gemini alone is no sign: other programs make it too.
	if want := []string{"codex", "cursor"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestOurs(t *testing.T) {
	for command, want := range map[string]bool{
		"bmad-mcp": true, "/opt/bmad-mcp": true, `C:\Program Files\BMAD-MCP.EXE`: true, "/opt/bmad-v2": true,
		"bmad-mcp-linux-amd64": true, `C:\x\bmad-mcp-windows-amd64.exe`: true, "": false, "bmad-mcp-server": false, "/bmad-mcp/other": false, "node": false,
	} {
		if got := hosts.Ours(command, "/opt/bmad-v2"); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}
