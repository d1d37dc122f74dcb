package mcpserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

// property is an argument in the schema of a tool.
type property struct {
	Type, Description string
	Enum              []string
}

// TestReference keeps the page with every tool and its arguments.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Tools\n\nThe tools of the server, as an assistant sees them. The setting `toolsets` [selects them](../hosts.md).\n" +
		"An agent that is a tool of its own (`agents`) has the arguments of `bmad-agent` without its name.\n")
	all := allTools(tasks{}, methodTools{}, memoryTools{})
	slices.SortStableFunc(all, func(a, b tool) int {
		return cmp.Compare(slices.Index(config.Toolsets(), string(a.toolset)), slices.Index(config.Toolsets(), string(b.toolset)))
	})
	for i, tool := range all {
		if i == 0 || tool.toolset != all[i-1].toolset {
			fmt.Fprintf(&b, "\n## Toolset %s\n", tool.toolset)
		}
		fmt.Fprintf(&b, "\n### %s\n\n```text\n%s\n```\n\n", tool.name, strings.TrimSpace(tool.description))
		var schema struct {
			Properties map[string]property
			Required   []string
		}
		if err := json.Unmarshal(tool.schema, &schema); err != nil {
			t.Fatalf("%s: %v", tool.name, err)
		}
		if len(schema.Properties) == 0 {
			b.WriteString("No arguments.\n")
			continue
		}
		b.WriteString("| Argument | Type | About |\n|---|---|---|\n")
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			p, about := schema.Properties[name], []string{}
			if slices.Contains(schema.Required, name) {
				about = append(about, "required")
			}
			if p.Description != "" {
				about = append(about, strings.NewReplacer("|", `\|`, "<", `\<`, "\n", " ").Replace(p.Description))
			}
			if len(p.Enum) > 0 {
				about = append(about, "one of `"+strings.Join(p.Enum, "`, `")+"`")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, p.Type, strings.Join(about, "; "))
		}
	}
	golden.Check(t, filepath.Join("..", "..", "..", "docs", "reference", "tools.md"), b.String())
}
