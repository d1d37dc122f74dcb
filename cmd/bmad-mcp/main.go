// Command bmad-mcp leads an AI coding assistant and its human from an idea to
// reviewed, tested code. Without arguments it is an MCP server on stdio.
package main

import (
	"os"
	"runtime/debug"

	"github.com/bmad-mcp/bmad-mcp/internal/cli"
)

func main() {
	// A start leaves 3 MB of garbage. Twice the usual heap spares it a collection, a tenth of its processor time:
	// commands and calls of the hook end before it, and a server that gets no call frees memory without it.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
