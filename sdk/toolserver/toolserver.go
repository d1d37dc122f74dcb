// Package toolserver offers the tools of an MCP server to the agents of package sdk.
//
// A server is a program with standard streams, or an address of streamable HTTP. Nothing starts one but
// [Connect], so no project can: the command and address come from the caller.
//
//	server, err := toolserver.Connect(ctx, toolserver.Options{Name: "tracker", Command: []string{"tracker-mcp"}})
//	…
//	defer server.Close()
//	session, err := client.StartAgent(ctx, "pm", "Plan the next week", sdk.SessionOptions{Tools: server.Tools()})
//
// The tools are named <server>_<tool>, so none stands for one of the SDK's. Everything from a server is
// bounded: a message by [MaxMessage], the time of the start by [StartTimeout], the text of a result by
// [vfs.MaxResult]. A call without an answer of the server has failed, and the model reads why; a silent server is
// not called again until it answers. The server's declaration that a tool is idempotent, or only reads, is believed.
package toolserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// The bounds of what a server sends.
const (
	// MaxMessage bounds a message, in bytes. A longer one ends the connection.
	MaxMessage = 8 << 20
	// StartTimeout bounds the time until a server has named the tools.
	StartTimeout = 20 * time.Second
	// discoverTimeout is how long a server has to answer in the newest protocol before the older one
	// is tried, and after a call without an answer before the next one.
	discoverTimeout = 3 * time.Second
	maxTools        = 128
	maxPages        = 16
	maxDescription  = 2_000
	// maxDefinitions bounds the schemas and descriptions of all tools, which go to the model with each call.
	maxDefinitions = 256 << 10
)

// Options name a server: a Command or a URL.
type Options struct {
	// Name has at most 24 letters, digits and -. The names of the tools begin with it.
	Name string
	// Command is the program with arguments, Dir the folder, Env the environment: by default [BasicEnv], which
	// has no keys.
	Command []string
	Dir     string
	Env     []string
	// URL is the address of streamable HTTP, Header is sent with each request.
	URL    string
	Header map[string]string
	// Timeout bounds a call: [sdk.DefaultToolTimeout] if it is 0.
	Timeout time.Duration
}

// Server is a connection. Methods may be called at the same time.
type Server struct {
	o      Options
	client *client.Client
	// end ends the program, whose output is read as lines; both are nil for an address.
	end   func()
	lines *lines
	// complaint is the end of the server's standard error.
	complaint tail
	tools     []sdk.AnyTool
	// open is the context of the last call, until it ends otherwise than by its time.
	open atomic.Pointer[context.Context]
	// Skipped says which tools are not offered, and why.
	Skipped []string
}

var serverName = regexp.MustCompile(`^[a-zA-Z0-9-]{1,24}$`)

// Connect starts or calls a server, and asks it for the tools. Close ends it.
func Connect(ctx context.Context, o Options) (*Server, error) {
	fail := func(err error) (*Server, error) { return nil, fmt.Errorf("the tool server %q: %w", o.Name, err) }
	switch {
	case !serverName.MatchString(o.Name):
		return fail(errors.New("a name has 1 to 24 letters, digits and -"))
	case (len(o.Command) > 0) == (o.URL != ""):
		return fail(errors.New("it has either a command or an address"))
	}
	s := &Server{o: o}
	if err := s.openConnection(ctx); err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, StartTimeout, fmt.Errorf("it did not name its tools within %s", StartTimeout))
	defer cancel()
	if err := s.greetServer(ctx); err != nil {
		s.Close()
		if context.Cause(ctx) != nil {
			err = context.Cause(ctx)
		}
		if said := s.complaint.String(); said != "" {
			err = fmt.Errorf("%w; its last words: %s", err, said)
		}
		return fail(err)
	}
	return s, nil
}

// openConnection makes the connection.
func (s *Server) openConnection(ctx context.Context) error {
	var wire transport.Interface
	var err error
	if s.o.URL != "" {
		wire, err = transport.NewStreamableHTTP(s.o.URL, transport.WithHTTPHeaders(s.o.Header),
			transport.WithHTTPBasicClient(&http.Client{Transport: httpguard.Bounded{RoundTripper: http.DefaultTransport, Max: MaxMessage}}))
	} else {
		wire, err = s.startProgram()
	}
	if err != nil {
		return err
	}
	s.client = client.NewClient(wire, client.WithDiscoverTimeout(discoverTimeout))
	return s.client.Start(context.WithoutCancel(ctx))
}

