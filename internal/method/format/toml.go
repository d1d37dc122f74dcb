package format

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// MaxDepth bounds the depth of nested tables, and so the stack for walking them.
const MaxDepth = 64

// Bounds on the keys and tables of a TOML text. The parser compares each key of a table with all
// before it: 280,000 of them take minutes. Of the method's own files, that of bmad-party-mode has
// most, 80; the configuration has some for each agent.
const (
	maxSkillKeys   = 2000
	MaxCentralKeys = 20000
)

// ParseTOML reads a TOML text with at most a number of keys.
func ParseTOML(text string, most int) (map[string]any, error) {
	if n := strings.Count(text, "=") + strings.Count(text, "\n["); n > most {
		return map[string]any{}, lang.Errorf("it has about %d keys and tables; at most %d are read", n, most)
	}
	out := map[string]any{}
	err := toml.Unmarshal([]byte(text), &out)
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		return map[string]any{}, lang.Errorf("line %d, column %d: %w", line, column, err)
	}
	if err != nil {
		return map[string]any{}, err
	}
	if isDeeper(out, MaxDepth) {
		return map[string]any{}, lang.Errorf("its tables are nested more than %d deep", MaxDepth)
	}
	return out, nil
}

// MaxKeys returns the greatest number of keys in a file of settings.
func MaxKeys(name string) int {
	if base := path.Base(name); base == "config.toml" || base == "config.user.toml" {
		return MaxCentralKeys
	}
	return maxSkillKeys
}

// isDeeper reports whether tables and lists are nested deeper than a number of levels.
func isDeeper(v any, levels int) bool {
	items, _ := v.([]any)
	if table, ok := v.(map[string]any); ok {
		items = slices.Collect(maps.Values(table))
	}
	return levels == 0 || slices.ContainsFunc(items, func(item any) bool { return isDeeper(item, levels-1) })
}

// MergeLayers merges layers of settings, the later over the earlier, by the method's own rules
// (config_utils.py of 6.12): tables merge key by key, plain values replace, lists of tables with a code in
// each, or else an id, merge by it, and every other list is lengthened.
func MergeLayers(layers ...map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, layer := range layers {
		merged, err := mergeTables(out, layer)
		if err != nil {
			return nil, err
		}
		out = merged
	}
	return out, nil
}

func mergeTables(base, over map[string]any) (map[string]any, error) {
	out := maps.Clone(base)
	for key, value := range over {
		before, known := out[key]
		if !known {
			out[key] = value
			continue
		}
		merged, err := mergeValues(before, value)
		if err != nil {
			return nil, lang.Errorf("%s: %w", key, err)
		}
		out[key] = merged
	}
	return out, nil
}

func mergeValues(base, over any) (any, error) {
	if a, ok := base.(map[string]any); ok {
		if b, ok := over.(map[string]any); ok {
			return mergeTables(a, b)
		}
	}
	if a, ok := base.([]any); ok {
		if b, ok := over.([]any); ok {
			return mergeLists(a, b)
		}
	}
	return over, nil
}

func mergeLists(base, over []any) ([]any, error) {
	all := append(append([]any{}, base...), over...)
	key, err := identityKey(all)
	if err != nil || key == "" {
		return all, err
	}
	out := append([]any{}, base...)
	at := map[string]int{}
	name := func(item any) string { return item.(map[string]any)[key].(string) } // identity has checked
	for i, item := range base {
		at[name(item)] = i
	}
	for _, item := range over {
		if i, known := at[name(item)]; known {
			out[i] = item
			continue
		}
		at[name(item)] = len(out)
		out = append(out, item)
	}
	return out, nil
}

// identityKey returns the key that identifies the tables of a list: code or id, whichever all of them have;
// "" if neither.
func identityKey(items []any) (string, error) {
	if len(items) == 0 {
		return "", nil
	}
	for _, key := range []string{"code", "id"} {
		if slices.ContainsFunc(items, func(item any) bool {
			table, _ := item.(map[string]any)
			_, there := table[key]
			return !there
		}) {
			continue
		}
		for _, item := range items {
			if v, ok := item.(map[string]any)[key].(string); !ok || v == "" {
				return "", lang.Errorf("the key %q of each of its tables has to be text that is not empty", key)
			}
		}
		return key, nil
	}
	return "", nil
}
