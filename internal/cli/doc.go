// Package cli is the terminal face: the root of the commands and their help. It is the only wing that sees all others.
// Without a subcommand it serves MCP on stdio. Every subcommand drives the same engine as the server.
//
// # Doors
//
//   - [Main] is the program.
//
// Its rooms are app, which puts the program together; cmd, a folder for each group of commands and a file for each
// command; and terminal, the streams and the person in front of them.
//
// # Invariants
//
//   - A command's exit code is that of its error's code (TestScripts, TestAgentExitCodes).
//   - The reference pages have every command and flag (TestCommandReference).
package cli
