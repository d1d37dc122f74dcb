package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

// Tools returns the names of the tools that the server lists for this client.
func (c *Client) Tools(ctx context.Context) ([]string, error) {
	list, err := c.c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list.Tools))
	for i, tool := range list.Tools {
		names[i] = tool.Name
	}
	return names, nil
}
