//go:build !conformance

package mcpserver

import "github.com/mark3labs/mcp-go/server"

// addFixtures adds nothing to a server that is not built for the conformance suite.
func addFixtures(*server.MCPServer) {}
