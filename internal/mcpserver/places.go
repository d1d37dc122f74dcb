package mcpserver

import (
	"context"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
)

const rootsKey = "roots"

// place fills in where to look for a call without cwd: the host's project, the
// client's roots, the server's folder. A non-nil result is the question for the
// roots, to be returned to the client, which then repeats the call.
func (s *Server) place(ctx context.Context, call mcp.CallToolRequest, req *engine.Request) *mcp.CallToolResult {
	if s.places.Remote {
		return s.placeServed(ctx, call, req)
	}
	if req.Cwd != "" {
		return s.reachable(ctx, call, req.Cwd)
	}
	var roots []string
	if s.places.byRoots() {
		var ask *mcp.CallToolResult
		if roots, ask = clientRoots(ctx, call); ask != nil {
			return ask
		}
		if roots != nil {
			s.roots.set(clientKey(ctx), roots)
		}
		// Several roots say where sessions may be, but not where to start one.
		if len(roots) != 1 && req.SessionID == "" {
			roots = nil
		}
	}
	req.Places = append(req.Places, s.places.with(roots)...)
	return nil
}

// byRoots reports whether it takes the client's roots to know where to look: not where the
// host names the project.
func (p Places) byRoots() bool { return p.Project == "" }

// with returns where to look, the likeliest first, for a client with these roots.
func (p Places) with(roots []string) []string {
	var out []string
	if p.Project != "" {
		out = append(out, p.Project)
	}
	out = append(out, roots...)
	if p.Folder != "" {
		out = append(out, p.Folder)
	}
	return out
}

// clientRoots returns the folders the client works in, or the question for them.
// It never fails a call: a client without an answer has no roots.
func clientRoots(ctx context.Context, call mcp.CallToolRequest) ([]string, *mcp.CallToolResult) {
	if call.Params.RequestState == rootsKey {
		return folders(server.RootsResponse(call.Params.InputResponses, rootsKey)), nil
	}
	if mcpwire.Capabilities(ctx).Roots == nil {
		return nil, nil
	}
	return nil, server.NewInputRequestBuilder(rootsKey).Roots(rootsKey).ToolResult()
}

// base returns the request of a caller that calls no tool: where to look, and by which
// ways it reaches the person.
func (s *Server) base(ctx context.Context) engine.Request {
	if s.places.Remote {
		roots, _ := s.servedRoots(ctx, nil)
		return engine.Request{By: caller(ctx), Client: s.client(ctx), Places: s.served(roots, false)}
	}
	var roots []string
	if s.places.byRoots() {
		roots = s.roots.of(ctx)
	}
	return engine.Request{By: caller(ctx), Client: s.client(ctx), Places: s.places.with(roots)}
}

// rootsOf remembers the roots of clients. What is no tool call cannot put the question
// to every client, and completions come with each key that is typed.
type rootsOf struct {
	mu    sync.Mutex
	known map[string][]string // by client
	// told, if not nil, is called with what a client has open now.
	told func(roots []string)
}

func (r *rootsOf) set(client string, roots []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string][]string{}
	}
	r.known[client] = roots
	if r.told != nil {
		r.told(roots)
	}
}

// unknown reports whether a client has not said what it has open.
func (r *rootsOf) unknown(client string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.known[client]
	return !known
}

func (r *rootsOf) forget(client string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, client)
	if r.told != nil {
		r.told(nil)
	}
}

// of returns the roots of a request's client, if there is one that has any to work in.
func (r *rootsOf) of(ctx context.Context) []string {
	client := clientKey(ctx)
	r.mu.Lock()
	roots, known := r.known[client]
	r.mu.Unlock()
	if !known && mcpwire.Capabilities(ctx).Roots != nil && !mcpwire.Modern(ctx) {
		roots = folders(mcpwire.Roots(ctx)) // asked once, not with each call
		r.set(client, roots)
	}
	if len(roots) != 1 {
		return nil // several say where sessions may be, but not which is meant
	}
	return roots
}

func folders(list *mcp.ListRootsResult) []string {
	if list == nil {
		return nil
	}
	var out []string
	for _, root := range list.Roots {
		if path := filePath(root.URI, runtime.GOOS); path != "" {
			out = append(out, path)
		}
	}
	return out
}

// drive is how an absolute path of Windows begins.
var drive = regexp.MustCompile(`^[A-Za-z]:\\`)

// filePath returns the path of a file URI on a system, or "".
func filePath(uri, system string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	here := u.Host == "" || u.Host == "localhost"
	if system != "windows" {
		if !here || !strings.HasPrefix(u.Path, "/") {
			return ""
		}
		return u.Path
	}
	path := strings.ReplaceAll(u.Path, "/", `\`)
	if !here { // a share
		return `\\` + u.Host + path
	}
	if path = strings.TrimPrefix(path, `\`); !drive.MatchString(path) {
		return ""
	}
	return path
}

// caller names the client for the history.
func caller(ctx context.Context) string {
	client := mcpwire.ClientInfo(ctx)
	name := strings.TrimSpace(client.Name + " " + client.Version)
	if name == "" {
		name = "mcp client"
	}
	if who, _ := httpguard.VisitorIn(ctx); who.Page {
		name = who.Label() + ", " + name
	}
	if r := []rune(name); len(r) > 100 {
		name = string(r[:100])
	}
	return name
}
