//go:build !conformance

package mcpserver

import "github.com/mark3labs/mcp-go/server"

// addFixtures does nothing in a server not built for the conformance suite.
func addFixtures(*server.MCPServer) {}
