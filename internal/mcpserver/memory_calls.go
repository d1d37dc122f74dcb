package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/contract"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
)

// Model is a language model that the person has set up for delegated tasks.
type Model interface {
	// Complete answers a message under a system prompt, in at most so many tokens. model is its name.
	Complete(ctx context.Context, system, message string, tokens int) (text, model string, err error)
}

// memoryTools serves the tools of the project memory.
type memoryTools struct {
	*callers
	offer    *offer
	memory   *memory.Memory
	contract *contract.Runner
	model    Model
	// changed is called when a call may have changed something.
	changed func()
}

// memoryCall is one call of these tools, in the project that it is for.
type memoryCall struct {
	memoryArguments
	call    mcp.CallToolRequest
	request request.Request
	project *project.Project
	book    *memory.Book
	// sample is the answer of the host's model that the call brings, if any.
	sample *sample
}

// memoryHandler answers a call with a value, which is encoded as JSON, or with a result.
type memoryHandler func(ctx context.Context, c *memoryCall) (any, error)

// answer opens the project of a call and answers it.
func (m memoryTools) answer(ctx context.Context, c *memoryCall, handle memoryHandler) (any, error) {
	p, err := m.engine.Projects().At(c.request.Address)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	c.project, c.book = p, m.memory.Of(p)
	if err := c.book.Usable(); err != nil {
		return nil, err
	}
	return handle(ctx, c)
}

// remember keeps a note.
func (m memoryTools) remember(ctx context.Context, c *memoryCall) (any, error) {
	return c.book.Remember(ctx, notes.Draft{Type: notes.Type(c.kind), Agent: c.agent, Text: c.text, Tags: c.list, By: c.request.By})
}

// check runs the completion contract.
func (m memoryTools) check(ctx context.Context, c *memoryCall) (any, error) {
	return m.contract.Run(ctx, c.project, contract.Call{Stack: c.stack, Dir: c.folder}, telling(ctx, c.call))
}

// recall finds notes.
func (m memoryTools) recall(ctx context.Context, c *memoryCall) (any, error) {
	out, err := c.book.Recall(ctx, memory.Query{Text: c.query, Type: notes.Type(c.kind), Agent: c.agent, Limit: c.count})
	return fitting(&out, &out.Results), err
}

func (m memoryTools) projectContext(ctx context.Context, c *memoryCall) (any, error) {
	return c.book.Context(ctx, c.section)
}

func (m memoryTools) agent(ctx context.Context, c *memoryCall) (any, error) {
	return c.book.Agent(ctx, c.agent, c.query, c.count)
}

func (m memoryTools) run(ctx context.Context, c *memoryCall) (any, error) {
	return c.book.Run(ctx, c.run, c.branch)
}

func (m memoryTools) sessions(ctx context.Context, c *memoryCall) (any, error) {
	return c.book.Sessions(ctx, c.status, c.cursor)
}

func (m memoryTools) failures(ctx context.Context, c *memoryCall) (any, error) {
	return c.book.Failures(ctx, c.category, c.query, c.count)
}

// spawn queues a task.
func (m memoryTools) spawn(ctx context.Context, c *memoryCall) (any, error) {
	q, err := c.book.Queue()
	if err != nil {
		return nil, err
	}
	return q.Add(ctx, queue.Draft{RunID: c.run, Agent: c.agent, Task: c.task, OutputKey: c.output, ContextFiles: c.list, By: c.request.By})
}

// fitting returns a result without the last entries of a list in it, as many as do not fit.
func fitting[T, E any](found *T, list *[]E) T {
	for len(*list) > 0 {
		if data, err := library.Encode(found); err != nil || len(data) <= reply.Max {
			break
		}
		*list = (*list)[:len(*list)-1]
	}
	return *found
}
