// Package cli is the terminal face: the root of the commands, and help. It is the only wing that sees all
// others. Without a subcommand it serves MCP on stdio. Every subcommand drives the same engine as the server.
//
// # Doors
//
//   - [Main] is the program.
//
// The rooms are app, which puts the program together; cmd, with a folder for each group of commands and a
// file for each command; and terminal, the streams and the person in front of them.
//
// # Invariants
//
//   - A command's exit code follows from the code of the error (TestScripts, TestAgentExitCodes).
//   - The reference pages have every command and flag (TestCommandReference).
package cli
