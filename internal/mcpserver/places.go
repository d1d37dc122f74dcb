package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
)

// place adds the folders in which to look for a call without cwd: the host's project, the
// client's roots, the server's folder. A non-nil result is a question for the client, which then
// repeats the call, or a refusal.
func (c *callers) place(ctx context.Context, call mcp.CallToolRequest, req *engine.Request) *mcp.CallToolResult {
	if c.places.Remote {
		return c.placeServed(ctx, call, req)
	}
	if req.Cwd != "" {
		return c.reachable(ctx, call, req.Cwd)
	}
	var roots []string
	if c.places.byRoots() {
		var ask *mcp.CallToolResult
		if roots, ask = clientRoots(ctx, call); ask != nil {
			return ask
		}
		if roots != nil {
			c.roots.set(mcpwire.ClientKey(ctx), roots)
		}
		// Several roots are places of sessions, but do not decide where to start one.
		if len(roots) != 1 && req.SessionID == "" {
			roots = nil
		}
	}
	req.Places = append(req.Places, c.places.with(roots)...)
	return nil
}

// base returns the request of a caller that calls no tool, with the folders in which to look.
func (c *callers) base(ctx context.Context) engine.Request {
	req := c.request(ctx)
	if c.places.Remote {
		req.Places = c.served(c.roots.of(ctx), false)
		return req
	}
	var roots []string
	if c.places.byRoots() {
		if roots = c.roots.of(ctx); len(roots) != 1 {
			roots = nil // several do not decide which is meant
		}
	}
	req.Places = c.places.with(roots)
	return req
}
