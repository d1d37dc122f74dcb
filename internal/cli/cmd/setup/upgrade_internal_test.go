package setup

import (
	"slices"
	"testing"
)

// TestWay tells the ways to install by the places of the program.
func TestWay(t *testing.T) {
	const papers = "/share/doc/bmad-mcp/THIRD_PARTY_LICENSES"
	for _, c := range []struct {
		program, id, command string
		files                []string
		source, fetched      bool
	}{
		{program: "/usr/local/lib/node_modules/bmad-mcp/node_modules/@bmad-mcp/linux-x64/bin/bmad-mcp", id: "npm", command: "npm install -g bmad-mcp@latest"},
		{program: "/home/a/.nvm/versions/node/v22.1.0/lib/node_modules/bmad-mcp/node_modules/@bmad-mcp/linux-x64/bin/bmad-mcp", id: "npm", command: "npm install -g bmad-mcp@latest"},
		{program: `C:\Users\a\AppData\Roaming\npm\node_modules\bmad-mcp\node_modules\@bmad-mcp\win32-x64\bin\bmad-mcp.exe`, id: "npm", command: "npm install -g bmad-mcp@latest"},
		{program: "/home/a/my work/node_modules/@bmad-mcp/linux-x64/bin/bmad-mcp", id: "npm", command: "npm install --prefix '/home/a/my work' bmad-mcp@latest"},
		{program: "/home/a/.npm/_npx/0a1b/node_modules/@bmad-mcp/linux-x64/bin/bmad-mcp", id: "npx", command: "npm install -g bmad-mcp@latest"},
		{program: "/home/a/.local/share/pnpm/global/5/.pnpm/@bmad-mcp+linux-x64@1.0.0/node_modules/@bmad-mcp/linux-x64/bin/bmad-mcp", id: "pnpm", command: "pnpm add -g bmad-mcp@latest"},
		{program: "/opt/homebrew/Caskroom/bmad-mcp/1.0.0/bmad-mcp", id: "brew", command: "brew upgrade --cask bmad-mcp"},
		{program: `C:\Users\a\scoop\apps\bmad-mcp\current\bmad-mcp.exe`, id: "scoop", command: "scoop update bmad-mcp"},
		{program: `C:\Users\a\AppData\Local\Microsoft\WinGet\Packages\BmadMcp.BmadMcp_x\bmad-mcp.exe`, id: "winget", command: "winget upgrade BmadMcp.BmadMcp"},
		{program: "/Users/a/Library/Application Support/Claude/Claude Extensions/x/server/bmad-mcp-darwin-arm64", id: "mcpb",
			files: []string{"/Users/a/Library/Application Support/Claude/Claude Extensions/x/manifest.json"}},
		{program: "/bmad-mcp", id: "image", command: "docker pull ghcr.io/bmad-mcp/bmad-mcp:latest"},
		{program: "/usr/bin/bmad-mcp", id: "deb", command: "sudo dpkg -i bmad-mcp_*.deb", files: []string{"/var/lib/dpkg/info/bmad-mcp.list", "/usr" + papers}},
		{program: "/usr/bin/bmad-mcp", id: "rpm", command: "sudo rpm -U bmad-mcp-*.rpm", files: []string{"/usr" + papers}},
		{program: "/home/a/go/bin/bmad-mcp", id: "go", command: "go install github.com/bmad-mcp/bmad-mcp/cmd/bmad-mcp@latest", source: true, fetched: true},
		{program: "/home/a/go/bin/bmad-mcp", id: "source", command: "git pull && go install ./cmd/bmad-mcp", source: true},
		{program: "/home/a/.local/bin/bmad-mcp", id: "script", files: []string{"/home/a/.local" + papers},
			command: "curl -fsSL https://github.com/bmad-mcp/bmad-mcp/releases/latest/download/install.sh | sh -s -- --prefix /home/a/.local"},
		{program: `C:\Users\a\AppData\Local\Programs\bmad-mcp\bmad-mcp.exe`, id: "script", command: "irm https://github.com/bmad-mcp/bmad-mcp/releases/latest/download/install.ps1 | iex"},
		{program: "/home/a/bin/bmad-mcp", id: "archive"},
		{program: "/home/a/server/bmad-mcp", id: "archive"},
		{program: `C:\tools\bmad-mcp.exe`, id: "archive"},
	} {
		got := installed{program: c.program, released: !c.source, fetched: c.fetched, exists: func(path string) bool { return slices.Contains(c.files, path) }}.way()
		if got.id != c.id || got.command != c.command || got.name.Empty() || got.command == "" && got.first.Empty() {
			t.Errorf("%s: %+v", c.program, got)
		}
	}
}
