package config

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
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
	for _, name := range entries([]string{strings.ToLower(strings.Join(values, ","))}) {
		if !slices.Contains(Toolsets(), name) {
			return nil, lang.Errorf("toolsets: %q is not one of %s", name, strings.Join(Toolsets(), ", "))
		}
		out = append(out, Toolset(name))
	}
	if len(out) == 0 {
		return nil, lang.Errorf("toolsets is empty; name one or more of %s", strings.Join(Toolsets(), ", "))
	}
	return out, nil
}

// entries returns the entries of a list, which may be separated by commas, each once.
func entries(values []string) []string {
	var out []string
	for _, value := range values {
		for entry := range strings.SplitSeq(value, ",") {
			if entry = strings.TrimSpace(entry); entry != "" && !slices.Contains(out, entry) {
				out = append(out, entry)
			}
		}
	}
	return out
}

// The values of personas.
const (
	// PersonasOwn gives the stages the program's own roles.
	PersonasOwn = "own"
	// PersonasBMAD gives them the agents of the installed method, if there are any.
	PersonasBMAD = "bmad"
)

// The values of replies.
const (
	RepliesFull = "full"
	// RepliesLean leaves out the keys whose values others have.
	RepliesLean = "lean"
)

func replyForms() []string { return []string{RepliesFull, RepliesLean} }
