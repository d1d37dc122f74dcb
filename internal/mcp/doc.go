// Package mcp is the MCP face. It has no code, since the protocol's library has a package of this name.
//
// # Doors
//
//   - mcpserver serves tools, prompts, resources and forms.
//
// The room mcpwire has the connections: the standard streams, HTTP, and the order of answers.
//
// # Invariants
//
//   - Every request is answered, once it was read, before the process ends
//     (TestEveryRequestIsAnsweredBeforeTheEnd).
//   - A caller's mistake is a result for the model to read, a violation of the protocol is an error of the
//     protocol (TestErrorsHaveTheirCodes).
package mcp
