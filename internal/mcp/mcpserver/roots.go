package mcpserver

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// rootsKey is the id of the question for a client's roots, and the state of the call meanwhile.
const rootsKey = "roots"

// clientRoots returns the roots of the client, or the question for them. A client that does not answer has no
// roots.
func clientRoots(ctx context.Context, call mcp.CallToolRequest) ([]string, *mcp.CallToolResult) {
	if call.Params.RequestState == rootsKey {
		return rootFolders(server.RootsResponse(call.Params.InputResponses, rootsKey)), nil
	}
	if mcpwire.Capabilities(ctx).Roots == nil {
		return nil, nil
	}
	return nil, server.NewInputRequestBuilder(rootsKey).Roots(rootsKey).ToolResult()
}

// rootsOf remembers the roots of clients. Not every client can be asked outside of a tool call, and
// completions come with each key the person types.
type rootsOf struct {
	mu    sync.Mutex
	known map[string][]string // by client
	// told, if not nil, is called with the folders now open in a client.
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

// get returns the roots of a client; known is false for a client that has not named any.
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

// rootsFor returns the roots of a request's client. A legacy client is asked once, whether or not it answers;
// a modern one can be asked by a tool call only.
func (r *rootsOf) rootsFor(ctx context.Context) []string {
	client := mcpwire.ClientKey(ctx)
	roots, known := r.get(client)
	if !known && mcpwire.Capabilities(ctx).Roots != nil && !server.IsModernRequest(ctx) {
		roots = rootFolders(mcpwire.Roots(ctx))
		r.set(client, roots)
	}
	return roots
}

func rootFolders(list *mcp.ListRootsResult) []string {
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

// plainPath returns the folder that a model names: without quotes, and of a URI or of ~ the path.
func plainPath(cwd string) string {
	cwd = strings.TrimRight(cwd, "\r\n")
	if filepath.IsAbs(cwd) {
		return cwd
	}
	cwd = strings.Trim(cwd, " \t\r\n\"'`<>")
	if path := filePath(cwd, runtime.GOOS); filepath.IsAbs(path) && !strings.Contains(path, ":/") {
		return path
	}
	if cwd != "~" && !strings.HasPrefix(cwd, "~/") {
		return cwd
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return cwd
	}
	return filepath.Join(home, cwd[1:])
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
