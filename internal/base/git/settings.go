package git

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// setting is one of the settings of git.
type setting struct {
	// scope is system, global, local, worktree, or command for those in variables.
	scope      string
	key, value string
	isBare     bool // it has no value, which git takes for true
}

// isPersons reports whether a setting is in the files of the person or of the machine.
func (s setting) isPersons() bool { return s.scope == "system" || s.scope == "global" }

// ownSettings returns the person's settings for the view as a file of git, with the included ones whose conditions the
// repository meets and the view does not. It has no hooks.
func (d *desk) ownSettings() string {
	return settingsText(slices.DeleteFunc(slices.Clone(d.settings), func(s setting) bool {
		_, isHook := s.hookOf()
		isInclude := strings.HasPrefix(s.key, "include.") || strings.HasPrefix(s.key, "includeif.")
		return !s.isPersons() || isHook || isInclude
	}))
}

// ownSetting returns the person's value of a setting, by its key in git's lower case; "" if there is none.
func (d *desk) ownSetting(key string) (value string) {
	for _, s := range d.settings {
		if isTheirs := s.isPersons() || s.scope == "command"; isTheirs && s.key == key {
			value = s.value
		}
	}
	return value
}

// addToConfig adds settings to the configuration of the view.
func (d *desk) addToConfig(all []setting) error {
	before, err := durable.ReadPath(d.file("config"), maxText)
	if err != nil {
		return err
	}
	return os.WriteFile(d.file("config"), append(before, settingsText(all)...), 0o600)
}

// listSettings returns the settings that git has in a git directory, in git's order, with the included ones whose
// conditions are met; scope, if any, is the option of git for one kind of files. git runs nothing for that.
func (c Call) listSettings(ctx context.Context, scope ...string) ([]setting, error) {
	list, err := c.runForOutput(ctx, append([]string{"config", "--list", "--show-scope", "--includes", "-z"}, scope...)...)
	parts := strings.Split(list, "\x00")
	var out []setting
	for ; len(parts) > 1; parts = parts[2:] {
		key, value, hasValue := strings.Cut(parts[1], "\n")
		out = append(out, setting{scope: parts[0], key: key, value: value, isBare: !hasValue})
	}
	return out, err
}

// hookOf returns the name of the hook that a setting configures. Git runs such hooks since 2.54, wherever core.hooksPath
// leads.
func (s setting) hookOf() (name string, ok bool) {
	name, ok = strings.CutPrefix(s.key[:max(0, strings.LastIndexByte(s.key, '.'))], "hook.")
	return name, ok
}

// withoutHooks returns settings that turn off each hook in a list of settings, as pairs of key and value.
func withoutHooks(all []setting) []string {
	var out []string
	known := map[string]bool{}
	for _, s := range all {
		if name, ok := s.hookOf(); ok && !known[name] {
			known[name] = true
			out = append(out, "hook."+name+".enabled", "false")
		}
	}
	return out
}

// settingsText returns settings as a file of git.
func settingsText(all []setting) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	quoteValue := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
	var out strings.Builder
	for _, s := range all {
		first, last := strings.IndexByte(s.key, '.'), strings.LastIndexByte(s.key, '.')
		if first < 0 {
			continue // no file of git has one without a section
		}
		section := s.key[:first]
		if first < last {
			section += ` "` + quote.Replace(s.key[first+1:last]) + `"`
		}
		out.WriteString("[" + section + "]\n\t" + s.key[last+1:])
		if !s.isBare {
			out.WriteString(` = "` + quoteValue.Replace(s.value) + `"`)
		}
		out.WriteString("\n")
	}
	return out.String()
}
