package git

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// maxIdentity bounds a name with an address, in bytes.
const maxIdentity = 200

// Identity returns git's name for the author of a commit in a folder, as "Name <address>"; "" if it has no
// name. It starts git only if the usual files include others, or lack the name or the address: an action is to cost
// no process.
func Identity(folder string) string {
	files := []string{"/etc/gitconfig"}
	if global, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, global)
	} else if home, err := os.UserHomeDir(); err == nil {
		more := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
		files = append(files, filepath.Join(more, "git", "config"), filepath.Join(home, ".gitconfig"))
	}
	c := Call{}
	if r, err := findRepository(folder); err == nil && r != nil {
		files = append(files, filepath.Join(r.common, "config"))
		c.Repository = r.dir
	}
	user, includes := map[string]string{}, false
	for _, file := range files {
		if text, err := durable.ReadPath(file, maxText); err == nil { // else it says nothing about them
			includes = readUser(string(text), user) || includes
		}
	}
	if includes || user["name"] == "" || user["email"] == "" {
		c.addUser(user)
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

// addUser takes over the entries of the section "user" of all settings that git has. Without git there are none.
func (c Call) addUser(user map[string]string) {
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	all, err := c.listSettings(ctx)
	for _, s := range all {
		if key, ok := strings.CutPrefix(s.key, "user."); ok && err == nil {
			user[key] = s.value
		}
	}
}

// readUser takes over the entries of the section "user" of settings of git, and reports whether they include files.
func readUser(text string, user map[string]string) (includes bool) {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			includes = includes || strings.HasPrefix(strings.ToLower(line), "[include")
			inside = strings.EqualFold(strings.TrimSpace(strings.Trim(line, "[]")), "user")
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && inside {
			user[strings.ToLower(strings.TrimSpace(key))] = withoutQuotes(strings.TrimSpace(value))
		}
	}
	return includes
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
