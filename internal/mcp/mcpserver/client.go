package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// Client talks to a server in a child process, over stdio.
type Client struct {
	c *client.Client
}

// demoName is the name of a client without one, for example the demo.
const demoName = "bmad-mcp-demo"

// Launch describes the server for a Client to start.
type Launch struct {
	// Command is the server's binary. The log of the server is dropped.
	Command string
	// Dir is the server's working folder, Env is added to the present environment.
	Dir string
	Env []string
	// Protocol pins a revision, for example "2025-11-25"; "" takes the newest one known to both sides.
	Protocol string
	// Name and Version are the client's own; demoName replaces an empty name.
	Name, Version string
	// Form shows the person a form and returns their answer; nil for a client without forms.
	Form func(context.Context, Form) (FormAnswer, error)
}

// Form is a question to the person.
type Form struct {
	Message string
	// Schema is the JSON Schema of the answer's content.
	Schema map[string]any
}

// FormAnswer is a person's answer to a form: accept, decline or cancel.
type FormAnswer struct {
	Action  string
	Content map[string]any
}

// formHandler hands the library's forms to a Launch's function.
type formHandler func(context.Context, Form) (FormAnswer, error)

// Elicit implements the library's interface.
func (h formHandler) Elicit(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	schema, _ := request.Params.RequestedSchema.(map[string]any)
	a, err := h(ctx, Form{Message: request.Params.Message, Schema: schema})
	if err != nil {
		return nil, err
	}
	out := &mcp.ElicitationResult{}
	out.Action = mcp.ElicitationResponseAction(a.Action)
	if a.Content != nil {
		out.Content = a.Content
	}
	return out, nil
}

// Connect starts a server and shakes hands with it. ctx bounds the handshake;
// the server lives until Close.
func Connect(ctx context.Context, l Launch) (*Client, error) {
	t := transport.NewStdioWithOptions(l.Command, l.Env, nil,
		transport.WithCommandFunc(func(ctx context.Context, command string, env, args []string) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, command, args...) //nolint:gosec // the caller names the server
			cmd.Dir = l.Dir
			cmd.Env = append(os.Environ(), env...)
			return cmd, nil
		}),
		transport.WithCommandStderrWriter(io.Discard))
	return shakeHands(ctx, t, l)
}

// shakeHands returns a client connected to a server over a transport.
func shakeHands(ctx context.Context, t transport.Interface, l Launch) (*Client, error) {
	options := []client.ClientOption{client.WithProtocolVersion(l.Protocol)}
	if l.Form != nil {
		options = append(options, client.WithElicitationHandler(formHandler(l.Form)))
	}
	c := client.NewClient(t, options...)
	// Not ctx: its end would kill the server.
	if err := c.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, fmt.Errorf("starting %s: %w", l.Command, err)
	}
	var req mcp.InitializeRequest
	req.Params.ClientInfo = mcp.Implementation{Name: cmp.Or(l.Name, demoName), Version: cmp.Or(l.Version, "1")}
	if _, err := c.Initialize(ctx, req); err != nil {
		return nil, errors.Join(fmt.Errorf("shaking hands with %s: %w", l.Command, err), c.Close())
	}
	if l.Protocol != "" && c.ProtocolVersion() != l.Protocol {
		return nil, errors.Join(fmt.Errorf("%s speaks protocol %s, not %s", l.Command, c.ProtocolVersion(), l.Protocol), c.Close())
	}
	return &Client{c: c}, nil
}

// Protocol returns the protocol revision in use.
func (c *Client) Protocol() string { return c.c.ProtocolVersion() }

// Tools returns the names of the listed tools.
func (c *Client) Tools(ctx context.Context) ([]string, error) {
	list, err := c.c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list.Tools))
	for i, t := range list.Tools {
		names[i] = t.Name
	}
	return names, nil
}

// Call calls a tool and returns the text of the result. refused reports whether the result has isError.
func (c *Client) Call(ctx context.Context, tool string, arguments any) (text string, refused bool, err error) {
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, arguments
	res, err := c.c.CallTool(ctx, req)
	if err != nil {
		return "", false, err
	}
	if len(res.Content) != 1 || res.StructuredContent != nil {
		return "", false, fmt.Errorf("the result has %d blocks, want one text", len(res.Content))
	}
	block, ok := mcp.AsTextContent(res.Content[0])
	if !ok {
		return "", false, errors.New("the result is not a text")
	}
	return block.Text, res.IsError, nil
}

// Close ends the server.
func (c *Client) Close() error { return c.c.Close() }
