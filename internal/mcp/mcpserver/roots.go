package mcpserver

import (
	"context"
	"net/url"
	"runtime"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// rootsKey is the id of the question for a client's roots, and the state that goes with it.
const rootsKey = "roots"

// clientRoots returns the folders that the client works in, or the question for them. It never
// fails a call: a client that does not answer has no roots.
func clientRoots(ctx context.Context, call mcp.CallToolRequest) ([]string, *mcp.CallToolResult) {
	if call.Params.RequestState == rootsKey {
		return folders(server.RootsResponse(call.Params.InputResponses, rootsKey)), nil
	}
	if mcpwire.Capabilities(ctx).Roots == nil {
		return nil, nil
	}
	return nil, server.NewInputRequestBuilder(rootsKey).Roots(rootsKey).ToolResult()
}

// rootsOf remembers the roots of clients. Only a call of a tool can put the question to every
// client, and completions come with each key that is typed.
type rootsOf struct {
	mu    sync.Mutex
	known map[string][]string // by client
	// told, if not nil, is called with the folders that a client has open now.
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

// get returns the roots of a client; known is false for one that has not named them.
func (r *rootsOf) get(client string) (roots []string, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	roots, known = r.known[client]
	return roots, known
}

func (r *rootsOf) forget(client string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, client)
	if r.told != nil {
		r.told(nil)
	}
}

// of returns the roots of a request's client. A legacy client is asked, once and not with each
// call, whether or not it answers; if nothing tells two windows of one program apart, nothing
// is remembered.
func (r *rootsOf) of(ctx context.Context) []string {
	client := mcpwire.ClientKey(ctx)
	roots, known := r.get(client)
	if !known && mcpwire.Capabilities(ctx).Roots != nil && !server.IsModernRequest(ctx) {
		roots = folders(mcpwire.Roots(ctx))
		r.set(client, roots)
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
	path = strings.TrimPrefix(path, `\`)
	drive, _, isAbsolute := strings.Cut(path, `:\`)
	if !isAbsolute || len(drive) != 1 || strings.ToLower(drive) < "a" || strings.ToLower(drive) > "z" {
		return ""
	}
	return path
}
