package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// findTOML lists the servers of Codex's settings, which are tables below mcp_servers.
func findTOML(text []byte) ([]FoundEntry, error) {
	var settings struct {
		Servers map[string]FoundEntry `toml:"mcp_servers"`
	}
	var all struct {
		Servers map[string]map[string]any `toml:"mcp_servers"`
	}
	text = bytes.TrimPrefix(text, bom)
	err := toml.Unmarshal(text, &settings)
	if err == nil {
		err = toml.Unmarshal(text, &all)
	}
	if err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return nil, lang.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return nil, err
	}
	var out []FoundEntry
	for _, name := range slices.Sorted(maps.Keys(settings.Servers)) {
		e := settings.Servers[name]
		e.Name = name
		for key := range all.Servers[name] {
			e.More = e.More || isMore(key)
		}
		out = append(out, e)
	}
	return out, nil
}

// snippetTOML returns an entry as a table. A text in JSON is one in TOML too.
func snippetTOML(e Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[mcp_servers.%s]\ncommand = %s\n", e.Name, quoteText(e.Command))
	if len(e.Args) > 0 {
		fmt.Fprintf(&b, "args = %s\n", textList(e.Args))
	}
	if len(e.Pass) > 0 {
		fmt.Fprintf(&b, "env_vars = %s\n", textList(e.Pass))
	}
	return b.String()
}
