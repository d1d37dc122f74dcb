package mcpserver

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"bmad-mcp/internal/engine"
)

const (
	rootsKey = "roots"
	// rootsLimit bounds the wait for a client's roots; without them there are other places.
	rootsLimit = 2 * time.Second
)

// place fills in where to look for a call without cwd: the host's project, the
// client's roots, the server's folder. A non-nil result is the question for the
// roots, to be returned to the client, which then repeats the call.
func (s *Server) place(ctx context.Context, call mcp.CallToolRequest, req *engine.Request) *mcp.CallToolResult {
	if req.Cwd != "" {
		return nil
	}
	if s.places.Project != "" {
		req.Places = append(req.Places, s.places.Project)
	} else {
		roots, ask := clientRoots(ctx, call)
		if ask != nil {
			return ask
		}
		// Several roots say where sessions may be, but not where to start one.
		if len(roots) == 1 || req.SessionID != "" {
			req.Places = append(req.Places, roots...)
		}
	}
	if s.places.Folder != "" {
		req.Places = append(req.Places, s.places.Folder)
	}
	return nil
}

// clientRoots returns the folders the client works in, or the question for them.
// It never fails a call: a client without an answer has no roots.
func clientRoots(ctx context.Context, call mcp.CallToolRequest) ([]string, *mcp.CallToolResult) {
	if call.Params.RequestState == rootsKey {
		return folders(server.RootsResponse(call.Params.InputResponses, rootsKey)), nil
	}
	if capabilities(ctx).Roots == nil {
		return nil, nil
	}
	return nil, server.NewInputRequestBuilder(rootsKey).Roots(rootsKey).ToolResult()
}

func folders(list *mcp.ListRootsResult) []string {
	if list == nil {
		return nil
	}
	var out []string
	for _, root := range list.Roots {
		if path := filePath(root.URI); path != "" {
			out = append(out, path)
		}
	}
	return out
}

// filePath returns the path of a file URI, or "".
func filePath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || (u.Host != "" && u.Host != "localhost") {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = filepath.FromSlash(strings.TrimPrefix(path, "/"))
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// caller names the client for the history.
func caller(ctx context.Context) string {
	client := clientInfo(ctx)
	name := strings.TrimSpace(client.Name + " " + client.Version)
	if name == "" {
		return "mcp client"
	}
	if r := []rune(name); len(r) > 100 {
		name = string(r[:100])
	}
	return name
}

// clientInfo returns what the client of a request says it is.
func clientInfo(ctx context.Context) mcp.Implementation {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientInfo != nil {
		return *info.ClientInfo
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return session.GetClientInfo()
	}
	return mcp.Implementation{}
}
