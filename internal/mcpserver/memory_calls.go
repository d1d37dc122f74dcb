package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/contract"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
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
