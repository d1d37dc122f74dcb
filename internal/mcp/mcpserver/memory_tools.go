package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// handlers returns the handlers of the tools, by name.
func (m memoryTools) handlers() map[string]memoryHandler {
	return map[string]memoryHandler{
		"get_project_context": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.Context(ctx, c.Text("section"))
		},
		"get_agent_memory": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.Agent(ctx, c.Text("agent"), c.Text("query"), c.Count("last_n"))
		},
		"run_completion_contract": func(ctx context.Context, c *memoryCall) (any, error) {
			return m.engine.CheckContract(ctx, c.project, engine.ContractCall{Stack: c.Text("stack"), Dir: c.Text("working_dir")}, noticeSender(ctx, c.call))
		},
		"get_workflow_status": func(ctx context.Context, c *memoryCall) (any, error) {
			out, err := c.book.Run(ctx, c.Text("run_id"), c.Text("branch"))
			if err == nil {
				row := []memory.SessionRow{out.Run.SessionRow}
				err = m.checkRuns(ctx, c.project, row)
				out.Run.SessionRow = row[0]
			}
			return out, err
		},
		"list_sessions": func(ctx context.Context, c *memoryCall) (any, error) {
			out, err := c.book.Sessions(ctx, c.Text("status"), c.Text("cursor"))
			if err == nil {
				err = m.checkRuns(ctx, c.project, out.Sessions)
			}
			return out, err
		},
		"get_failure_museum": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.Failures(ctx, c.Text("category"), c.Text("query"), c.Count("top_n"))
		},
		"spawn_subagent_task": func(ctx context.Context, c *memoryCall) (any, error) {
			q, err := c.book.Queue()
			if err != nil {
				return nil, err
			}
			files := c.List("context_files")
			if _, isMessage := c.call.Params.Arguments.(handedTask); isMessage { // the text names the missing ones
				files = slices.DeleteFunc(files, func(name string) bool { return !c.project.Dir.Exists(c.project.Local(name)) })
			}
			return q.Add(ctx, queue.Draft{
				RunID: c.Text("run_id"), Agent: c.Text("agent"), Task: c.Text("task"), OutputKey: c.Text("output_key"),
				ContextFiles: files, By: c.request.By,
			})
		},
		"remember_structured": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.Remember(ctx, notes.Note{
				Type: notes.Type(c.Text("type")), Agent: c.Text("agent"), Text: c.Text("text"), Tags: c.List("tags"),
				By: c.request.By,
			})
		},
		"recall_structured": func(ctx context.Context, c *memoryCall) (any, error) {
			out, err := c.book.Recall(ctx, memory.Query{
				Text: c.Text("query"), Type: notes.Type(c.Text("type")), Agent: c.Text("agent"), Limit: c.Count("limit"),
			})
			return cutList(&out, &out.Results), err
		},
		"create_delivery_contract": func(ctx context.Context, c *memoryCall) (any, error) {
			at := c.request.Address
			at.Session = c.Text("session_id")
			return m.engine.Deliver(ctx, at, engine.Handover{FromTeam: c.Text("from_team"), ToTeam: c.Text("to_team"), Path: c.Text("path")})
		},
		"search_codebase": func(ctx context.Context, c *memoryCall) (any, error) {
			return c.book.SearchCode(ctx, memory.CodeQuery{Text: c.Text("query"), Path: c.Text("path"), Limit: c.Count("limit"), MaxBytes: c.Count("max_bytes")})
		},
		DelegateTool: m.delegate,
	}
}

// handedTask replaces the arguments of a call that hands over a message between agents.
type handedTask struct {
	queue.Draft
	Cwd string `json:"cwd,omitempty"`
}

// takeMessages has a tool take a message between agents in place of its arguments, or of the task in them.
func takeMessages(handle server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw := rawArguments(call)
		var given struct {
			handedTask
			Task any `json:"task"`
		}
		_ = json.Unmarshal(raw, &given) // other arguments are refused later
		text, isText := given.Task.(string)
		if !isText { // the task of a message is an object
			text = string(raw)
		}
		if d, isMessage := queue.ReadMessage(text); isMessage {
			d.Agent, d.OutputKey, d.RunID = cmp.Or(given.Agent, d.Agent), cmp.Or(given.OutputKey, d.OutputKey), cmp.Or(given.RunID, d.RunID)
			call.Params.Arguments, call.Params.RawArguments = handedTask{d, given.Cwd}, nil
		}
		return handle(ctx, call)
	}
}

// definedTools returns the tools of the toolset memory.
func (m memoryTools) definedTools() (out []tool) {
	handlers := m.handlers()
	for _, d := range definitionsIn("memory_tools.json") {
		args := request.ArgumentsOf(d.Schema, d.Example, mostOf, append(d.Arguments, "cwd")...)
		t := m.newTool(config.ToolsetMemory, d, args, m.withProject(handlers[d.Name]))
		if d.Name == "spawn_subagent_task" {
			t.handle = takeMessages(t.handle)
		}
		out = append(out, t)
	}
	return out
}

// withProject calls a handler with the project of the call opened.
func (m memoryTools) withProject(handle memoryHandler) toolHandler {
	return func(ctx context.Context, c *toolCall) (any, error) {
		p, err := m.engine.Projects().At(c.request.Address)
		if err != nil {
			return nil, err
		}
		defer p.Close()
		book := m.memory.Of(p)
		if err := book.Usable(); err != nil {
			return nil, err
		}
		out, err := handle(ctx, &memoryCall{c, p, book})
		if _, asks := out.(*mcp.CallToolResult); asks || err != nil {
			return out, err
		}
		data, err := method.Encode(out)
		if err == nil && len(data) > reply.Max {
			err = fault.New(fault.InvalidArgument, "the answer has %d bytes; a reply has at most %d", len(data), reply.Max).
				WithHint("ask for less, such as a smaller limit, last_n or top_n")
		}
		return string(data), err
	}
}

// checkRuns notes in the rows of sessions what a check of them finds.
func (m memoryTools) checkRuns(ctx context.Context, p *project.Project, rows []memory.SessionRow) error {
	sessions := make([]workflow.Summary, len(rows)) // nothing is found of the runs of a kit
	for i, r := range rows {
		sessions[i] = workflow.Summary{SessionID: r.ID, CurrentState: workflow.State(r.Status)}
	}
	found, err := m.engine.Changed(ctx, project.Address{Cwd: p.Dir.Path()}, sessions, false)
	for i := range rows {
		v := found[rows[i].ID]
		if rows[i].Altered = len(v.Altered) > 0; !v.Sound() {
			rows[i].Integrity = string(v.Status)
		}
	}
	return err
}
