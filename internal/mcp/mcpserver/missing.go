package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// missing returns the refusal of a request for a tool, prompt or resource that a caller does not
// have, with the names or addresses that are like it.
func (l *lists) missing(ctx context.Context, method mcp.MCPMethod, name string) mcpwire.Error {
	base := l.callers.base(ctx)
	key, code, err := "name", mcp.INVALID_PARAMS, error(nil)
	switch method {
	case mcp.MethodToolsCall:
		err = l.noTool(ctx, base, name)
	case mcp.MethodPromptsGet:
		err = l.noPrompt(base, name)
	default:
		key, code, err = "uri", mcpwire.NotFoundCode(ctx), noResource(name)
		if l.offer.memory() && strings.HasPrefix(name, memoryScheme) {
			err = noMemory(name)
		}
	}
	out := l.callers.protocolError(ctx, base, err, key, clip(name))
	out.Code = code
	return out
}

func (l *lists) noTool(ctx context.Context, base request.Request, name string) error {
	var names []string
	for _, t := range l.tools(ctx, l.offer.shelf(base)) {
		names = append(names, t.Name)
	}
	return fault.New(fault.NotFound, "unknown tool %q", clip(name)).
		WithHint("tools/list has those that there are").Suggest(name, slices.Sorted(slices.Values(names)))
}

func (l *lists) noPrompt(base request.Request, name string) error {
	var names []string
	for _, p := range l.prompts.list(l.offer.shelf(base)) {
		names = append(names, p.Name)
	}
	return fault.New(fault.NotFound, "unknown prompt %q", clip(name)).
		WithHint("prompts/list has those that there are").Suggest(name, names)
}
