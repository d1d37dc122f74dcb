package mcpserver

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// tool is an offered tool.
type tool struct {
	toolset                  config.Toolset
	name, title, description string
	schema                   json.RawMessage
	// reads marks a tool that changes nothing; others change files of the project.
	reads bool
	// asks marks a tool for which the host has to ask the person on every call.
	asks bool
	// bare marks one of many tools, without an icon, to be loaded by search only.
	bare bool
	// lean marks a tool listed with nothing but the needs of a call.
	lean   bool
	handle server.ToolHandlerFunc
}

// toMCP returns the definition of the tool for clients.
func (t tool) toMCP() mcp.Tool {
	out := mcp.NewToolWithRawSchema(t.name, strings.TrimSpace(t.description), t.schema)
	if t.lean {
		out.Annotations = mcp.ToolAnnotation{}
		if t.reads {
			out.Annotations.ReadOnlyHint = mcp.ToBoolPtr(true)
		}
		return out
	}
	out.Title = t.title
	out.Annotations = mcp.ToolAnnotation{
		Title:           t.title,
		ReadOnlyHint:    mcp.ToBoolPtr(t.reads),
		DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint:  mcp.ToBoolPtr(t.reads),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	}
	if t.bare {
		return out
	}
	out.Icons = icons()
	meta := map[string]any{"anthropic/alwaysLoad": true} // without it Claude Code shows the model only the name
	if t.asks {
		meta["anthropic/requiresUserInteraction"] = true // Claude Code asks in every permission mode
	}
	out.Meta = mcp.NewMetaFromMap(meta)
	return out
}

//go:embed icon.svg
var icon []byte

// icons returns the icon of everything in the server's lists.
func icons() []mcp.Icon {
	return []mcp.Icon{{
		Src: "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(icon), MIMEType: "image/svg+xml", Sizes: []string{"any"},
	}}
}

// rawArguments returns the arguments of a call as JSON.
func rawArguments(call mcp.CallToolRequest) []byte {
	if raw, ok := call.GetRawArguments().(json.RawMessage); ok {
		return raw
	}
	data, err := json.Marshal(call.Params.Arguments)
	if err != nil {
		return nil
	}
	return data
}
