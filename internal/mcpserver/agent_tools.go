package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// In the toolset agents each agent is a tool of its own, named {module}-{agent}, beside
// bmad-resources and bmad-workflow, without which it could do little. Which agents there
// are differs from caller to caller, so the library does not know them: they are put into the
// list on its way out, and a call of one is made a call of bmad-agent on its way in.

// maxToolName is what hosts take as the name of a tool.
const maxToolName = 64

// What the name of a tool cannot have, and that of a prompt, which people type in their script.
var (
	notInTool   = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)
	notInPrompt = regexp.MustCompile(`[^\p{L}\p{N}_-]+`)
)

// safeName returns a name without what it cannot have.
func safeName(name string, cannot *regexp.Regexp) string {
	name = strings.Trim(cannot.ReplaceAllString(name, "-"), "-")
	if len(name) > maxToolName {
		name = strings.TrimRight(strings.ToValidUTF8(name[:maxToolName], ""), "-")
	}
	return name
}

// ownTool is an agent that is a tool.
type ownTool struct {
	name  string
	agent catalog.Item
}

// ownTools returns the tools that agents are, each under a name of its own.
func (s *Server) ownTools(shelf *method.Shelf) []ownTool {
	if shelf == nil || !s.offers(ToolsetAgents) {
		return nil
	}
	var out []ownTool
	taken := map[string]bool{}
	for _, set := range toolsets {
		for _, name := range set {
			taken[name] = true
		}
	}
	for n, i := range shelf.Catalog.Items(catalog.Agent) {
		module := i.Module
		if module == "" {
			module = "bmad"
		}
		// The last is for names of which nothing is left.
		for _, name := range []string{strings.TrimPrefix(i.Name, "bmad-agent-"), i.Name, i.Source + "-" + i.Name, fmt.Sprintf("agent-%d", n+1)} {
			if safeName(name, notInTool) == "" {
				continue
			}
			if name = safeName(module+"-"+name, notInTool); !taken[name] {
				taken[name] = true
				out = append(out, ownTool{name, i})
				break
			}
		}
	}
	return out
}

var ownToolSchema = []byte(`{"type": "object", "properties": {"message": {"type": "string", "description": "what the human says to the agent"}}, "required": ["message"], "additionalProperties": false}`)

// tool describes an agent as a tool.
func (t ownTool) tool() mcp.Tool {
	title := t.agent.Title
	if t.agent.DisplayName != "" {
		title = strings.TrimPrefix(t.agent.DisplayName+", "+title, ", ")
	}
	if title = strings.TrimSuffix(title, ", "); title == "" {
		title = t.agent.Name
	}
	description := "Returns what you need to act as " + title + " of the BMAD method. " + t.agent.Description
	tool := mcp.NewToolWithRawSchema(t.name, strings.TrimSpace(visible.Clip(description, 400)), ownToolSchema)
	tool.Title = title
	tool.Annotations = mcp.ToolAnnotation{
		Title: title, ReadOnlyHint: mcp.ToBoolPtr(true), DestructiveHint: mcp.ToBoolPtr(false), IdempotentHint: mcp.ToBoolPtr(true), OpenWorldHint: mcp.ToBoolPtr(false),
	}
	return tool
}

// listTools makes the list of tools that of its caller: those of the toolsets, and the agents.
func (s *Server) listTools(ctx context.Context, _ any, message *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
	if message.Params.Cursor != "" {
		// The library has cut its own list already; ours is another.
		result.Tools = s.everyTool(ctx)
	}
	base := s.base(ctx)
	shelf := s.shelf(base)
	var out []mcp.Tool
	for _, t := range result.Tools {
		if !s.lists(t.Name, shelf) {
			continue
		}
		if t.Name == ResourcesTool && !s.lists(AgentTool, shelf) {
			t.Description = strings.Replace(t.Description, "use "+AgentTool, "use its own tool", 1)
		}
		out = append(out, t)
	}
	for _, own := range s.ownTools(shelf) {
		out = append(out, own.tool())
	}
	result.Tools, result.NextCursor = pageOf(out, message.Params.Cursor, func(t mcp.Tool) string { return t.Name })
	s.subscriptions.listed(ctx, base, mcp.MethodNotificationToolsListChanged, func() feed.Sight {
		return s.lookAtList(ctx, base, mcp.MethodNotificationToolsListChanged)
	})
}

// everyTool returns the tools that the library knows and this caller may call.
func (s *Server) everyTool(ctx context.Context) []mcp.Tool {
	var out []mcp.Tool
	for _, t := range s.wire.ListTools() {
		out = append(out, t.Tool)
	}
	return s.listedTools(ctx, out)
}

// lists reports whether a tool is listed for a caller with this shelf.
func (s *Server) lists(name string, shelf *method.Shelf) bool {
	for toolset, names := range toolsets {
		for _, n := range names {
			if n != name {
				continue
			}
			return s.offers(toolset) || toolset == ToolsetMethod && name != AgentTool && s.offers(ToolsetAgents) || s.auto() && (toolset == ToolsetTask || toolset == ToolsetMethod && s.mayHave(shelf))
		}
	}
	return true
}

// mayHave reports whether a caller has an installation, or may have one: of several projects
// of one server, only a call says which is meant.
func (s *Server) mayHave(shelf *method.Shelf) bool {
	return shelf != nil && (!shelf.Empty() || shelf.Project == "" && s.places.Remote)
}

// callOwn makes a call of an agent's tool one of bmad-agent.
func (s *Server) callOwn(ctx context.Context, _ any, message *mcp.CallToolRequest) {
	if !s.offers(ToolsetAgents) || s.wire.GetTool(message.Params.Name) != nil {
		return
	}
	for _, own := range s.ownTools(s.shelf(s.base(ctx))) {
		if own.name != message.Params.Name {
			continue
		}
		args := map[string]any{}
		if err := json.Unmarshal(rawArguments(*message), &args); err != nil {
			return // the tool says what is wrong with them
		}
		args["agent"] = own.agent.Full()
		message.Params.Name, message.Params.Arguments, message.Params.RawArguments = AgentTool, args, nil
		return
	}
}