// greetServer greets the server, and asks for the tools.
func (s *Server) greetServer(ctx context.Context) error {
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "bmad-mcp", Version: "1"}
	if _, err := s.client.Initialize(ctx, hello); err != nil {
		return fmt.Errorf("it does not begin: %w", s.explainEnd(err))
	}
	named, size := map[string]bool{}, 0
	var next mcp.ListToolsRequest
	for range maxPages {
		page, err := s.client.ListToolsByPage(ctx, next)
		if err != nil {
			return fmt.Errorf("it does not name its tools: %w", s.explainEnd(err))
		}
		for _, t := range page.Tools {
			tool, err := s.toRawTool(t)
			more := len(tool.Schema) + len(tool.Description)
			switch {
			case err != nil:
			case named[tool.Name]:
				err = errors.New("another has this name")
			case size+more > maxDefinitions:
				err = fmt.Errorf("with the tools before it, it has more than %d bytes in all", maxDefinitions)
			case len(s.tools) == maxTools:
				err = fmt.Errorf("only the first %d are offered", maxTools)
			default:
				named[tool.Name] = true
				size += more
				s.tools = append(s.tools, tool)
				continue
			}
			if len(s.Skipped) < maxTools {
				s.Skipped = append(s.Skipped, fmt.Sprintf("%.80q: %v", t.Name, err))
			}
		}
		if next.Params.Cursor = page.NextCursor; page.NextCursor == "" {
			return nil
		}
	}
	s.Skipped = append(s.Skipped, fmt.Sprintf("those behind the first %d pages", maxPages))
	return nil
}

// toRawTool returns a tool as the SDK knows it.
func (s *Server) toRawTool(t mcp.Tool) (sdk.RawTool, error) {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, t.Name)
	schema, err := json.Marshal(t.InputSchema)
	tool := sdk.RawTool{
		Name: s.o.Name + "_" + name, Description: strings.ToValidUTF8(visible.Fit(cmp.Or(t.Description, t.Title), maxDescription), "\uFFFD"), Schema: schema,
		Idempotent: isTrue(t.Annotations.IdempotentHint) || isTrue(t.Annotations.ReadOnlyHint), Timeout: s.o.Timeout,
		Run: func(ctx context.Context, input json.RawMessage) (string, error) {
			return s.callTool(ctx, t.Name, input)
		},
	}
	return tool, cmp.Or(err, tool.Check())
}

func isTrue(hint *bool) bool { return hint != nil && *hint }

// callTool calls a tool, and returns the text of the result. The error is a failed result.
func (s *Server) callTool(ctx context.Context, name string, input json.RawMessage) (string, error) {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = name, input
	if s.Silent() && !s.answers(ctx) {
		return "", fmt.Errorf("the tool server %q has not answered a call before this one, and does not answer now: go on without its tools", s.o.Name)
	}
	s.open.Store(&ctx)
	result, err := s.client.CallTool(ctx, request)
	if ctx.Err() == nil {
		s.open.Store(nil)
	}
	if err != nil {
		return "", fmt.Errorf("the tool server %q gave no result: %w. Whether it has done its work is not known", s.o.Name, s.explainEnd(err))
	}
	text, err := resultText(result)
	if err != nil {
		return "", err
	}
	if result.IsError {
		return "", errors.New(cmp.Or(text, "the tool failed, and says no more"))
	}
	return text, nil
}

// Silent reports whether the server has left its last call without an answer in its time. A call that the caller has
// given up is none.
func (s *Server) Silent() bool {
	last := s.open.Load()
	return last != nil && errors.Is((*last).Err(), context.DeadlineExceeded)
}

// answers reports whether the server answers a question that costs nothing.
func (s *Server) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	_, err := s.client.ListToolsByPage(ctx, mcp.ListToolsRequest{})
	return err == nil
}

// explainEnd says in our words why a connection has ended.
func (s *Server) explainEnd(err error) error {
	switch {
	case s.lines != nil && s.lines.tooLong.Load():
		return fmt.Errorf("it has sent a message of more than %d bytes, which ended its connection", MaxMessage)
	case errors.Is(err, transport.ErrTransportClosed):
		return errors.New("its program has ended, and its tools cannot be used any more")
	}
	return err
}

// resultText returns a result as text. Pictures and sounds are named, not repeated.
func resultText(r *mcp.CallToolResult) (string, error) {
	var parts []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case mcp.TextContent:
			parts = append(parts, c.Text)
		case mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("[a picture, %s, is left out]", c.MIMEType))
		case mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[a sound, %s, is left out]", c.MIMEType))
		case mcp.ResourceLink:
			parts = append(parts, fmt.Sprintf("[%s: %s]", c.Name, c.URI))
		case mcp.EmbeddedResource:
			if text, ok := c.Resource.(mcp.TextResourceContents); ok {
				parts = append(parts, text.Text)
			} else {
				parts = append(parts, "[a file is left out]")
			}
		}
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		data, err := json.Marshal(r.StructuredContent)
		return string(data), err
	}
	return strings.Join(parts, "\n"), nil
}

// Tools returns the tools, for [sdk.SessionOptions].
func (s *Server) Tools() []sdk.AnyTool { return append([]sdk.AnyTool(nil), s.tools...) }

// Close ends the connection, and the program.
func (s *Server) Close() {
	_ = s.client.Close() // it is over either way
	if s.end != nil {
		s.end()
	}
}
