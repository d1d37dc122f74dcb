package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// lists fits outgoing lists of tools, prompts and resources to the caller, and looks at subjects for the
// feed.
type lists struct {
	wire          *mcpwire.Wire
	callers       *callers
	offer         *offer
	prompts       *prompts
	resources     *resources
	subscriptions *subscriptions
	// encoded has the first pages of lists of tools, by toolsOf.
	encoded *recent.Map[toolsOf, toolPage]
}

// maxEncoded bounds the kept lists of tools: each installation of the method has its own.
const maxEncoded = 32

// toolsOf has everything on which a list of tools depends, apart from the tools of agents.
type toolsOf struct {
	asks, hasApp, mayHaveMethod bool
	installed                   string
}

// toolPage is a page of a list of tools.
type toolPage struct {
	tools []mcp.Tool
	next  mcp.Cursor
	json  json.RawMessage
}

// listTools lists the tools of the caller's toolsets, and the agents.
func (l *lists) listTools(ctx context.Context, id any, message *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
	base := l.callers.baseRequest(ctx)
	shelf := l.offer.shelfOrNil(base)
	page := l.toolPage(ctx, shelf, message.Params.Cursor)
	result.NextCursor = page.next
	if page.json == nil || !mcpwire.ListTools(ctx, id, result, page.json) {
		result.Tools = page.tools
	}
	l.subscriptions.noteList(ctx, base, mcp.MethodNotificationToolsListChanged, func() feed.Sight { return l.toolsSight(shelf) })
}

// toolPage returns the page after a cursor of a caller's list of tools.
func (l *lists) toolPage(ctx context.Context, shelf *method.Snapshot, cursor mcp.Cursor) (p toolPage) {
	key := toolsOf{l.callers.hostConfirms(ctx), takesApps(ctx), l.offer.mayHave(shelf), describeInstalled(shelf, AgentTool) + describeInstalled(shelf, WorkflowTool)}
	sharable := cursor == "" && !l.offer.asksFor(config.ToolsetAgents)
	if known, ok := l.encoded.Get(key); ok && sharable {
		return known
	}
	p.tools, p.next = pageOf(withApp(ctx, l.toolsFor(ctx, shelf)), cursor, func(t mcp.Tool) string { return t.Name })
	if data, err := json.Marshal(p.tools); err == nil && sharable {
		p.json = data
		l.encoded.Put(key, p)
	}
	return p
}

// toolsFor returns the tools for a caller with this shelf, including the agents. It begins with all tools,
// because the library may have cut its list at our cursor already.
func (l *lists) toolsFor(ctx context.Context, shelf *method.Snapshot) (out []mcp.Tool) {
	var all []mcp.Tool
	for _, t := range l.wire.MCP.ListTools() {
		all = append(all, t.Tool)
	}
	for _, t := range l.keepCallable(ctx, all) {
		if !l.offer.isListed(t.Name, shelf) {
			continue
		}
		if t.Name == ResourcesTool && !l.offer.isListed(AgentTool, shelf) {
			t.Description = strings.Replace(t.Description, "use "+AgentTool, "use its own tool", 1)
		}
		t.Description += describeInstalled(shelf, t.Name)
		out = append(out, t)
	}
	for _, own := range l.offer.ownTools(shelf) {
		out = append(out, own.asTool(shelf.Actions(own.Item)).toMCP())
	}
	return out
}

// keepCallable removes tools outside of the offered toolsets, from lists and from calls, and bmad-confirm for
// clients that would call it without asking.
func (l *lists) keepCallable(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	asks := l.callers.hostConfirms(ctx)
	return slices.DeleteFunc(tools, func(t mcp.Tool) bool {
		if t.Name == ConfirmTool && !asks {
			return true
		}
		return !l.offer.canCall(t.Name)
	})
}

// callOwn turns a call of an agent's tool into a call of bmad-agent.
func (l *lists) callOwn(ctx context.Context, _ any, message *mcp.CallToolRequest) {
	if l.offer.asksFor(config.ToolsetAgents) && l.wire.MCP.GetTool(message.Params.Name) == nil {
		l.offer.callOwn(l.offer.shelfOrNil(l.callers.baseRequest(ctx)), message)
	}
}

// listPrompts lists the prompts of a caller.
func (l *lists) listPrompts(ctx context.Context, _ any, message *mcp.ListPromptsRequest, result *mcp.ListPromptsResult) {
	base := l.callers.baseRequest(ctx)
	shelf := l.offer.shelfOrNil(base)
	result.Prompts, result.NextCursor = pageOf(l.prompts.promptsFor(shelf), message.Params.Cursor, func(p mcp.Prompt) string { return p.Name })
	l.subscriptions.noteList(ctx, base, mcp.MethodNotificationPromptsListChanged, func() feed.Sight { return l.promptsSight(shelf) })
}

