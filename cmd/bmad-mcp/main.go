// Command bmad-mcp leads an AI coding assistant and its human from an idea to
// reviewed, tested code. Without arguments it is an MCP server on stdio.
package main

import (
	"os"

	_ "github.com/bmad-mcp/bmad-mcp/cmd/bmad-mcp/internal/pace"
	"github.com/bmad-mcp/bmad-mcp/cmd/bmad-mcp/internal/quick"
	"github.com/bmad-mcp/bmad-mcp/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], quick.Input, os.Stdout, os.Stderr)) }
