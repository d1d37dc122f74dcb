package mcpserver

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// Model is a language model that the person has set up for delegated tasks.
type Model interface {
	// Complete answers a message under a system prompt, in at most so many tokens. model is its name.
	Complete(ctx context.Context, system, message string, tokens int) (text, model string, err error)
}

// memoryTools serves the tools of the project memory.
type memoryTools struct {
	projectTools
	memory *memory.Memory
	model  Model
}

// memoryCall is one call of these tools, in the project that it is for.
type memoryCall struct {
	*toolCall
	project *project.Project
	book    *memory.Book
}

// memoryHandler answers a call, as a toolHandler does.
type memoryHandler func(ctx context.Context, c *memoryCall) (any, error)

// fitting returns a result without the last entries of a list in it, as many as do not fit.
func fitting[T, E any](found *T, list *[]E) T {
	for len(*list) > 0 {
		if data, err := method.Encode(found); err != nil || len(data) <= reply.Max {
			break
		}
		*list = (*list)[:len(*list)-1]
	}
	return *found
}
