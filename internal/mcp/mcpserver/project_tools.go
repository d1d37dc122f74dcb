package mcpserver

import (
	"context"
	"embed"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// definitions has the descriptions and schemas of the tools, but for the schema of bmad-task. A model
// reads all of them with every conversation: they have nothing that it can do without.
//
//go:embed *_description.md *_schema.json *_tools.json
var definitions embed.FS

func defined(file string) []byte {
	data, err := definitions.ReadFile(file)
	if err != nil {
		panic(err) // it is part of the program
	}
	return data
}

// definition describes a tool that answers from what a project has.
type definition struct {
	Name, Title, Description, Example string
	Schema                            json.RawMessage
	// Arguments are in the order in which they are read.
	Arguments []string
	// Reads is true if nothing at all is changed, Writes if the project is.
	Reads, Writes bool
}

// definitionsIn returns the definitions of a file.
func definitionsIn(file string) []definition {
	var out []definition
	if err := json.Unmarshal(defined(file), &out); err != nil {
		panic(err) // it is part of the program
	}
	return out
}

// The most entries, results and tokens that a call may ask for.
const (
	maxEntries, maxResults, maxTokens = 50, 20, 8192
)

// mostOf has the most that the number in an argument may be.
var mostOf = map[string]int{"last_n": maxEntries, "top_n": maxEntries, "limit": maxResults, "max_tokens": maxTokens}

// projectTools are tools that answer from what a project has.
type projectTools struct {
	*callers
	offer *offer
	// changed is called when a call may have changed something.
	changed func()
}

// toolCall is one call of these tools.
type toolCall struct {
	request.Values
	call    mcp.CallToolRequest
	request request.Request
	// sample is the answer of the host's model that the call brings, if any.
	sample *sample
}

// toolHandler answers a call with a text, with another value, which is encoded as JSON, or with a result.
type toolHandler func(ctx context.Context, c *toolCall) (any, error)

// misread takes the place of the arguments of a call that are refused.
type misread struct{ error }

// tool returns a tool as it is offered.
func (t projectTools) tool(set config.Toolset, d definition, args request.Arguments[request.Values], handle toolHandler) tool {
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
			c := &toolCall{Values: given, call: call, request: t.request(ctx)}
			c.request.Cwd = c.Text("cwd")
			if d.Writes {
				c.request.Action = workflow.ActionStart // a folder of several projects has no memory of its own
			}
			return t.serve(ctx, c, d.Writes, handle), nil
		},
	}
}

// serve answers one call.
func (t projectTools) serve(ctx context.Context, c *toolCall, writes bool, handle toolHandler) *mcp.CallToolResult {
	if c.sample = t.readSample(ctx, c.call); c.sample != nil && c.sample.asked != nil {
		c.request.Cwd = c.sample.asked.cwd // as for the question
	}
	if ask := t.place(ctx, c.call, &c.request); ask != nil {
		return ask
	}
	out, err := handle(ctx, c)
	if writes {
		t.changed() // also if it is refused: it may have come some way
	}
	if err != nil {
		t.log.Info("refused", "tool", c.call.Params.Name, "error", err)
		return t.refuse(ctx, c.request, err)
	}
	switch out := out.(type) {
	case *mcp.CallToolResult:
		return out
	case string:
		return mcp.NewToolResultText(out)
	}
	data, err := method.Encode(out)
	if err != nil {
		return t.refuse(ctx, c.request, err)
	}
	return mcp.NewToolResultText(string(data))
}
