package mcpserver

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/arguments"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/contract"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// memoryDefinitions has the tools of the toolset memory. A model reads all descriptions and schemas with
// every conversation: they have nothing that it can do without. The arguments are in the order in which
// they are read.
//
//go:embed memory_tools.json
var memoryDefinitions []byte

// memoryTool is one of the tools, but for its handler.
type memoryTool struct {
	Description string
	Schema      json.RawMessage
	Arguments   []string
	Example     string
	// Reads is true if nothing at all is changed, Writes if the project is.
	Reads, Writes bool
}

// handlers returns the handlers of the tools, by name.
func (m memoryTools) handlers() map[string]memoryHandler {
	return map[string]memoryHandler{
		"get_project_context": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.Context(ctx, c.section)
		},
		"get_agent_memory": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.Agent(ctx, c.agent, c.query, c.count)
		},
		"run_completion_contract": func(ctx context.Context, c *memoryCall) (any, error) {
			return m.contract.Run(ctx, c.project, contract.Call{Stack: c.stack, Dir: c.folder}, telling(ctx, c.call))
		},
		"get_workflow_status": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.Run(ctx, c.run, c.branch)
		},
		"list_sessions": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.Sessions(ctx, c.status, c.cursor)
		},
		"get_failure_museum": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.Failures(ctx, c.category, c.query, c.count)
		},
		"spawn_subagent_task": func(ctx context.Context, c *memoryCall) (any, error) {
			q, err := c.book.Queue()
			if err != nil {
				return nil, err
			}
			return q.Add(ctx, queue.Draft{RunID: c.run, Agent: c.agent, Task: c.task, OutputKey: c.output, ContextFiles: c.list, By: c.request.By})
		},
		"remember_structured": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.Remember(ctx, notes.Note{Type: notes.Type(c.kind), Agent: c.agent, Text: c.text, Tags: c.list, By: c.request.By})
		},
		"recall_structured": func(ctx context.Context, c *memoryCall) (any, error) {
			out, err := c.book.Recall(ctx, memory.Query{Text: c.query, Type: notes.Type(c.kind), Agent: c.agent, Limit: c.count})
			return fitting(&out, &out.Results), err
		},
		DelegateTool: m.delegate,
	}
}

// all returns the tools as they are offered.
func (m memoryTools) all() []tool {
	var definitions map[string]memoryTool
	if err := json.Unmarshal(memoryDefinitions, &definitions); err != nil {
		panic(err) // it is part of the program
	}
	var out []tool
	for name, handle := range m.handlers() {
		d := definitions[name]
		args := arguments.Pick(memoryFields, d.Schema, d.Example, append(d.Arguments, "cwd")...)
		out = append(out, tool{toolset: config.ToolsetMemory, name: name, description: d.Description, schema: d.Schema, reads: d.Reads, lean: true,
			handle: func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return m.serve(ctx, call, args, d.Writes, handle), nil
			}})
	}
	return out
}

// serve answers one call.
func (m memoryTools) serve(ctx context.Context, call mcp.CallToolRequest, args arguments.Set[memoryArguments], writes bool, handle memoryHandler) *mcp.CallToolResult {
	given, err := args.Decode(rawArguments(call))
	if err != nil {
		return m.refuseCall(ctx, call, err)
	}
	c := &memoryCall{memoryArguments: given, call: call, request: m.request(ctx)}
	c.request.Cwd = given.cwd
	if writes {
		c.request.Action = workflow.ActionStart // a folder of several projects has no memory of its own
	}
	if c.sample = m.readSample(ctx, call); c.sample != nil && c.sample.asked != nil {
		c.request.Cwd = c.sample.asked.cwd // as for the question
	}
	if ask := m.place(ctx, call, &c.request); ask != nil {
		return ask
	}
	out, err := m.answer(ctx, c, handle)
	if err != nil {
		m.log.Info("refused", "tool", call.Params.Name, "error", err)
		return m.refuse(ctx, c.request, err)
	}
	if writes {
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
		return m.refuse(ctx, c.request, err)
	}
	return mcp.NewToolResultText(string(data))
}
