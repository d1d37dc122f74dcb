package mcpserver

import (
	"context"
	"embed"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// definitions has the descriptions and schemas of the tools, apart from the schema of bmad-task. A model
// reads all of them in every conversation, so they have to be short.
//
//go:embed *_description.md *_schema.json *_tools.json
var definitions embed.FS

func readEmbedded(file string) []byte {
	data, err := definitions.ReadFile(file)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return data
}

// definition describes a tool about the content of a project.
type definition struct {
	Name, Title, Description, Example string
	Schema                            json.RawMessage
	// Arguments are in reading order.
	Arguments []string
	// Reads marks a tool that changes nothing, Writes a tool that changes the project.
	Reads, Writes bool
}

// definitionsIn returns the definitions of a file.
func definitionsIn(file string) []definition {
	var out []definition
	if err := json.Unmarshal(readEmbedded(file), &out); err != nil {
		panic(err) // the file is part of the program
	}
	return out
}

// The most entries, results and tokens of a call.
const (
	maxEntries, maxResults, maxTokens = 50, 20, 8192
)

// mostOf has the largest values of number arguments.
var mostOf = map[string]int{"last_n": maxEntries, "top_n": maxEntries, "limit": maxResults, "max_tokens": maxTokens, "max_bytes": reply.Max}

// projectTools are tools about the content of a project.
type projectTools struct {
	*callers
	offer *offer
	// changed is called when a call may have changed something.
	changed func()
}

// toolCall is one call of a tool of projectTools.
type toolCall struct {
	request.Values
	call    mcp.CallToolRequest
	request request.Request
	// sample is the answer of the host's model in the call, if any.
	sample *sample
}

// toolHandler answers a call with a text, a result, or another value, which is encoded as JSON.
type toolHandler func(ctx context.Context, c *toolCall) (any, error)

// misread replaces the arguments of a call if they are refused.
type misread struct{ error }

// newTool returns a tool by definition, arguments and handler.
func (t projectTools) newTool(set config.Toolset, d definition, args request.Arguments[request.Values], handle toolHandler) tool {
	return tool{
		toolset: set, name: d.Name, title: d.Title, description: d.Description, schema: d.Schema,
		reads: d.Reads, lean: set == config.ToolsetMemory,
		handle: func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			given, err := args.Decode(rawArguments(call))
			if bad, is := call.Params.Arguments.(misread); is {
				err = bad.error
			}
			if err != nil {
				return t.refuseCall(ctx, call, err), nil
			}
			c := &toolCall{Values: given, call: call, request: t.requestFrom(ctx)}
			c.request.Cwd = c.Text("cwd")
			if d.Writes {
				c.request.Action = workflow.ActionStart // a folder of several projects has no memory
			}
			return t.serveCall(ctx, c, d.Writes, handle), nil
		},
	}
}

// serveCall answers one call.
func (t projectTools) serveCall(ctx context.Context, c *toolCall, writes bool, handle toolHandler) *mcp.CallToolResult {
	if c.sample = t.readSample(ctx, c.call); c.sample != nil && c.sample.asked != nil {
		c.request.Cwd = c.sample.asked.cwd // the folder of the question
	}
	if ask := t.placeCall(ctx, c.call, &c.request); ask != nil {
		return ask
	}
	out, err := handle(ctx, c)
	if writes {
		t.changed() // also after a refusal: a part may be done
	}
	if err != nil {
		t.log.Info("refused", "tool", c.call.Params.Name, "error", err)
		return t.failureResult(ctx, c.request, err)
	}
	switch out := out.(type) {
	case *mcp.CallToolResult:
		return out
	case string:
		return mcp.NewToolResultText(out)
	}
	data, err := method.Encode(out)
	if err != nil {
		return t.failureResult(ctx, c.request, err)
	}
	return mcp.NewToolResultText(string(data))
}
