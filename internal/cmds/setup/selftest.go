package setup

import (
	"context"
	"os"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver"
)

// selfTest starts this program as a host does, shakes hands with it, and lists its tools.
func selfTest(ctx context.Context, a *app.App) error {
	cwd, err := a.Project()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fault.From(err)
	}
	client, err := mcpserver.Connect(ctx, mcpserver.Launch{Command: self, Dir: cwd, Name: "bmad-mcp-doctor"})
	if err != nil {
		return fault.From(err)
	}
	defer func() { _ = client.Close() }()
	tools, err := client.Tools(ctx)
	if err != nil {
		return fault.From(err)
	}
	return a.Conclude(map[string]any{"name": "bmad-mcp", "version": app.Version(), "protocol": client.Protocol(), "tools": tools, "ready": true},
		"bmad-mcp %s: %s, protocol %s. Ready", app.Version(), lang.Count(len(tools), "tool"), client.Protocol())
}
