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

// offer decides which toolsets a caller gets, and finds the caller's shelf: the installations of the BMAD
// method that count for the project.
type offer struct {
	engine   *engine.Engine
	library  *method.Library // nil: the method is not served
	toolsets []config.Toolset
	// hasMemory reports whether the project memory can be served.
	hasMemory bool
	// sets has the toolset of each tool.
	sets map[string]config.Toolset
	// remote reports whether only a call names one of several projects.
	remote bool
	log    *slog.Logger
}

// asksFor reports whether the settings name a toolset.
func (o *offer) asksFor(toolset config.Toolset) bool { return slices.Contains(o.toolsets, toolset) }

// isAuto reports whether the toolsets follow from the installations found.
func (o *offer) isAuto() bool { return len(o.toolsets) == 0 || o.asksFor(config.ToolsetAuto) }

// mayOffer reports whether the settings name one of some toolsets, or it may follow from the installations.
func (o *offer) mayOffer(toolsets ...config.Toolset) bool {
	return o.isAuto() || slices.ContainsFunc(toolsets, o.asksFor)
}

// hasTask reports whether the tools and prompts of the workflow are offered.
func (o *offer) hasTask() bool { return o.mayOffer(config.ToolsetTask) }

// hasMethod reports whether the method is served at all: as tools, prompts and resources.
func (o *offer) hasMethod() bool {
	return o.library != nil && o.mayOffer(config.ToolsetMethod, config.ToolsetClassic, config.ToolsetAgents)
}

// servesMemory reports whether the project memory is served.
func (o *offer) servesMemory() bool { return o.hasMemory && o.asksFor(config.ToolsetMemory) }

// hasToolset reports whether the server has the tools of a toolset.
func (o *offer) hasToolset(toolset config.Toolset) bool {
	switch toolset {
	case config.ToolsetTask:
		return true
	case config.ToolsetMemory:
		return o.servesMemory()
	}
	return o.hasMethod() && (toolset == config.ToolsetMethod || o.asksFor(toolset))
}

// canCall reports whether a tool of the server may be called, even if it is not listed: then it reports the
// missing installation.
func (o *offer) canCall(tool string) bool {
	switch o.sets[tool] {
	case config.ToolsetTask:
		return o.hasTask()
	case config.ToolsetMethod:
		return o.mayOffer(config.ToolsetMethod, config.ToolsetAgents)
	}
	return true // the server has the others only by name in the settings
}

// isListed reports whether a tool is listed for a caller with this shelf.
func (o *offer) isListed(tool string, shelf *method.Snapshot) bool {
	toolset, ours := o.sets[tool]
	switch {
	case !ours || o.asksFor(toolset):
		return true
	case toolset == config.ToolsetTask:
		return o.isAuto()
	case toolset == config.ToolsetMethod:
		if tool != AgentTool && o.asksFor(config.ToolsetAgents) {
			return true
		}
		return o.isAuto() && o.mayHave(shelf)
	}
	return false
}

// mayHave reports whether a caller has an installation, or may have one in a project named in a later call.
func (o *offer) mayHave(shelf *method.Snapshot) bool {
	if shelf == nil {
		return false
	}
	mayComeLater := shelf.Project == "" && o.remote
	return mayComeLater || !shelf.Empty()
}

// shelfOrNil returns the shelf of a caller; nil if the method is not served, or the project cannot be found.
func (o *offer) shelfOrNil(base request.Request) *method.Snapshot {
	shelf, err := o.shelfOf(base)
	if err != nil {
		o.log.Debug("nothing of the method is listed", "error", err)
	}
	return shelf
}

// shelfOf returns the shelf of a caller, or the problem with the project in base. Without a project it is the
// shelf of the person; without a served method, nil.
func (o *offer) shelfOf(base request.Request) (*method.Snapshot, error) {
	if !o.hasMethod() {
		return nil, nil
	}
	project, err := o.engine.Projects().Where(base.Address)
	if err != nil && base.Cwd != "" {
		return nil, err
	}
	return o.library.At(project), nil
}

// shelfOfPersonas returns the shelf with the agents for delegated tasks: the shelf of the project, even if
// the method is not served.
func (o *offer) shelfOfPersonas(req request.Request) (*method.Snapshot, error) {
	project, err := o.engine.Projects().Where(req.Address)
	if err != nil || o.library == nil {
		return nil, cmp.Or(err, catalog.NoInstallation())
	}
	return o.library.At(project), nil
}

// toolNames returns the calls with which the reader of a document reaches files and items named in it. cwd is
// the project in the caller's call, which further calls have to name, too.
func (o *offer) toolNames(cwd string) method.ToolNames {
	with := ""
	if cwd != "" {
		with = fmt.Sprintf(", cwd: %q", cwd)
	}
	if !o.mayOffer(config.ToolsetMethod, config.ToolsetAgents) {
		return method.ToolNames{Read: "get_knowledge {domain: <address>" + with + "}",
			Workflow: "execute_workflow {workflow_name: …" + with + "}", Agent: "a prompt of this server"}
	}
	w := method.ToolNames{
		Read: fmt.Sprintf(`%s {operation: "read", uri: …%s}`, ResourcesTool, with),
		List: fmt.Sprintf(`%s {operation: "list", pattern: %%q%s}`, ResourcesTool,
			strings.ReplaceAll(with, "%", "%%")),
		Workflow: WorkflowTool + " {workflow: …" + with + "}", Agent: AgentTool + " {agent: …" + with + "}",
	}
	if !o.mayOffer(config.ToolsetMethod) {
		w.Agent = "its own tool"
	}
	return w
}
