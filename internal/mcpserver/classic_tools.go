package mcpserver

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/arguments"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
)

// classicDefinitions has the tools of the toolset method-classic. The arguments are in the order in which they
// are read.
//
//go:embed classic_tools.json
var classicDefinitions []byte

// classicTools returns the tools of the toolset method-classic.
func (b bmadTools) classicTools() []tool {
	handlers := map[string]bmadHandler{
		"list_workflows": func(shelf *library.Snapshot, a bmadCall) (string, error) {
			return encode(shelf.Items(catalog.Workflow, a.category, a.module, a.cursor))
		},
		"get_workflow_details": func(shelf *library.Snapshot, a bmadCall) (string, error) {
			return encode(shelf.Details(catalog.Workflow, strings.TrimSpace(a.item)))
		},
		"execute_workflow": b.item((*library.Snapshot).Workflow),
		"list_tasks": func(shelf *library.Snapshot, a bmadCall) (string, error) {
			return encode(shelf.Items(catalog.Task, "", "", a.cursor))
		},
		"execute_task":  b.item((*library.Snapshot).Task),
		"get_knowledge": knowledge,
	}
	var definitions []struct {
		Name, Title, Description, Example string
		Arguments                         []string
		Schema                            json.RawMessage
	}
	if err := json.Unmarshal(classicDefinitions, &definitions); err != nil {
		panic(err) // it is part of the program
	}
	var out []tool
	for _, d := range definitions {
		args := arguments.Pick(bmadFields, d.Schema, d.Example, d.Arguments...)
		out = append(out, tool{toolset: config.ToolsetClassic, name: d.Name, title: d.Title, description: d.Description, schema: d.Schema, reads: true,
			handle: b.reading(args, handlers[d.Name])})
	}
	return out
}

func knowledge(shelf *library.Snapshot, a bmadCall) (string, error) {
	text, page, err := shelf.Knowledge(a.domain, a.cursor)
	if err != nil || text != "" {
		return text, err
	}
	return encode(page, nil)
}
