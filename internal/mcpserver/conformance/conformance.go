//go:build !conformance

// Package conformance has the fixtures of the MCP conformance suite: the tools, prompts and
// resources that it looks for by name. Only a build with the tag conformance has them.
package conformance

import "github.com/mark3labs/mcp-go/server"

// Add adds nothing to a server that is not built for the suite.
func Add(*server.MCPServer) {}
