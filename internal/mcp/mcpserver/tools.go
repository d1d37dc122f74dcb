package mcpserver

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// allTools returns the table of the tools. Tools of agents are not in it, because they differ from caller to
// caller.
func allTools(t tasks, b methodTools, m memoryTools) []tool {
	return slices.Concat([]tool{
		{toolset: config.ToolsetTask, name: TaskTool, title: "BMAD workflow",
			description: string(readEmbedded("task_description.md")), schema: request.TaskSchema, handle: t.task},
		{toolset: config.ToolsetTask, name: ConfirmTool, title: "Decide at a BMAD gate",
			description: string(readEmbedded("confirm_description.md")), schema: confirmSchema, asks: true, handle: t.callConfirm},
	}, b.allTools(), m.definedTools())
}
