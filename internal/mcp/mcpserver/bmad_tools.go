package mcpserver

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// methodTools serves the tools of the BMAD method.
type methodTools struct{ projectTools }

// methodHandler answers a call from the shelf of its project.
type methodHandler func(shelf *method.Snapshot, v request.Values) (any, error)

// methodDefinitions returns the definitions of the toolset method.
func methodDefinitions() []definition {
	about := func(name, title, files, example string, args ...string) definition {
		return definition{
			Name: name, Title: title, Description: string(readEmbedded(files + "_description.md")),
			Schema: readEmbedded(files + "_schema.json"), Example: example, Arguments: append([]string{"cwd"}, args...), Reads: true,
		}
	}
	return []definition{
		about(ResourcesTool, "BMAD method: find and read", "resources", `{"operation": "agents"}`,
			"operation", "uri", "pattern", "query", "type", "module", "cursor"),
		about(WorkflowTool, "BMAD method: run a workflow", "workflow", `{"workflow": "create-prd"}`,
			"workflow", "context"),
		about(AgentTool, "BMAD method: act as an agent", "agent",
			`{"agent": "analyst", "message": "help me think through an idea"}`, "agent", "message"),
	}
}

// allTools returns the tools of the toolsets method and method-classic.
func (m methodTools) allTools() (out []tool) {
	handlers := map[string]methodHandler{
		ResourcesTool: m.findOrRead,
		WorkflowTool:  m.documentHandler((*method.Snapshot).Workflow),
		AgentTool:     m.documentHandler((*method.Snapshot).Agent),

		"list_workflows": func(shelf *method.Snapshot, v request.Values) (any, error) {
			return shelf.Items(catalog.Workflow, v.Text("category"), v.Text("module"), v.Text("cursor"))
		},
		"get_workflow_details": func(shelf *method.Snapshot, v request.Values) (any, error) {
			return shelf.Details(catalog.Workflow, strings.TrimSpace(v.Text("workflow_name")))
		},
		"execute_workflow": m.documentHandler((*method.Snapshot).Workflow),
		"list_tasks": func(shelf *method.Snapshot, v request.Values) (any, error) {
			return shelf.Items(catalog.Task, "", "", v.Text("cursor"))
		},
		"execute_task": m.documentHandler((*method.Snapshot).Task),
		"get_knowledge": func(shelf *method.Snapshot, v request.Values) (any, error) {
			text, page, err := shelf.Knowledge(v.Text("domain"), v.Text("cursor"))
			if text != "" {
				return text, err
			}
			return page, err
		},
	}
	for toolset, definitions := range map[config.Toolset][]definition{
		config.ToolsetMethod: methodDefinitions(), config.ToolsetClassic: definitionsIn("classic_tools.json"),
	} {
		for _, d := range definitions {
			out = append(out, m.newTool(toolset, d, d.methodArguments(), m.withShelf(handlers[d.Name])))
		}
	}
	return out
}

// withShelf calls a handler with the shelf of the call's project.
func (m methodTools) withShelf(handle methodHandler) toolHandler {
	return func(ctx context.Context, c *toolCall) (any, error) {
		shelf, err := m.offer.shelfOf(c.request)
		if err != nil {
			return nil, err
		}
		return handle(shelf.Speaking(func() lang.Language { return m.engine.Language(ctx, c.request) }), c.Values)
	}
}

// wordsArguments are the arguments that may be a text, an object or a list. All are read as a text.
var wordsArguments = []string{"context", "message", "params"}

// methodArguments returns the arguments of a tool of the method.
func (d definition) methodArguments() request.Arguments[request.Values] {
	out := request.ArgumentsOf(d.Schema, d.Example, nil, d.Arguments...)
	for i, known := range out.Table {
		if slices.Contains(wordsArguments, known.Name) {
			out.Table[i].Read = func(to *request.Values, raw json.RawMessage) error {
				var words string
				err := request.ReadDocument(&words, raw)
				if words != "{}" {
					to.Set(known.Name, words)
				}
				return err
			}
		}
	}
	return out
}

// itemDocument returns the document of an item, with the person's words about it.
type itemDocument func(shelf *method.Snapshot, name, words string, w method.ToolNames) (string, error)