// listResources lists the resources of a caller and of the caller's project.
func (l *lists) listResources(ctx context.Context, _ any, message *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
	base := l.callers.baseRequest(ctx)
	shelf := l.offer.shelfOrNil(base)
	listed, cwd := l.resources.forProject(ctx, base)
	own := append(listed, bmadResources(shelf)...)
	all := slices.Concat(l.resources.all, own)
	for _, r := range withoutApp(ctx, result.Resources) { // also resources of this session only
		if !slices.ContainsFunc(all, func(known mcp.Resource) bool { return known.URI == r.URI }) {
			all = append(all, r)
		}
	}
	result.Resources, result.NextCursor = pageOf(all, message.Params.Cursor, resourceOrder)
	l.subscriptions.noteList(ctx, base, mcp.MethodNotificationResourcesListChanged, func() feed.Sight { return resourcesSight(own, cwd, shelf) })
}

// lookAt returns the sight of a subject for a caller: of a list, or of the resource at an address.
func (l *lists) lookAt(ctx context.Context, base request.Request, subject string) feed.Sight {
	switch subject {
	case mcp.MethodNotificationToolsListChanged:
		return l.toolsSight(l.offer.shelfOrNil(base))
	case mcp.MethodNotificationPromptsListChanged:
		return l.promptsSight(l.offer.shelfOrNil(base))
	case mcp.MethodNotificationResourcesListChanged:
		shelf := l.offer.shelfOrNil(base)
		listed, cwd := l.resources.forProject(ctx, base)
		return resourcesSight(append(listed, bmadResources(shelf)...), cwd, shelf)
	}
	res, cwd, err := l.resources.readResource(ctx, subject, base)
	if cwd == "" && base.Cwd == "" && len(base.Places) > 0 {
		cwd = base.Places[0] // a missing resource will appear in the caller's project
	}
	seen := feed.Sight{Project: cwd}
	if cwd != "" && res.Path != "" {
		seen.Folders = []string{filepath.Dir(filepath.Join(cwd, filepath.FromSlash(res.Path)))}
	}
	if err == nil {
		seen.State = workflow.Hash([]byte(res.Text))
	}
	return seen
}

// toolsSight returns the sight of the tools, as far as they depend on the shelf.
func (l *lists) toolsSight(shelf *method.Snapshot) feed.Sight {
	var names []string
	for name, toolset := range l.offer.sets {
		if toolset == config.ToolsetMethod && l.offer.isListed(name, shelf) {
			names = append(names, name+describeInstalled(shelf, name))
		}
	}
	seen := listSight(append(names, describeAgents(l.offer.ownTools(shelf))...), "", shelf)
	seen.Apart = true
	return seen
}

// promptsSight returns the sight of the prompts, as far as they depend on the shelf.
func (l *lists) promptsSight(shelf *method.Snapshot) feed.Sight {
	seen := listSight(describeAgents(l.prompts.agentPrompts(shelf)), "", shelf)
	seen.Apart = true
	return seen
}

// resourcesSight returns the sight of a list of resources. A change of a listed resource does not change it,
// since it is reported by address.
func resourcesSight(listed []mcp.Resource, project string, shelf *method.Snapshot) feed.Sight {
	uris := make([]string, len(listed))
	for i, r := range listed {
		uris[i] = r.URI
	}
	return listSight(uris, project, shelf)
}

func listSight(names []string, project string, shelf *method.Snapshot) feed.Sight {
	slices.Sort(names)
	seen := feed.Sight{State: strings.Join(names, "\n"), Project: project}
	if shelf != nil {
		seen.Folders = shelf.Folders()
	}
	return seen
}

// maxList bounds a page of resources, prompts or tools, in bytes.
const maxList = 19_000

// pageOf returns the page of a list after a cursor, and the cursor of the next page. The list is sorted by
// name, which is any text that gives the order. As in the library, a cursor is the last name of a page, so a
// list changed meanwhile continues at the same place.
func pageOf[T any](all []T, cursor mcp.Cursor, name func(T) string) ([]T, mcp.Cursor) {
	slices.SortStableFunc(all, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	if last, err := base64.StdEncoding.DecodeString(string(cursor)); err == nil && cursor != "" {
		all = slices.DeleteFunc(all, func(v T) bool { return name(v) <= string(last) })
	}
	size := 0
	for n, v := range all {
		data, err := json.Marshal(v)
		if size += len(data) + 1; err == nil && size > maxList && n > 0 {
			return all[:n], mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(name(all[n-1]))))
		}
	}
	if all == nil {
		all = []T{}
	}
	return all, ""
}
