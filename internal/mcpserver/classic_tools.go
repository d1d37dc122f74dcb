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

// classicDefinitions has the descriptions and schemas of the toolset method-classic.
//
//go:embed classic_tools.json
var classicDefinitions []byte

// classicTools returns the tools of the toolset method-classic.
func (b bmadTools) classicTools() []tool {
	type row struct {
		arguments arguments.Set[bmadCall]
		handle    bmadHandler
	}
	list := func(table ...arguments.Argument[bmadCall]) arguments.Set[bmadCall] {
		return arguments.Set[bmadCall]{Table: append([]arguments.Argument[bmadCall]{cwdArgument}, append(table, cursorArgument)...), Example: "{}"}
	}
	const workflowExample, taskExample = `{"workflow_name": "create-prd"}`, `{"task_name": "shard-doc"}`
	rows := map[string]row{
		"list_workflows": {list(
			arguments.Argument[bmadCall]{Name: "category", Text: func(a *bmadCall) *string { return &a.category }},
			arguments.Argument[bmadCall]{Name: "module", Text: func(a *bmadCall) *string { return &a.module }},
		), func(shelf *library.Snapshot, a bmadCall) (string, error) {
			return encode(shelf.Items(catalog.Workflow, a.category, a.module, a.cursor))
		}},
		"get_workflow_details": {itemArguments("workflow_name", workflowExample, ""), func(shelf *library.Snapshot, a bmadCall) (string, error) {
			return encode(shelf.Details(catalog.Workflow, strings.TrimSpace(a.item)))
		}},
		"execute_workflow": {itemArguments("workflow_name", workflowExample, "params"), b.item((*library.Snapshot).Workflow)},
		"list_tasks": {list(), func(shelf *library.Snapshot, a bmadCall) (string, error) {
			return encode(shelf.Items(catalog.Task, "", "", a.cursor))
		}},
		"execute_task":  {itemArguments("task_name", taskExample, "params"), b.item((*library.Snapshot).Task)},
		"get_knowledge": {list(arguments.Argument[bmadCall]{Name: "domain", Text: func(a *bmadCall) *string { return &a.domain }}), knowledge},
	}
	var definitions []struct {
		Name, Title, Description string
		Schema                   json.RawMessage
	}
	if err := json.Unmarshal(classicDefinitions, &definitions); err != nil {
		panic(err) // it is part of the program
	}
	var out []tool
	for _, d := range definitions {
		out = append(out, tool{toolset: config.ToolsetClassic, name: d.Name, title: d.Title, description: d.Description, schema: d.Schema, reads: true,
			handle: b.reading(rows[d.Name].arguments.Of(d.Schema), rows[d.Name].handle)})
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
