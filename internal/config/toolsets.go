package config

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// Toolset is a group of tools that are offered together: each definition takes up some of the
// model's context.
type Toolset string

// The toolsets.
const (
	// ToolsetAuto is ToolsetTask, plus ToolsetMethod if an installation of the method is found.
	ToolsetAuto    Toolset = "auto"
	ToolsetTask    Toolset = "task"
	ToolsetMethod  Toolset = "method"
	ToolsetClassic Toolset = "method-classic"
	ToolsetAgents  Toolset = "agents"
	// ToolsetMemory has the tools of the project memory.
	ToolsetMemory Toolset = "memory"
)

// Toolsets returns the names of the toolsets.
func Toolsets() []string {
	return []string{string(ToolsetAuto), string(ToolsetTask), string(ToolsetMethod), string(ToolsetClassic), string(ToolsetAgents), string(ToolsetMemory)}
}

// ParseToolsets reads a list of toolsets, which may be separated by commas.
func ParseToolsets(values []string) ([]Toolset, error) {
	var out []Toolset
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if name == "" {
				continue
			}
			if !slices.Contains(Toolsets(), name) {
				return nil, lang.Errorf("toolsets: %q is not one of %s", name, strings.Join(Toolsets(), ", "))
			}
			if t := Toolset(name); !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	if len(out) == 0 {
		return nil, lang.Errorf("toolsets is empty; name one or more of %s", strings.Join(Toolsets(), ", "))
	}
	return out, nil
}

// The values of personas.
const (
	// PersonasOwn gives the stages the program's own roles.
	PersonasOwn = "own"
	// PersonasBMAD gives them the agents of the installed method, if there are any.
	PersonasBMAD = "bmad"
)

// maxSources bounds the git repositories of one setting.
const maxSources = 20

// setMethod applies a setting of the method.
func (c *Config) setMethod(key string, values []string) error {
	if key == "toolsets" {
		list, err := ParseToolsets(values)
		switch {
		case err != nil:
			return err
		case c.from == own: // a repository could remove the gates, and put its own text before the model
			c.ignoreBecause(lang.T("%s %s", key, strings.Join(values, ", ")), lang.T("only the person decides which tools are offered"))
		default:
			c.Toolsets = list
		}
		return nil
	}
	var list []string
	for _, value := range values {
		for source := range strings.SplitSeq(value, ",") {
			if source = strings.TrimSpace(source); source != "" && !slices.Contains(list, source) {
				list = append(list, source)
			}
		}
	}
	if len(list) > maxSources {
		return lang.Errorf("sources names %d repositories; at most %d are read", len(list), maxSources)
	}
	for n, source := range list {
		if _, err := gitsource.Parse(source); err != nil { // the address may contain a password, so it is not repeated
			return lang.Errorf("sources: number %d of %d: %w (%s)", n+1, len(list), err, fault.From(err).Advice())
		}
	}
	switch c.from {
	case own: // a repository that a project names counts once the person has allowed it
		c.OwnSources = list
	default:
		c.Sources = append(c.Sources, list...)
	}
	return nil
}
