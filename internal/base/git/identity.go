package git

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// maxIdentity bounds a name with an address, in bytes.
const maxIdentity = 200

// Identity returns git's name for the author of a commit in a folder, as "Name <address>"; "" if it has no
// name. It starts git only if the person's usual files include others, or the name or the address is missing: an action
// is to cost no process. Files that the repository includes are not opened.
func Identity(folder string) string {
	files := []string{"/etc/gitconfig"}
	if global, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, global)
	} else if home, err := os.UserHomeDir(); err == nil {
		more := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
		files = append(files, filepath.Join(more, "git", "config"), filepath.Join(home, ".gitconfig"))
	}
	user, own, includes := map[string]string{}, map[string]string{}, false
	c := Call{}
	if r, err := findRepository(folder); err == nil && r != nil {
		c.Repository = r.dir
		if text, err := durable.ReadPath(filepath.Join(r.common, "config"), maxText); err == nil {
			readUser(string(text), own)
		}
	}
	for _, file := range files {
		if text, err := durable.ReadPath(file, maxText); err == nil { // else it says nothing about them
			includes = readUser(string(text), user) || includes
		}
	}
	isMissing := cmp.Or(own["name"], user["name"]) == "" || cmp.Or(own["email"], user["email"]) == ""
	if includes || isMissing {
		c.addUser(user)
	}
	maps.Copy(user, own)
	name, address := strings.TrimSpace(user["name"]), strings.TrimSpace(user["email"])
	if name == "" {
		return ""
	}
	if address != "" {
		name += " <" + address + ">"
	}
	return visible.Cut(visible.Line(name), maxIdentity, "…")
}

// addUser takes over the entries of the section "user" of the settings that git has of the machine and of the person.
// Without git there are none.
func (c Call) addUser(user map[string]string) {
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	for _, scope := range []string{"--system", "--global"} {
		all, err := c.listSettings(ctx, scope)
		for _, s := range all {
			if key, ok := strings.CutPrefix(s.key, "user."); ok && err == nil {
				user[key] = s.value
			}
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
