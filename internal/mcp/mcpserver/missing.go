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

// errMissing returns the refusal of a request for an unknown tool, prompt or resource, with similar names or
// addresses.
func (l *lists) errMissing(ctx context.Context, method mcp.MCPMethod, name string) mcpwire.Error {
	base := l.callers.baseRequest(ctx)
	key, code, err := "name", mcp.INVALID_PARAMS, error(nil)
	switch method {
	case mcp.MethodToolsCall:
		err = l.noTool(ctx, base, name)
	case mcp.MethodPromptsGet:
		err = l.noPrompt(base, name)
	default:
		key, code, err = "uri", mcpwire.NotFoundCode(ctx), noResource(name)
		if l.offer.servesMemory() && strings.HasPrefix(name, memoryScheme) {
			err = noMemory(name)
		}
	}
	out := l.callers.protocolError(ctx, base, err, key, clipText(name))
	out.Code = code
	return out
}

func (l *lists) noTool(ctx context.Context, base request.Request, name string) error {
	var names []string
	for _, t := range l.toolsFor(ctx, l.offer.shelfOrNil(base)) {
		names = append(names, t.Name)
	}
	return fault.New(fault.NotFound, "unknown tool %q", clipText(name)).
		WithHint("tools/list has those that there are").Suggest(name, slices.Sorted(slices.Values(names)))
}

func (l *lists) noPrompt(base request.Request, name string) error {
	var names []string
	for _, p := range l.prompts.promptsFor(l.offer.shelfOrNil(base)) {
		names = append(names, p.Name)
	}
	return fault.New(fault.NotFound, "unknown prompt %q", clipText(name)).
		WithHint("prompts/list has those that there are").Suggest(name, names)
}
