package hosts

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Host is a program with MCP servers.
type Host struct {
	// ID names it on the command line, Name to people.
	ID, Name string
	// json is the layout of the host's file, except for TOML.
	json    jsonFile
	files   func(m Machine, scope Scope) []string
	signs   func(m Machine) []string
	program string
	// commands adds to a change for a person the commands of the program that make it, and their other effects;
	// nil if it has none.
	commands func(c *Change, l lang.Language)
	// plugins is the file with the host's plugins, plugin the beginning of ours there.
	plugins func(m Machine) string
	plugin  string
	// rules is the file with the calls the host does not ask about; nil if it has none.
	rules func(m Machine, scope Scope) string
	// next tells a person how to activate a new entry.
	next map[Scope]lang.Text
}

// All lists the hosts, as docs/hosts.md does.
func All() []Host {
	return []Host{
		{
			ID: "claude-code", Name: "Claude Code", program: "claude", commands: claudeCommands, json: jsonFile{key: "mcpServers", stdio: true, projects: "projects"},
			files: func(m Machine, scope Scope) []string {
				if scope == Project {
					return []string{m.projectPath(".mcp.json")}
				}
				if dir := m.lookupEnv("CLAUDE_CONFIG_DIR"); dir != "" {
					return []string{m.joinPath(dir, ".claude.json")}
				}
				return []string{m.homePath(".claude.json")}
			},
			signs:  func(m Machine) []string { return []string{m.homePath(".claude.json"), m.homePath(".claude")} },
			plugin: `"bmad@`,
			plugins: func(m Machine) string {
				if dir := m.lookupEnv("CLAUDE_CONFIG_DIR"); dir != "" {
					return m.joinPath(dir, "plugins", "installed_plugins.json")
				}
				return m.homePath(".claude", "plugins", "installed_plugins.json")
			},
			rules: func(m Machine, scope Scope) string {
				if scope == Project {
					return m.projectPath(".claude", "settings.json")
				}
				if dir := m.lookupEnv("CLAUDE_CONFIG_DIR"); dir != "" {
					return m.joinPath(dir, "settings.json")
				}
				return m.homePath(".claude", "settings.json")
			},
			next: map[Scope]lang.Text{
				User:    lang.T("start a new session, or type /mcp in a running one"),
				Project: lang.T("start claude in the project: it asks you once whether you trust the server"),
			},
		},
		{
			ID: "claude-desktop", Name: "Claude Desktop", program: "claude-desktop", json: jsonFile{key: "mcpServers"},
			files: func(m Machine, scope Scope) []string {
				if scope == Project {
					return nil
				}
				const name = "claude_desktop_config.json"
				var out []string
				if m.OS == "windows" { // the store's version reads only its private folder
					for _, packaged := range m.globPaths(m.joinPath(m.lookupEnv("LOCALAPPDATA"), "Packages", "Claude_*")) {
						out = append(out, m.joinPath(packaged, "LocalCache", "Roaming", "Claude", name))
					}
				}
				return append(out, m.appData("Claude", name))
			},
			signs: func(m Machine) []string {
				out := []string{m.appData("Claude"), "/Applications/Claude.app"}
				if m.OS == "windows" {
					out = append(out, m.globPaths(m.joinPath(m.lookupEnv("LOCALAPPDATA"), "Packages", "Claude_*"))...)
				}
				return out
			},
			next: map[Scope]lang.Text{User: lang.T("quit Claude Desktop fully, also from the tray, and start it again; " +
				"while it runs it may write its own list over this one. " +
				"It opens no folder: list those of your projects with bmad-mcp projects add DIR")},
		},
		{
			ID: "codex", Name: "Codex", program: "codex", commands: codexCommands,
			files: func(m Machine, scope Scope) []string {
				if scope == Project {
					return []string{m.projectPath(".codex", "config.toml")}
				}
				if dir := m.lookupEnv("CODEX_HOME"); dir != "" {
					return []string{m.joinPath(dir, "config.toml")}
				}
				return []string{m.homePath(".codex", "config.toml")}
			},
			signs: func(m Machine) []string { return []string{m.homePath(".codex"), "/Applications/Codex.app"} },
			next: map[Scope]lang.Text{
				User:    lang.T("start a new session; codex mcp list shows it"),
				Project: lang.T("start a new session in the project; Codex reads the file only in projects that you trust"),
			},
		},
		{
			ID: "cursor", Name: "Cursor", program: "cursor", json: jsonFile{key: "mcpServers", stdio: true, comments: true, commas: true, bom: true},
			files: func(m Machine, scope Scope) []string {
				if scope == Project {
					return []string{m.projectPath(".cursor", "mcp.json")}
				}
				return []string{m.homePath(".cursor", "mcp.json")}
			},
			signs: func(m Machine) []string { return []string{m.homePath(".cursor"), "/Applications/Cursor.app"} },
			next: map[Scope]lang.Text{
				User:    lang.T("see Settings, MCP: it is listed there, and can be switched on"),
				Project: lang.T("open the project: Cursor asks you once whether the server may run"),
			},
		},
		{
			ID: "vscode", Name: "VS Code", program: "code", json: jsonFile{key: "servers", stdio: true, comments: true, commas: true, empty: true, bom: true},
			files: func(m Machine, scope Scope) []string {
				if scope == Project {
					return []string{m.projectPath(".vscode", "mcp.json")}
				}
				return []string{m.appData("Code", "User", "mcp.json")}
			},
			signs: func(m Machine) []string {
				return []string{m.appData("Code", "User"), "/Applications/Visual Studio Code.app"}
			},
			next: map[Scope]lang.Text{
				User:    lang.T("run “MCP: List Servers” and start it: VS Code asks you once whether you trust it"),
				Project: lang.T("open the project and run “MCP: List Servers”: VS Code asks you once whether you trust it"),
			},
		},
		{
			ID: "gemini", Name: "Gemini CLI", program: "gemini", json: jsonFile{key: "mcpServers", comments: true},
			files: func(m Machine, scope Scope) []string {
				if scope == Project {
					return []string{m.projectPath(".gemini", "settings.json")}
				}
				if dir := m.lookupEnv("GEMINI_CLI_HOME"); dir != "" {
					return []string{m.joinPath(dir, ".gemini", "settings.json")}
				}
				return []string{m.homePath(".gemini", "settings.json")}
			},
			// The folder alone proves nothing, because other programs of the same maker use it.
			signs: func(m Machine) []string { return []string{m.homePath(".gemini", "settings.json")} },
			next: map[Scope]lang.Text{
				User:    lang.T("start a new session in a folder that you trust (/permissions); Gemini CLI starts no servers elsewhere"),
				Project: lang.T("start a new session in the project; it has to be a folder that you trust (/permissions)"),
			},
		},
	}
}

