package mcpserver

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// The tools of the toolset method.
const (
	ResourcesTool = "bmad-resources"
	WorkflowTool  = "bmad-workflow"
	AgentTool     = "bmad-agent"
)

// offer decides which toolsets a caller gets, and finds the shelf of the BMAD method that is
// theirs: the installations that count for their project.
type offer struct {
	engine   *engine.Engine
	library  *method.Library // nil: the method is not served
	toolsets []config.Toolset
	// hasMemory is true if the project memory can be served.
	hasMemory bool
	// sets has the toolset of each tool.
	sets map[string]config.Toolset
	// remote is true if only a call says which of several projects is meant.
	remote bool
	log    *slog.Logger
}

// asksFor reports whether a toolset was asked for by name.
func (o *offer) asksFor(toolset config.Toolset) bool { return slices.Contains(o.toolsets, toolset) }

// auto reports whether the toolsets follow from the installations that are found.
func (o *offer) auto() bool { return len(o.toolsets) == 0 || o.asksFor(config.ToolsetAuto) }

// wants reports whether one of some toolsets was asked for, or may follow from the installations.
func (o *offer) wants(toolsets ...config.Toolset) bool {
	return o.auto() || slices.ContainsFunc(toolsets, o.asksFor)
}

// task reports whether the tools and prompts of the workflow are offered.
func (o *offer) task() bool { return o.wants(config.ToolsetTask) }

// method reports whether the method is served at all: as tools, and with them as prompts and
// resources.
func (o *offer) method() bool {
	return o.library != nil && o.wants(config.ToolsetMethod, config.ToolsetClassic, config.ToolsetAgents)
}

// memory reports whether the project memory is served.
func (o *offer) memory() bool { return o.hasMemory && o.asksFor(config.ToolsetMemory) }

// has reports whether the server has the tools of a toolset.
func (o *offer) has(toolset config.Toolset) bool {
	switch toolset {
	case config.ToolsetTask:
		return true
	case config.ToolsetMemory:
		return o.memory()
	}
	return o.method() && (toolset == config.ToolsetMethod || o.asksFor(toolset))
}

// callable reports whether a tool that the server has may be called. One that is only not listed may be,
// and then names the missing installation.
func (o *offer) callable(tool string) bool {
	switch o.sets[tool] {
	case config.ToolsetTask:
		return o.task()
	case config.ToolsetMethod:
		return o.wants(config.ToolsetMethod, config.ToolsetAgents)
	}
	return true // the others are there because they were asked for
}

// shows reports whether a tool is listed for a caller with this shelf.
func (o *offer) shows(tool string, shelf *method.Snapshot) bool {
	toolset, ours := o.sets[tool]
	switch {
	case !ours || o.asksFor(toolset):
		return true
	case toolset == config.ToolsetTask:
		return o.auto()
	case toolset == config.ToolsetMethod:
		if tool != AgentTool && o.asksFor(config.ToolsetAgents) {
			return true
		}
		return o.auto() && o.mayHave(shelf)
	}
	return false
}

// mayHave reports whether a caller has an installation, or may have one in the project that a
// call of theirs names.
func (o *offer) mayHave(shelf *method.Snapshot) bool {
	return shelf != nil && (!shelf.Empty() || shelf.Project == "" && o.remote)
}

// shelf returns the shelf of a caller; nil if the method is not served.
func (o *offer) shelf(base request.Request) *method.Snapshot {
	shelf, err := o.shelfOf(base)
	if err != nil {
		o.log.Debug("nothing of the method is listed", "error", err)
	}
	return shelf
}

// shelfOf returns the same, or the problem with the project that the caller names. Without a
// name, and if the project cannot be known, it is the shelf of the person.
func (o *offer) shelfOf(base request.Request) (*method.Snapshot, error) {
	if !o.method() {
		return nil, nil
	}
	project, err := o.engine.Projects().Where(base.Address)
	if err != nil && base.Cwd != "" {
		return nil, err
	}
	return o.library.At(project), nil
}

// personas returns the shelf whose agents take on tasks, which are those of the project whether or
// not the method is served.
func (o *offer) personas(req request.Request) (*method.Snapshot, error) {
	project, err := o.engine.Projects().Where(req.Address)
	if err != nil || o.library == nil {
		return nil, cmp.Or(err, catalog.NoInstallation())
	}
	return o.library.At(project), nil
}

// ways returns the calls by which the reader of a document reaches the files and items that it
// names. cwd is the project that the caller has named; further calls have to name it too.
func (o *offer) ways(cwd string) method.ToolNames {
	with := ""
	if cwd != "" {
		with = fmt.Sprintf(", cwd: %q", cwd)
	}
	if !o.wants(config.ToolsetMethod, config.ToolsetAgents) {
		return method.ToolNames{Read: "get_knowledge {domain: <address>" + with + "}",
			Workflow: "execute_workflow {workflow_name: …" + with + "}", Agent: "a prompt of this server"}
	}
	w := method.ToolNames{
		Read: fmt.Sprintf(`%s {operation: "read", uri: …%s}`, ResourcesTool, with),
		List: fmt.Sprintf(`%s {operation: "list", pattern: %%q%s}`, ResourcesTool,
			strings.ReplaceAll(with, "%", "%%")),
		Workflow: WorkflowTool + " {workflow: …" + with + "}", Agent: AgentTool + " {agent: …" + with + "}",
	}
	if !o.wants(config.ToolsetMethod) {
		w.Agent = "its own tool"
	}
	return w
}
