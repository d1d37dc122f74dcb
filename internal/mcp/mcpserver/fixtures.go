//go:build conformance

package mcpserver

import (
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver/conformance"
)

func addFixtures(s *server.MCPServer) { conformance.Add(s) }
