package mcpwire

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Capabilities returns the capabilities declared by the client of a request. It returns none for a web page,
// because there is no person's host behind a page to put a question to.
func Capabilities(ctx context.Context) mcp.ClientCapabilities {
	if httpguard.FromPage(ctx) {
		return mcp.ClientCapabilities{}
	}
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientCapabilities != nil {
		return *info.ClientCapabilities
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return session.GetClientCapabilities()
	}
	return mcp.ClientCapabilities{}
}

// ClientInfo returns name and version as the client of a request states them.
func ClientInfo(ctx context.Context) mcp.Implementation {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientInfo != nil {
		return *info.ClientInfo
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return session.GetClientInfo()
	}
	return mcp.Implementation{}
}

// maxKeyPart bounds each part of the key of a client without a session, in bytes.
const maxKeyPart = 2000

// sessionless begins the keys of clients without a session.
const sessionless = "http "

// ClientKey returns a key for the client of a request. For a client without a session, such as a modern one
// over HTTP, the key is made of name, version and machine.
func ClientKey(ctx context.Context) string {
	if session := server.ClientSessionFromContext(ctx); session != nil && session.SessionID() != "" {
		return session.SessionID()
	}
	who, _ := httpguard.VisitorIn(ctx)
	return sessionlessKey(who, ClientInfo(ctx))
}

func sessionlessKey(who httpguard.Visitor, client mcp.Implementation) string {
	return sessionless + strings.Join([]string{who.Key(), visible.Fit(client.Name, maxKeyPart), visible.Fit(client.Version, maxKeyPart)}, " ")
}

// Sessionless reports whether a key is for clients without a session. Several clients may share such a key.
func Sessionless(key string) bool { return strings.HasPrefix(key, sessionless) }

// NotFoundCode returns the protocol's code for a missing resource.
func NotFoundCode(ctx context.Context) int {
	if server.IsModernRequest(ctx) {
		return mcp.INVALID_PARAMS
	}
	return mcp.RESOURCE_NOT_FOUND
}
