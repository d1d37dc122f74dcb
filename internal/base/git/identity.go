package git

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// maxIdentity bounds a name with an address, in bytes.
const maxIdentity = 200

// Identity returns git's name for the author of a commit in a folder, as "Name <address>"; "" if it has no
// name. It starts no git: an action is to cost no process. Included settings are not read.
func Identity(folder string) string {
	files := []string{"/etc/gitconfig"}
	if global, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, global)
	} else if home, err := os.UserHomeDir(); err == nil {
		more := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
		files = append(files, filepath.Join(more, "git", "config"), filepath.Join(home, ".gitconfig"))
	}
	if r, err := findRepository(folder); err == nil && r != nil {
		files = append(files, filepath.Join(r.common, "config"))
	}
	user := map[string]string{}
	for _, file := range files {
		if text, err := durable.ReadPath(file, maxText); err == nil { // else it says nothing about them
			readUser(string(text), user)
		}
	}
	name, address := strings.TrimSpace(user["name"]), strings.TrimSpace(user["email"])
	if name == "" {
		return ""
	}
	if address != "" {
		name += " <" + address + ">"
	}
	return visible.Cut(visible.Line(name), maxIdentity, "…")
}

// readUser takes over the entries of the section "user" of settings of git.
func readUser(text string, user map[string]string) {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = strings.EqualFold(strings.TrimSpace(strings.Trim(line, "[]")), "user")
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && inside {
			user[strings.ToLower(strings.TrimSpace(key))] = withoutQuotes(strings.TrimSpace(value))
		}
	}
}

// withoutQuotes returns a value without quotes and the comment behind it.
func withoutQuotes(value string) string {
	var out strings.Builder
	quoted, escaped := false, false
	for _, r := range value {
		switch {
		case escaped:
			escaped = false
			out.WriteRune(r)
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && (r == '#' || r == ';'):
			return out.String()
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
