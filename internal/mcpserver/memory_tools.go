package mcpserver

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/arguments"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// memoryDefinitions has the descriptions and schemas of the toolset memory. A model reads all of
// them with every conversation: they have nothing that it can do without.
//
//go:embed memory_tools.json
var memoryDefinitions []byte

// memoryTool is one of the tools.
type memoryTool struct {
	name      string
	arguments []string
	example   string
	// writes is true if the project is changed by it.
	writes bool
	handle memoryHandler
}

// rows returns the tools, in the order of their list.
func (m memoryTools) rows() []memoryTool {
	return []memoryTool{
		{name: "get_project_context", arguments: []string{"section"}, example: `{"section": "stack"}`, handle: m.projectContext},
		{name: "get_agent_memory", arguments: []string{"agent", "query", "last_n"}, example: `{"agent": "dev"}`, handle: m.agent},
		{name: "run_completion_contract", arguments: []string{"stack", "working_dir"}, example: `{"stack": "auto"}`, writes: true, handle: m.check},
		{name: "get_workflow_status", arguments: []string{"run_id", "branch"}, example: `{"branch": "main"}`, handle: m.run},
		{name: "list_sessions", arguments: []string{"status", "cursor"}, example: `{"status": "active"}`, handle: m.sessions},
		{name: "get_failure_museum", arguments: []string{"category", "query", "top_n"}, example: `{"category": "all"}`, handle: m.failures},
		{name: "spawn_subagent_task", arguments: []string{"agent", "task", "context_files", "output_key", "run_id"}, writes: true, handle: m.spawn,
			example: `{"agent": "qa", "task": "write tests for the parser", "output_key": "parser-tests"}`},
		{name: "remember_structured", arguments: []string{"type", "agent", "text", "tags"}, writes: true, handle: m.remember,
			example: `{"type": "decisions", "agent": "architect", "text": "we keep sessions in PostgreSQL"}`},
		{name: "recall_structured", arguments: []string{"query", "type", "agent", "limit"}, example: `{"query": "where do sessions live?"}`, handle: m.recall},
		{name: DelegateTool, arguments: []string{"agent_id", "task", "context", "max_tokens"},
			example: `{"agent_id": "architect", "task": "review this design"}`, handle: m.delegate},
	}
}

// all returns the tools as they are offered.
func (m memoryTools) all() []tool {
	definitions := map[string]struct {
		Description string
		Reads       bool
		Schema      json.RawMessage
	}{}
	offered := m.offer.memory()
	if offered {
		if err := json.Unmarshal(memoryDefinitions, &definitions); err != nil {
			panic(err) // it is part of the program
		}
	}
	var out []tool
	for _, row := range m.rows() {
		if !offered { // only its name is taken
			out = append(out, tool{toolset: config.ToolsetMemory, name: row.name})
			continue
		}
		d := definitions[row.name]
		args := memoryTable(row.arguments, row.example, d.Schema)
		out = append(out, tool{toolset: config.ToolsetMemory, name: row.name, description: d.Description, schema: d.Schema, reads: d.Reads, lean: true,
			handle: func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return m.serve(ctx, call, args, row), nil
			}})
	}
	return out
}

// serve answers one call.
func (m memoryTools) serve(ctx context.Context, call mcp.CallToolRequest, args arguments.Set[memoryArguments], row memoryTool) *mcp.CallToolResult {
	given, err := args.Decode(rawArguments(call))
	if err != nil {
		return m.callers.refuseCall(ctx, call, err)
	}
	c := &memoryCall{memoryArguments: given, call: call, request: m.callers.request(ctx)}
	c.request.Cwd = given.cwd
	if row.writes {
		c.request.Action = workflow.ActionStart // a folder of several projects has no memory of its own
	}
	if c.sample = m.callers.readSample(ctx, call); c.sample != nil && c.sample.asked != nil {
		c.request.Cwd = c.sample.asked.cwd // as for the question
	}
	if ask := m.callers.place(ctx, call, &c.request); ask != nil {
		return ask
	}
	out, err := m.answer(ctx, c, row.handle)
	if err != nil {
		m.log.Info("refused", "tool", call.Params.Name, "error", err)
		return m.callers.refuse(ctx, c.request, err)
	}
	if row.writes {
		m.changed()
	}
	if result, asks := out.(*mcp.CallToolResult); asks {
		return result
	}
	data, err := library.Encode(out)
	if err == nil && len(data) > reply.Max {
		err = fault.New(fault.InvalidArgument, "the answer has %d bytes; a reply has at most %d", len(data), reply.Max).
			WithHint("ask for less, such as a smaller limit, last_n or top_n")
	}
	if err != nil {
		return m.callers.refuse(ctx, c.request, err)
	}
	return mcp.NewToolResultText(string(data))
}
