package mcpserver

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// Model is a language model set up by the person for delegated tasks.
type Model interface {
	// Complete answers a message under a system prompt, in at most so many tokens. model is the name of the
	// model.
	Complete(ctx context.Context, system, message string, tokens int) (text, model string, err error)
}

// Remote gives a text to the agent of another server with the card at an address, if the person has allowed it in the
// project, and waits as long as hosts do: as a task, or as the answer to a task. Without a text it looks at the task again.
type Remote func(ctx context.Context, project, url, taskID, text string) (RemoteAnswer, error)

// RemoteAnswer is the state of a task: answered, needs_answer with the question as text, or working.
type RemoteAnswer struct {
	Status, Agent, TaskID, Text string
	// Artifacts are the names of documents, which Text has too.
	Artifacts []string
}

// memoryTools serves the tools of the project memory.
type memoryTools struct {
	projectTools
	memory *memory.Memory
	model  Model
	remote Remote
}

// memoryCall is one call of a tool of memoryTools, with the project opened.
type memoryCall struct {
	*toolCall
	project *project.Project
	book    *memory.Book
}

// memoryHandler answers a memoryCall, as a toolHandler answers a toolCall.
type memoryHandler func(ctx context.Context, c *memoryCall) (any, error)

// cutList returns a result without the last entries of a list in it, until it fits into a reply.
func cutList[T, E any](found *T, list *[]E) T {
	for len(*list) > 0 {
		if data, err := method.Encode(found); err != nil || len(data) <= reply.Max {
			break
		}
		*list = (*list)[:len(*list)-1]
	}
	return *found
}