// Lookup returns the host of an id.
func Lookup(id string) (Host, bool) {
	all := All()
	i := slices.IndexFunc(all, func(h Host) bool { return h.ID == id })
	if i < 0 {
		return Host{}, false
	}
	return all[i], true
}

// IDs lists the ids of all hosts.
func IDs() []string {
	var out []string
	for _, h := range All() {
		out = append(out, h.ID)
	}
	return out
}

// File returns the file with the host's servers: the first existing one of several, else the last, or "" if the
// host has none in this scope.
func (h Host) File(m Machine, scope Scope) string {
	files := slices.DeleteFunc(h.files(m, scope), func(f string) bool { return f == "" })
	for _, f := range files {
		if m.pathExists(f) {
			return f
		}
	}
	if len(files) == 0 {
		return ""
	}
	return files[len(files)-1]
}

// Present returns the path that shows that the host is on this machine, or "" if none does.
func (h Host) Present(m Machine) string {
	if path := m.lookPath(h.program); path != "" {
		return path
	}
	for _, sign := range h.signs(m) {
		if sign != "" && m.pathExists(sign) {
			return sign
		}
	}
	return ""
}

// Variables returns the variables that the settings of a host set for all that it starts, with the file; nil if they cannot be
// read.
func (h Host) Variables(m Machine, scope Scope) (file string, env map[string]any) {
	if h.rules == nil || scope == Project && m.Folder == "" {
		return "", nil
	}
	file = h.rules(m, scope)
	text, err := Read(file)
	if err != nil {
		return file, nil
	}
	var settings struct {
		Env map[string]any `json:"env"`
	}
	_ = json.Unmarshal(text, &settings) // the host does not read it either
	return file, settings.Env
}

// HasPlugin reports whether the host has our plugin, which brings the server with it.
func (h Host) HasPlugin(m Machine) bool {
	if h.plugins == nil {
		return false
	}
	text, err := Read(h.plugins(m))
	return err == nil && strings.Contains(string(text), h.plugin)
}

// Program returns the host's own command.
func (h Host) Program() string { return h.program }

// Next tells a person how to activate a new entry.
func (h Host) Next(scope Scope) lang.Text { return h.next[scope] }

// isTOML reports whether the host's file is TOML, which is read here and not changed.
func (h Host) isTOML() bool { return h.json.key == "" }

// Find lists the entries in the text of the host's file.
func (h Host) Find(text []byte) ([]FoundEntry, error) {
	if h.isTOML() {
		return findTOML(text)
	}
	return h.json.findEntries(text)
}

// EachFile calls visit for the files that the host has in the machine's project, with the entries that count there. err
// is a reason for which the host cannot read a file.
func (h Host) EachFile(m Machine, visit func(scope Scope, path string, found []FoundEntry, err error)) {
	for _, scope := range []Scope{User, Project} {
		path := h.File(m, scope)
		if path == "" || scope == Project && path == h.File(m, User) {
			continue
		}
		text, err := Read(path)
		if err == nil && text == nil {
			continue
		}
		var found []FoundEntry
		if err == nil {
			found, err = h.Find(text)
		}
		visit(scope, path, slices.DeleteFunc(found, func(e FoundEntry) bool { return e.Folder != "" && e.Folder != m.Folder }), err)
	}
}

// EntriesOf lists the entries that start this server in the machine's project, with their places. program is the
// running program.
func (h Host) EntriesOf(m Machine, program string) (out []FoundEntry) {
	h.EachFile(m, func(_ Scope, path string, found []FoundEntry, _ error) {
		for _, e := range found {
			if e.Place = path; e.Folder != "" {
				e.Place += " (" + e.Folder + ")"
			}
			if Ours(e.Command, program) {
				out = append(out, e)
			}
		}
	})
	return out
}

// lastOf returns the entry of a name for all projects, or nil if there is none. Of several the host takes the last.
func lastOf(found []FoundEntry, name string) *FoundEntry {
	for _, e := range slices.Backward(found) {
		if e.Name == name && e.Folder == "" {
			return &e
		}
	}
	return nil
}

// Add returns the text of a JSON file with the entry in it, or the same text if it is present already.
// Of an entry of this program only command and arguments change; another of this name is replaced.
func (h Host) Add(text []byte, e Entry) ([]byte, error) { return h.json.addEntry(text, e) }

// Remove returns the text of a JSON file without the entry of this name and all else made by Add, or the same
// text if there is none.
func (h Host) Remove(text []byte, name string) ([]byte, error) {
	return h.json.removeEntry(text, name, false)
}

// Snippet returns the text for a person to add to the file themselves.
func (h Host) Snippet(e Entry) string {
	if h.isTOML() {
		return snippetTOML(e)
	}
	return h.json.snippet(e)
}
