//go:build !conformance

package mcpserver

import "github.com/mark3labs/mcp-go/server"

// addFixtures adds nothing: only a build for the conformance suite has fixtures.
func addFixtures(*server.MCPServer) {}
