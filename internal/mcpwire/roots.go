package mcpwire

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// rootsLimit bounds the wait for a client's roots; without them there are other ways to find
// the project.
const rootsLimit = 2 * time.Second

// Roots asks the legacy client of a request for its roots; nil where it does not answer in time,
// or answers with an error.
func Roots(ctx context.Context) *mcp.ListRootsResult {
	ctx, cancel := context.WithTimeout(ctx, rootsLimit)
	defer cancel()
	session := server.ClientSessionFromContext(ctx)
	if r, ok := ctx.Value(responseKey{}).(*response); ok && session != nil {
		var list mcp.ListRootsResult
		result, err := r.ask(ctx, session.SessionID(), string(mcp.MethodListRoots))
		if err != nil || json.Unmarshal(result, &list) != nil {
			return nil
		}
		return &list
	}
	srv := server.ServerFromContext(ctx)
	if srv == nil {
		return nil
	}
	list, err := srv.RequestRoots(ctx, mcp.ListRootsRequest{})
	if err != nil {
		return nil
	}
	return list
}
