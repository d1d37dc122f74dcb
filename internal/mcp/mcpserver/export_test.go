package mcpserver

import "github.com/mark3labs/mcp-go/server"

// ShakeHands is for tests whose server runs in their own process.
var ShakeHands = shakeHands

// FormHandler hands the library's forms to a Launch's function.
type FormHandler = formHandler

// MCPServer returns the server of the library, for clients without a connection.
func (s *Server) MCPServer() *server.MCPServer { return s.wire.MCP }

// Close ends all waiting, as the end of a connection does.
func (s *Server) Close() { s.endWaiting() }
