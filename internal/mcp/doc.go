// Package mcp is the MCP face. It has no code of its own, since the protocol's library has a package of this name.
//
// # Doors
//
//   - mcpserver serves tools, prompts, resources and forms.
//
// Its room mcpwire has the connections: the standard streams, HTTP, and the order of answers.
//
// # Invariants
//
//   - Every request that was read is answered before the process ends (TestEveryRequestIsAnsweredBeforeTheEnd).
//   - A caller's mistake is a result that a model can read, and an error of the protocol is one of the protocol
//     (TestErrorsHaveTheirCodes).
package mcp
