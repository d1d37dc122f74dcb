package mcpserver

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/arguments"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
)

// allTools returns the table of the tools. Agents that are tools of their own are not in it: they
// differ from caller to caller.
func allTools(t tasks, b bmadTools, m memoryTools) []tool {
	return slices.Concat([]tool{
		{toolset: config.ToolsetTask, name: TaskTool, title: "BMAD workflow", description: taskDescription, schema: arguments.TaskSchema, handle: t.task},
		{toolset: config.ToolsetTask, name: ConfirmTool, title: "Decide at a BMAD gate", description: confirmDescription, schema: confirmSchema, asks: true, handle: t.confirm},
		{toolset: config.ToolsetMethod, name: ResourcesTool, title: "BMAD method: find and read", description: resourcesDescription, schema: resourcesSchema, reads: true,
			handle: b.reading(resourcesArguments, b.findOrRead)},
		{toolset: config.ToolsetMethod, name: WorkflowTool, title: "BMAD method: run a workflow", description: workflowDescription, schema: workflowSchema, reads: true,
			handle: b.reading(workflowArguments, b.item((*library.Snapshot).Workflow))},
		{toolset: config.ToolsetMethod, name: AgentTool, title: "BMAD method: act as an agent", description: agentDescription, schema: agentSchema, reads: true,
			handle: b.reading(agentArguments, b.item((*library.Snapshot).Agent))},
	}, b.classicTools(), m.all())
}