// documentHandler answers with the document of an item.
func (m methodTools) documentHandler(document itemDocument) methodHandler {
	return func(shelf *method.Snapshot, v request.Values) (any, error) {
		name := strings.TrimSpace(v.Text("workflow", "workflow_name", "agent", "task_name"))
		return document(shelf, name, v.Text(wordsArguments...), m.offer.toolNames(v.Text("cwd")))
	}
}

// itemKinds are the operations of bmad-resources for lists of items, and the types for search.
var itemKinds = map[string]catalog.Kind{"agents": catalog.Agent, "workflows": catalog.Workflow, "tasks": catalog.Task}

// operations are the operations of bmad-resources.
var operations = []string{"read", "list", "modules", "agents", "workflows", "tasks", "search"}

// argumentsOf are the arguments of each operation, besides the project's folder.
var argumentsOf = map[string][]string{
	"read": {"uri"}, "list": {"pattern", "cursor"}, "modules": {"cursor"},
	"agents": {"module", "cursor"}, "workflows": {"module", "cursor"}, "tasks": {"module", "cursor"}, "search": {"query", "type", "module", "cursor"},
}

// checkOperation refuses an argument that an operation would ignore.
func checkOperation(operation string, v request.Values) error {
	takes, known := argumentsOf[operation]
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if known && name != "operation" && name != "cwd" && !slices.Contains(takes, name) && v.Text(name) != "" && v.Text(name) != "all" {
			return fault.New(fault.InvalidArgument, "the operation %s does not take %s", operation, name).WithHint("its arguments are: %s", strings.Join(takes, ", "))
		}
	}
	return nil
}

func (m methodTools) findOrRead(shelf *method.Snapshot, v request.Values) (any, error) {
	operation, cursor := strings.TrimSpace(v.Text("operation")), v.Text("cursor")
	if err := checkOperation(operation, v); err != nil {
		return nil, err
	}
	switch operation {
	case "read":
		if strings.TrimSpace(v.Text("uri")) == "" {
			return nil, fault.New(fault.InvalidArgument, "uri is missing").WithHint(`pass the address of a file, such as {"operation": "read", "uri": "bmad://config/current"}`)
		}
		return m.readText(shelf, v.Text("uri"), v.Text("cwd"))
	case "list":
		return shelf.Files(v.Text("pattern"), cursor)
	case "modules":
		return shelf.Modules(cursor)
	case "agents", "workflows", "tasks":
		page, err := shelf.Items(itemKinds[operation], "", v.Text("module"), cursor)
		return page.Brief(), err
	case "search":
		var kinds []catalog.Kind
		wanted := v.Text("type")
		if kind, ok := itemKinds[wanted]; ok {
			kinds = append(kinds, kind)
		} else if wanted != "" && wanted != "all" {
			return nil, fault.New(fault.InvalidArgument, "there is no type %q", clipText(wanted)).WithHint("the types are: agents, workflows, tasks, all")
		}
		page, err := shelf.Search(v.Text("query"), v.Text("module"), cursor, kinds...)
		for n := range page.Results {
			page.Results[n].Item = method.BriefItem(page.Results[n].Item)
		}
		return page, err
	default:
		return nil, fault.New(fault.InvalidArgument, "there is no operation %q", clipText(operation)).WithHint("the operations are: %s", strings.Join(operations, ", "))
	}
}

// readText returns a file as the text of a result, with nothing before it. A long file is cut, and the
// address of the rest follows.
func (m methodTools) readText(shelf *method.Snapshot, uri, cwd string) (string, error) {
	if ref, err := catalog.ParseRef(uri); err == nil && ref.Cwd != "" { // the address names the project
		if shelf, err = m.offer.shelfOf(request.Request{Address: project.Address{Cwd: ref.Cwd}}); err != nil {
			return "", err
		}
	}
	r, err := shelf.Read(uri, method.MaxReply-300)
	if err != nil {
		return "", err
	}
	if r.Next == "" {
		return string(r.Data), nil
	}
	next := r.Next
	if cwd != "" {
		next += " with the same cwd"
	}
	return string(r.Data) + "\n[this file goes on: read " + next + "]", nil
}
