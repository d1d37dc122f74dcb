// Command bareserver is the least server that the library of the protocol makes: one tool, which answers with a
// short text. It serves on stdio, or over HTTP at the address of its argument. A server's start and calls are
// measured beside it.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	s := server.NewMCPServer("bare", "1")
	tool := mcp.NewTool("status", mcp.WithDescription("says that all is well"), mcp.WithString("task", mcp.Description("the task")))
	s.AddTool(tool, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("all is well"), nil
	})
	if err := serve(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(s *server.MCPServer) error {
	if len(os.Args) < 2 {
		return server.ServeStdio(s)
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "http://%s/mcp\n", listener.Addr())
	return http.Serve(listener, server.NewStreamableHTTPServer(s))
}
