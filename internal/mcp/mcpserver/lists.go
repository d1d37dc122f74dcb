package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// lists makes the lists of tools, prompts and resources those of their caller, on their way out,
// and looks at subjects for the feed.
type lists struct {
	wire          *mcpwire.Wire
	callers       *callers
	offer         *offer
	prompts       *prompts
	resources     *resources
	subscriptions *subscriptions
	// encoded has the first pages of lists of tools, by toolsOf.
	encoded sync.Map
}

// toolsOf has all that a list of tools depends on, but for agents that are tools of their own.
type toolsOf struct{ asks, hasApp, mayHaveMethod bool }

// toolPage is a page of a list of tools.
type toolPage struct {
	tools []mcp.Tool
	next  mcp.Cursor
	json  json.RawMessage
}

// listTools lists the tools of the caller's toolsets, and the agents.
func (l *lists) listTools(ctx context.Context, id any, message *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
	base := l.callers.base(ctx)
	shelf := l.offer.shelf(base)
	page := l.toolPage(ctx, shelf, message.Params.Cursor)
	result.NextCursor = page.next
	if page.json == nil || !mcpwire.ListTools(ctx, id, result, page.json) {
		result.Tools = page.tools
	}
	l.subscriptions.noteList(ctx, base, mcp.MethodNotificationToolsListChanged, func() feed.Sight { return l.toolsSight(shelf) })
}

// toolPage returns the page of a caller's list of tools that begins after a cursor.
func (l *lists) toolPage(ctx context.Context, shelf *method.Snapshot, cursor mcp.Cursor) (p toolPage) {
	key := toolsOf{l.callers.hostConfirms(ctx), takesApps(ctx), l.offer.mayHave(shelf)}
	sharable := cursor == "" && !l.offer.asksFor(config.ToolsetAgents)
	if known, ok := l.encoded.Load(key); ok && sharable {
		return known.(toolPage)
	}
	p.tools, p.next = pageOf(withApp(ctx, l.tools(ctx, shelf)), cursor, func(t mcp.Tool) string { return t.Name })
	if data, err := json.Marshal(p.tools); err == nil && sharable {
		p.json = data
		l.encoded.Store(key, p)
	}
	return p
}

// tools returns the tools that a caller with this shelf gets, and the agents. The library may have cut its
// own list at a cursor already, which is one of ours.
func (l *lists) tools(ctx context.Context, shelf *method.Snapshot) (out []mcp.Tool) {
	var all []mcp.Tool
	for _, t := range l.wire.MCP.ListTools() {
		all = append(all, t.Tool)
	}
	for _, t := range l.callable(ctx, all) {
		if !l.offer.shows(t.Name, shelf) {
			continue
		}
		if t.Name == ResourcesTool && !l.offer.shows(AgentTool, shelf) {
			t.Description = strings.Replace(t.Description, "use "+AgentTool, "use its own tool", 1)
		}
		out = append(out, t)
	}
	for _, own := range l.offer.ownTools(shelf) {
		out = append(out, own.tool(shelf.Actions(own.Item)).definition())
	}
	return out
}

// callable leaves out, of lists and of calls, the tools of toolsets that are not offered, and
// bmad-confirm for clients that would call it without asking.
func (l *lists) callable(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	asks := l.callers.hostConfirms(ctx)
	return slices.DeleteFunc(tools, func(t mcp.Tool) bool { return t.Name == ConfirmTool && !asks || !l.offer.callable(t.Name) })
}

// callOwn makes a call of an agent's tool one of bmad-agent.
func (l *lists) callOwn(ctx context.Context, _ any, message *mcp.CallToolRequest) {
	if l.offer.asksFor(config.ToolsetAgents) && l.wire.MCP.GetTool(message.Params.Name) == nil {
		l.offer.callOwn(l.offer.shelf(l.callers.base(ctx)), message)
	}
}

// listPrompts lists the prompts of a caller.
func (l *lists) listPrompts(ctx context.Context, _ any, message *mcp.ListPromptsRequest, result *mcp.ListPromptsResult) {
	base := l.callers.base(ctx)
	shelf := l.offer.shelf(base)
	result.Prompts, result.NextCursor = pageOf(l.prompts.list(shelf), message.Params.Cursor, func(p mcp.Prompt) string { return p.Name })
	l.subscriptions.noteList(ctx, base, mcp.MethodNotificationPromptsListChanged, func() feed.Sight { return l.promptsSight(shelf) })
}

// listResources lists the resources of a caller, with those of the caller's project.
func (l *lists) listResources(ctx context.Context, _ any, message *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
	base := l.callers.base(ctx)
	shelf := l.offer.shelf(base)
	listed, cwd := l.resources.forProject(ctx, base)
	own := append(listed, bmadResources(shelf)...)
	all := slices.Concat(l.resources.all, own)
	for _, r := range withoutApp(ctx, result.Resources) { // those of this session only
		if !slices.ContainsFunc(all, func(known mcp.Resource) bool { return known.URI == r.URI }) {
			all = append(all, r)
		}
	}
	result.Resources, result.NextCursor = pageOf(all, message.Params.Cursor, resourceOrder)
	l.subscriptions.noteList(ctx, base, mcp.MethodNotificationResourcesListChanged, func() feed.Sight { return resourcesSight(own, cwd, shelf) })
}

// look looks at a subject for a caller: a list, or the resource at an address.
func (l *lists) look(ctx context.Context, base request.Request, subject string) feed.Sight {
	switch subject {
	case mcp.MethodNotificationToolsListChanged:
		return l.toolsSight(l.offer.shelf(base))
	case mcp.MethodNotificationPromptsListChanged:
		return l.promptsSight(l.offer.shelf(base))
	case mcp.MethodNotificationResourcesListChanged:
		shelf := l.offer.shelf(base)
		listed, cwd := l.resources.forProject(ctx, base)
		return resourcesSight(append(listed, bmadResources(shelf)...), cwd, shelf)
	}
	res, cwd, err := l.resources.read(ctx, subject, base)
	if cwd == "" && base.Cwd == "" && len(base.Places) > 0 {
		cwd = base.Places[0] // a missing one will appear in the caller's project
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

// toolsSight returns the sight of the tools that depend on the shelf.
func (l *lists) toolsSight(shelf *method.Snapshot) feed.Sight {
	var names []string
	for name, toolset := range l.offer.sets {
		if toolset == config.ToolsetMethod && l.offer.shows(name, shelf) {
			names = append(names, name)
		}
	}
	seen := listSight(append(names, sights(l.offer.ownTools(shelf))...), "", shelf)
	seen.Apart = true
	return seen
}

// promptsSight returns the sight of the prompts that depend on the shelf.
func (l *lists) promptsSight(shelf *method.Snapshot) feed.Sight {
	seen := listSight(sights(l.prompts.own(shelf)), "", shelf)
	seen.Apart = true
	return seen
}

// resourcesSight returns the sight of a list of resources. It does not show that one on it has
// changed, which is reported by its address.
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

// maxList is the size in bytes that no list of resources, prompts or tools exceeds.
const maxList = 19_000

// pageOf returns the page of a list that begins after a cursor, and the cursor of the next.
// The list is in the order of its names; a cursor is the last name of a page, as the library
// has it, so that a list that has changed meanwhile goes on at the same place. A name here is
// whatever text orders the list.
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
