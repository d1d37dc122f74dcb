package upkeep

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Machine is where a program like this one lives, for the checks of it.
type Machine struct {
	// Program is the absolute path of the running program.
	Program string
	// Home is the person's home folder, Project the project's; "" skips what is in it.
	Home, Project string
	// ConfigFolder is the person's configuration folder, such as ~/.config.
	ConfigFolder string
}

// Check asks whether hosts on this machine can find the program. What it finds is
// never a problem of the project, so the worst is a warning.
func (m Machine) Check() []Check { return []Check{m.checkProgram(), m.checkHosts()} }

func (m Machine) checkProgram() Check {
	c := Check{Group: OfMachine, Name: "program", Status: OK, Detail: m.Program}
	name := strings.TrimSuffix(filepath.Base(m.Program), ".exe")
	found, err := exec.LookPath(name)
	if err != nil {
		c.add(Warning, m.Program, "is not on the PATH")
		c.Remedy = "put its folder on the PATH, or give hosts the absolute path"
		return c
	}
	here, errHere := os.Stat(m.Program)
	there, errThere := os.Stat(found)
	if errHere == nil && errThere == nil && !os.SameFile(here, there) {
		c.add(Warning, found, "is what the PATH finds, another program than "+m.Program)
		c.Remedy = "update the one, or take it off the PATH"
	}
	return c
}

// hostFile is a file in which a host lists its MCP servers.
type hostFile struct {
	host string
	path string
}

// hostFiles lists where the hosts of the README keep their servers, by their own
// documentation.
func (m Machine) hostFiles() []hostFile {
	var out []hostFile
	add := func(host, folder string, names ...string) {
		if folder != "" {
			for _, name := range names {
				out = append(out, hostFile{host, filepath.Join(folder, filepath.FromSlash(name))})
			}
		}
	}
	add("Claude Code", m.Home, ".claude.json")
	add("Claude Code", m.Project, ".mcp.json")
	add("Codex", m.Home, ".codex/config.toml")
	add("Codex", m.Project, ".codex/config.toml")
	add("Cursor", m.Home, ".cursor/mcp.json")
	add("Cursor", m.Project, ".cursor/mcp.json")
	add("Gemini CLI", m.Home, ".gemini/settings.json")
	add("Gemini CLI", m.Project, ".gemini/settings.json")
	add("VS Code", m.Project, ".vscode/mcp.json")
	switch runtime.GOOS {
	case "darwin":
		add("VS Code", m.Home, "Library/Application Support/Code/User/mcp.json")
		add("Claude Desktop", m.Home, "Library/Application Support/Claude/claude_desktop_config.json")
	case "windows":
		add("VS Code", m.Home, "AppData/Roaming/Code/User/mcp.json")
		add("Claude Desktop", m.Home, "AppData/Roaming/Claude/claude_desktop_config.json")
	default:
		add("VS Code", m.ConfigFolder, "Code/User/mcp.json")
		add("Claude Desktop", m.ConfigFolder, "Claude/claude_desktop_config.json")
	}
	return out
}

// startsUs matches the entry of a server, in JSON and in TOML, whose command is this
// program, under its own name or the one it has now.
func (m Machine) startsUs() *regexp.Regexp {
	now := strings.TrimSuffix(filepath.Base(m.Program), ".exe")
	return regexp.MustCompile(`"?command"?\s*[:=]\s*"([^"]*[/\\])?(bmad-mcp|` + regexp.QuoteMeta(now) + `)(\.exe)?"`)
}

func (m Machine) checkHosts() Check {
	c := Check{Group: OfMachine, Name: "hosts", Status: OK}
	var found []string
	startsUs := m.startsUs()
	for _, h := range m.hostFiles() {
		data, err := os.ReadFile(h.path)
		if err != nil || !startsUs.Match(data) {
			continue
		}
		if strings.HasSuffix(h.path, ".json") && h.host != "VS Code" && !json.Valid(data) { // VS Code's may have comments
			c.add(Warning, h.path, h.host+" starts bmad-mcp there, but the file is no JSON")
			c.Remedy = "mend the file; the host may ignore all of it"
			continue
		}
		found = append(found, fmt.Sprintf("%s (%s)", h.host, h.path))
	}
	switch {
	case len(found) > 0:
		c.Detail = "set up for " + strings.Join(found, ", ")
	case len(c.Items) == 0:
		c.Status, c.Detail = Warning, "no host's settings start bmad-mcp"
		c.Remedy = "tell your host about it, for example: claude mcp add --scope user bmad -- bmad-mcp"
	default:
		c.Detail = "a host's settings are broken"
	}
	return c
}
